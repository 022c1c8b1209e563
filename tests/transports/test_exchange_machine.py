"""SseExchange in every order of calls, beside a model that knows what each byte completes."""

from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.exchanging import DONE, HEAD, TEXT

from ratatoskr_proto import (
    Event,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    TurnDecoder,
    encode_event,
)
from ratatoskr_transports import SseExchange

pytestmark = pytest.mark.no_cover  # no line that other tests do not reach

URL = "http://example.test/turns"
BODY = b"x" * 150_000
BAD = encode_event("{", id="42:3")
FRAMES = st.lists(st.sampled_from([TEXT, TEXT, b": hi\n\n", DONE, BAD]), max_size=4)


class Part(NamedTuple):
    """A part of a response. Once it has come whole, the exchange is in this phase, and gives the
    items of its ``frame``; ``end`` is the reason why the body has ended then.
    """

    data: bytes
    phase: str
    frame: bytes = b""
    end: str | None = None


def framed(frames: list[bytes], framing: str) -> list[Part]:
    """The parts of an answer that is a stream of these frames."""
    if framing == "chunked":
        parts = [Part(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", "stream")]
        for frame in frames:
            parts.append(Part(b"%x\r\n" % len(frame), "stream"))
            parts += [Part(frame, "stream", frame), Part(b"\r\n", "stream")]
        return [*parts, Part(b"0\r\n\r\n", "stream", end="end of stream")]
    length = b"Content-Length: %d\r\n" % len(b"".join(frames)) if framing == "length" else b""
    parts = [Part(HEAD + length + b"\r\n", "stream")]
    parts += [Part(frame, "stream", frame) for frame in frames]
    if framing == "length":
        parts[-1] = parts[-1]._replace(end="end of stream")
    return parts


STREAMS = st.builds(framed, FRAMES, st.sampled_from(["chunked", "length", "to close"]))
REFUSED = st.just(
    [
        Part(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\n", "refused"),
        Part(b"busy", "refused", end="end of stream"),
    ]
)
NONSENSE = st.just([Part(b"SSH-2.0-x\r\n\r\n", "head", end="protocol")])
INFORMATIONAL = st.just([Part(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", "head")])
RESPONSES = st.builds(
    lambda before, parts: before + parts,
    st.just([]) | INFORMATIONAL,
    STREAMS | STREAMS | STREAMS | REFUSED | NONSENSE,
)


class Model:
    """Goes through the parts of a response, byte by byte."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.taken = b""  # of the first part that has not come whole
        self.phase = "head"
        self.to_close = not any(part.end for part in parts)
        self.turn = TurnDecoder()
        self.finished = False
        self.status: int | None = None

    @property
    def last_sse_id(self) -> SseId | None:
        return self.turn.last_sse_id

    @property
    def left_of_part(self) -> int:
        return len(self.parts[0].data) - len(self.taken) if self.parts else 0

    @property
    def left(self) -> int:
        return sum(len(part.data) for part in self.parts) - len(self.taken)

    def receive(self, data: bytes) -> list[Any]:
        items: list[Any] = []
        while data and self.parts and not self.finished:
            part = self.parts[0]
            size = self.left_of_part
            self.taken, data = self.taken + data[:size], data[size:]
            if self.taken == part.data:
                items += self.complete(part)
        return items

    def complete(self, part: Part) -> list[Any]:
        del self.parts[0]
        self.taken, self.phase = b"", part.phase
        self.status = {"stream": 200, "refused": 503}.get(part.phase)
        items = list(self.turn.receive_data(part.frame))
        self.finished = any(not isinstance(item, Event) or item.terminal for item in items)
        if part.end is not None and not self.finished:
            items += self.end(part.end, part.data)
        return items

    def end(self, reason: str, error_body: bytes) -> list[Any]:
        self.finished = True
        if self.phase == "refused":
            return [SseConnectFailed(503, error_body.decode(), "status")]
        if self.phase == "head":
            word = "closed" if reason in ("end of stream", "reset") else reason
            return [SseConnectFailed(None, "", word)]
        return [SseConnectionDropped(self.last_sse_id, reason)]

    def receive_eof(self, reason: str) -> list[Any]:
        if self.finished:
            return []
        if self.phase == "stream":
            if reason == "end of stream" and not self.to_close:
                reason = "cut body"
            # A comment whose line has ended cannot be lost.
            if self.parts and self.parts[0].frame and self.taken not in (b"", b": hi\n"):
                reason += "; unfinished event lost"
        return self.end(reason, self.taken)


def request() -> bytes:
    """All that an exchange has to send."""
    exchange = SseExchange("POST", URL, body=BODY)
    return b"".join(iter(exchange.bytes_to_send, b""))


class ExchangeMachine(RuleBasedStateMachine):
    request = request()

    @initialize(parts=RESPONSES)
    def start(self, parts):
        self.exchange = SseExchange("POST", URL, body=BODY)
        self.response = b"".join(part.data for part in parts) + b"HTTP/1.1 200 OK\r\n"
        self.model = Model(parts)
        self.items = []
        self.sent = b""

    @rule(size=st.integers(0, 200), buffer=st.sampled_from([bytes, bytearray, memoryview]))
    def receive_data(self, size, buffer):
        # What comes after the response is of interest only once the exchange is finished.
        size = size if self.model.finished else min(size, self.model.left)
        data, self.response = self.response[:size], self.response[size:]
        self.given(self.exchange.receive_data(buffer(data)), self.model.receive(data))

    @rule()
    def receive_up_to_the_next_part(self):
        self.receive_data(self.model.left_of_part, bytes)

    @rule()
    def receive_all_but_a_byte_of_the_next_part(self):
        self.receive_data(max(0, self.model.left_of_part - 1), bytes)

    @rule(reason=st.sampled_from(["end of stream", "reset", "read timeout"]))
    def receive_eof(self, reason):
        self.given(self.exchange.receive_eof(reason), self.model.receive_eof(reason))

    def given(self, items, expected):
        assert items == expected
        self.items += items

    @rule()
    def bytes_to_send(self):
        data = self.exchange.bytes_to_send()
        if self.model.finished or self.model.status is not None:
            assert data == b""
        else:
            assert (data == b"") == (self.sent == self.request)
        self.sent += data
        assert self.request.startswith(self.sent)

    @rule()
    def bad_arguments_are_refused_and_change_nothing(self):
        for argument in (None, 1, "HTTP/1.1 200 OK\r\n\r\n"):
            with pytest.raises(TypeError):
                self.exchange.receive_data(argument)
        with pytest.raises(TypeError):
            self.exchange.receive_eof(None)

    @invariant()
    def what_can_be_seen_is_what_the_model_says(self):
        if hasattr(self, "model"):
            assert self.exchange.finished is self.model.finished
            assert self.exchange.status == self.model.status
            assert bool(self.exchange.headers) is (self.model.status is not None)
            assert (self.exchange.host, self.exchange.port) == ("example.test", 80)
            assert self.exchange.tls is False

    @invariant()
    def at_most_one_item_ends_it_and_is_the_last(self):
        for item in getattr(self, "items", [])[:-1]:
            assert isinstance(item, Event)
            assert not item.terminal


TestExchangeMachine = ExchangeMachine.TestCase
TestExchangeMachine.settings = settings(max_examples=60, stateful_step_count=20)
