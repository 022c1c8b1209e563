"""SseExchange in a custom loop: what it sends, which decoders it takes, and when it is over."""

import random
import re
import tracemalloc
import zlib
from typing import NamedTuple

import pytest
from support.exchanging import (
    DONE,
    HEAD,
    TEXT,
    TURN,
    chunked,
    feed,
    gzip,
    seen,
    types_of,
    with_length,
)

import ratatoskr_transports
from ratatoskr_proto import (
    EventStreamDecoder,
    EventTooLarge,
    SseConnectFailed,
    SseConnectionDropped,
    TurnDecoder,
    TurnState,
)
from ratatoskr_transports import SseExchange

URL = "http://example.test/turns"
MIB = 1024 * 1024


def test_it_is_the_one_name_that_is_looked_up_late():
    assert ratatoskr_transports.SseExchange is SseExchange
    with pytest.raises(AttributeError, match="has no attribute 'stream_turn'"):
        ratatoskr_transports.stream_turn  # noqa: B018  # reading it is the point


# Sending.


def test_request_goes_out_in_pieces_of_64_kib():
    body = random.Random(1).randbytes(3 * 65536 + 5)
    exchange = SseExchange("POST", URL, body=body)
    head, *pieces = iter(exchange.bytes_to_send, b"")
    assert head.endswith(b"\r\n\r\n")
    assert [len(piece) for piece in pieces] == [65536, 65536, 65536, 5]
    assert b"".join(pieces) == body
    assert exchange.bytes_to_send() == b""


@pytest.mark.parametrize("status", [b"200 OK", b"413 Too Large"])
def test_answer_ends_the_sending(status):
    exchange = SseExchange("POST", URL, body=bytes(MIB))
    exchange.bytes_to_send()
    assert len(exchange.bytes_to_send()) == 65536
    exchange.receive_data(HEAD.replace(b"200 OK", status) + b"\r\n")
    assert exchange.bytes_to_send() == b""


def test_answer_that_comes_first_of_all_is_read():
    exchange = SseExchange("POST", URL, body=b"unsent")
    assert types_of(exchange.receive_data(with_length(TURN))) == ["text", "done"]
    assert exchange.bytes_to_send() == b""


def test_informational_response_does_not_end_the_sending():
    exchange = SseExchange("POST", URL, body=b"Hello")
    exchange.bytes_to_send()
    assert exchange.receive_data(b"HTTP/1.1 100 Continue\r\n\r\n") == []
    assert exchange.bytes_to_send() == b"Hello"


@pytest.mark.parametrize("reason", ["end of stream", "reset"])
def test_end_of_the_connection_ends_the_sending(reason):
    exchange = SseExchange("POST", URL, body=bytes(MIB))
    exchange.bytes_to_send()
    assert exchange.receive_eof(reason) == [SseConnectFailed(None, "", "closed")]
    assert exchange.bytes_to_send() == b""


# Where it stands.


def test_status_and_headers_are_there_once_the_head_is():
    exchange = SseExchange("GET", URL)
    assert exchange.receive_data(HEAD) == []
    assert (exchange.status, dict(exchange.headers), exchange.finished) == (None, {}, False)
    assert exchange.receive_data(b"X-A: 1\r\n\r\n") == []
    assert (exchange.status, exchange.headers["x-a"], exchange.finished) == (200, "1", False)
    with pytest.raises(TypeError):
        exchange.headers["x-a"] = "2"


def test_events_come_out_as_soon_as_they_are_complete():
    exchange = SseExchange("GET", URL)
    assert exchange.receive_data(HEAD + b"\r\n" + TEXT[:-1]) == []
    assert types_of(exchange.receive_data(TEXT[-1:])) == ["text"]
    assert not exchange.finished
    assert types_of(exchange.receive_data(DONE)) == ["done"]
    assert exchange.finished


@pytest.mark.parametrize(
    "response",
    [
        with_length(TURN, 99999),
        with_length(TEXT + b"data: {\n\n", 99999),
        with_length(b"not gzip", 99999, "gzip"),
        b"nonsense\r\n\r\n",
        HEAD.replace(b"200", b"404") + b"Content-Length: 0\r\n\r\n",
        chunked(TEXT) + b"zz\r\n",
    ],
)
def test_once_finished_all_is_discarded_and_nothing_retained(response):
    exchange = SseExchange("POST", URL, body=b"a")
    exchange.receive_data(response)
    assert exchange.finished
    data = bytes(MIB)
    tracemalloc.start()
    try:
        for _ in range(10):
            assert exchange.receive_data(data) == []
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 65536
    assert exchange.receive_eof("reset") == []
    assert exchange.bytes_to_send() == b""


def test_empty_data_is_no_end():
    exchange = SseExchange("GET", URL)
    assert exchange.receive_data(b"") == []
    exchange.receive_data(HEAD + b"\r\n")
    assert exchange.receive_data(b"") == []
    assert not exchange.finished
    assert types_of(exchange.receive_data(TURN)) == ["text", "done"]


def test_end_is_taken_once():
    exchange = SseExchange("GET", URL)
    exchange.receive_data(HEAD + b"\r\n")
    assert exchange.receive_eof() == [SseConnectionDropped(None, "end of stream")]
    assert exchange.receive_eof() == []


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_bytes_are_taken_and_the_callers_buffer_is_not_kept(kind):
    response = HEAD + b"\r\n" + TEXT
    exchange = SseExchange("GET", URL)
    buffer = bytearray(response[:-5])
    assert exchange.receive_data(kind(buffer)) == []
    buffer[:] = bytes(len(buffer))
    assert types_of(exchange.receive_data(response[-5:])) == ["text"]


@pytest.mark.parametrize("data", [None, "text", 5, [1]])
def test_other_data_is_a_type_error_also_at_the_end(data):
    exchange = SseExchange("GET", URL)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"receive_data\(\) takes bytes"):
            exchange.receive_data(data)
        exchange.receive_eof()


@pytest.mark.parametrize("reason", [None, 5, b"reset"])
def test_other_reason_is_a_type_error_also_at_the_end(reason):
    exchange = SseExchange("GET", URL)
    for _ in range(2):
        with pytest.raises(TypeError, match="reason must be a str"):
            exchange.receive_eof(reason)
        exchange.receive_eof()


# Decoders.


class Words:
    """A decoder of somebody else."""

    over = False

    def __init__(self):
        self.rest = b""

    def receive_data(self, chunk):
        *words, self.rest = (self.rest + chunk).split(b" ")
        return words

    def receive_eof(self, reason):
        self.reason = reason
        return (self.rest,)

    @property
    def pending(self):
        return self.rest != b""


def test_decoder_may_be_any_object_that_meets_the_protocol():
    assert seen(with_length(b"a bc d"), decoder=Words).items == [b"a", b"bc", b"d"]
    dropped = SseConnectionDropped(None, "cut body")
    assert seen(with_length(b"a ", 9), decoder=Words).items == [b"a", b"", dropped]
    dropped = SseConnectionDropped(None, "reset; unfinished event lost")
    items = seen(with_length(b"a b", 9), "reset", decoder=Words).items
    assert items == [b"a", b"b", dropped]


@pytest.mark.parametrize(
    ("response", "reason", "told"),
    [
        (with_length(b"a"), "end of stream", "end of stream"),
        (with_length(b"a", 9), "end of stream", "cut body"),
        (HEAD + b"\r\na", "read timeout", "read timeout"),
        (with_length(b"no gzip", coding="gzip"), "end of stream", "protocol"),
    ],
)
def test_decoder_is_told_why_the_body_ended(response, reason, told):
    decoder = Words()
    feed([response], reason, decoder=decoder)
    assert decoder.reason == told


@pytest.mark.parametrize("decoder", [TurnDecoder, EventStreamDecoder, Words])
def test_class_of_a_decoder_is_refused(decoder):
    with pytest.raises(TypeError, match=rf"decoder must be made first, as {decoder.__name__}\(\)"):
        SseExchange("GET", URL, decoder=decoder)


@pytest.mark.parametrize("missing", ["receive_data", "receive_eof", "over", "pending"])
def test_decoder_that_does_not_meet_the_protocol_is_refused(missing):
    names = dict.fromkeys(("receive_data", "receive_eof", "over", "pending"))
    del names[missing]
    with pytest.raises(TypeError, match=f"decoder must have {missing}"):
        SseExchange("GET", URL, decoder=type("Decoder", (), names)())


class Said(NamedTuple):
    """An item of a decoder of somebody else."""

    word: bytes
    terminal: bool


class Saying(Words):
    """Its words are items that may be terminal; it may be over then, and may say how it ended."""

    def __init__(self, over=False, at_end=()):
        super().__init__()
        self.may_be_over = over
        self.over = False
        self.at_end = at_end

    def receive_data(self, chunk):
        items = [Said(word, word == b"bye") for word in super().receive_data(chunk)]
        self.over = self.may_be_over and any(item.terminal for item in items)
        return items

    def receive_eof(self, reason):
        return self.at_end


RESET = SseConnectionDropped(None, "reset")
ENDINGS = [
    (Saying(over=True), b"hi bye ", [Said(b"hi", False), Said(b"bye", True)]),
    (Saying(over=True), b"bye more ", [Said(b"bye", True), Said(b"more", False)]),
    (Saying(), b"hi bye ", [Said(b"hi", False), Said(b"bye", True)]),
    (Saying(), b"hi ", [Said(b"hi", False), RESET]),
    (Saying(), b"bye hi ", [Said(b"bye", True), Said(b"hi", False), RESET]),
    (Saying(at_end=[Said(b"oh", True)]), b"hi ", [Said(b"hi", False), Said(b"oh", True)]),
    (Saying(at_end=[Said(b"oh", False)]), b"", [Said(b"oh", False), RESET]),
    (Saying(at_end=[EventTooLarge(5)]), b"", [EventTooLarge(5)]),
]


@pytest.mark.parametrize(("decoder", "body", "items"), ENDINGS)
def test_there_is_one_final_error_unless_the_decoder_has_said_how_it_ended(decoder, body, items):
    assert feed([HEAD + b"\r\n" + body], "reset", decoder=decoder).items == items


def test_exchange_is_finished_when_its_decoder_is_over():
    exchange = SseExchange("GET", URL, decoder=Saying(over=True))
    exchange.receive_data(with_length(b"bye ", 99999))
    assert (exchange.finished, exchange.has_more) == (True, False)
    assert exchange.receive_eof("reset") == []


def test_good_end_of_a_body_is_no_error_for_other_decoders():
    result = seen(with_length(b"data: a\n\n"), decoder=EventStreamDecoder)
    assert [item.data for item in result.items] == ["a"]
    assert result.finished


def test_turn_decoder_with_options_of_the_caller():
    decoder = TurnDecoder(max_event_bytes=10)
    items = feed([with_length(TEXT)], decoder=decoder).items
    assert types_of(items) == ["EventTooLarge"]
    assert decoder.state is TurnState.FAILED


def test_exception_of_the_callers_own_code_comes_through_and_finishes_the_exchange():
    def loads(text):
        raise LookupError("a bug")

    exchange = SseExchange("GET", URL, decoder=TurnDecoder(loads=loads))
    with pytest.raises(LookupError, match="a bug"):
        exchange.receive_data(with_length(TURN))
    assert exchange.finished
    assert exchange.receive_data(TURN) == []
    assert exchange.receive_eof() == []


# Content codings.


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("identity", TURN),
        ("gzip", gzip(TURN)),
        ("GZip", gzip(TEXT[:9], TEXT[9:], DONE)),
        ("x-gzip", gzip(TURN)),
        ("gzip", gzip(TEXT) + gzip(DONE)),
        ("gzip", gzip(TURN) + b"more than was said"),
        *(("deflate", gzip(TURN, wbits=wbits)) for wbits in range(9, zlib.MAX_WBITS + 1)),
        ("deflate", gzip(TEXT, DONE, wbits=-zlib.MAX_WBITS)),
    ],
)
def test_coded_body_is_read_in_any_pieces(coding, body):
    assert types_of(seen(with_length(body, coding=coding)).items) == ["text", "done"]


def test_event_that_was_flushed_comes_out_at_once():
    exchange = SseExchange("GET", URL)
    response = with_length(gzip(TEXT, end=False), 9999, "gzip")
    assert types_of(exchange.receive_data(response)) == ["text"]


@pytest.mark.parametrize("end", [0, 4, 10])
def test_coded_body_that_is_not_complete_is_a_cut_body(end):
    body = gzip(TEXT)
    body = body[: len(body) - end - 1]
    items = seen(with_length(body, coding="gzip")).items
    assert items[-1].reason.startswith("cut body")
    assert types_of(items[:-1]) == ["text"]


@pytest.mark.parametrize("fault", [b"\xff\xff\xff", b"\x07"])
def test_coded_body_with_a_fault_gives_all_events_before_it_and_one_error(fault):
    body = gzip(TEXT, end=False) + fault + b"and more of this"
    items = seen(with_length(body, coding="gzip")).items
    assert items[1:] == [SseConnectionDropped(items[0].sse_id, "protocol")]


def test_body_that_is_not_coded_as_it_says_is_nonsense():
    items = seen(with_length(TURN, coding="gzip")).items
    assert items == [SseConnectionDropped(None, "protocol")]


@pytest.mark.parametrize("coding", ["br", "gzip, gzip"])
def test_coding_that_cannot_be_undone_is_a_failure(coding):
    items = seen(with_length(b"abc", coding=coding)).items
    assert items == [SseConnectFailed(200, "abc", "content-encoding")]


def test_coded_error_body_is_read_up_to_its_bound():
    body = gzip(b"a" * MIB)
    response = with_length(body, coding="gzip").replace(b"200 OK", b"500 Oh")
    assert seen(response).items == [SseConnectFailed(500, "a" * 1024, "status")]


def test_coded_error_body_that_is_no_such_is_kept_as_far_as_it_can_be_read():
    body = gzip(b"abc", end=False) + b"\xff\xff" + b"x" * 99
    response = with_length(body, coding="gzip").replace(b"200 OK", b"500 Oh")
    assert seen(response).items == [SseConnectFailed(500, "abc", "status")]


def test_what_a_bomb_holds_after_the_terminal_event_is_not_made():
    decoded = []

    class Counting(TurnDecoder):
        def receive_data(self, chunk):
            decoded.append(len(chunk))
            return super().receive_data(chunk)

    bomb = gzip(TURN, bytes(8 * MIB))
    items = feed([with_length(bomb, coding="gzip")], decoder=Counting()).items
    assert types_of(items) == ["text", "done"]
    assert sum(decoded) <= 65536


def test_nothing_is_decoded_after_the_terminal_event():
    calls = []

    class Counting(TurnDecoder):
        def receive_data(self, chunk):
            calls.append(chunk)
            return super().receive_data(chunk)

    body = gzip(TURN) + gzip(b"another member") + b"and no gzip at all"
    exchange = SseExchange("GET", URL, decoder=Counting())
    assert types_of(exchange.receive_data(with_length(body, coding="gzip"))) == ["text", "done"]
    assert (calls, exchange.finished) == ([TURN], True)


def test_exchange_is_finished_when_a_coding_cannot_be_undone():
    exchange = SseExchange("GET", URL, decoder=EventStreamDecoder())
    broken = SseConnectionDropped(None, "protocol")
    assert exchange.receive_data(with_length(b"no gzip", 999, "gzip")) == [broken]
    assert exchange.finished
    assert exchange.receive_data(b"data: a\n\n") == []
    assert exchange.receive_eof("reset") == []


def test_bomb_goes_to_the_decoder_in_pieces_of_64_kib():
    sizes = []

    class Sizes(Words):
        def receive_data(self, chunk):
            sizes.append(len(chunk))
            return []

    bomb = gzip(bytes(MIB))
    assert feed([with_length(bomb, coding="gzip")], decoder=Sizes()).items == [b""]
    assert sum(sizes) == MIB
    assert max(sizes) == 65536


def test_repr_shows_nothing_of_the_request():
    exchange = SseExchange("GET", "http://me:secret@a/", headers={"X-Key": "secret"})
    assert re.fullmatch(r"<.*SseExchange object at 0x[0-9a-f]+>", repr(exchange))
