"""Which decoders SseExchange takes, what it tells them, and how their items end it."""

from typing import NamedTuple

import pytest
from support.exchanging import (
    HEAD,
    TEXT,
    TURN,
    feed,
    gzip,
    seen,
    types_of,
    with_length,
)

from ratatoskr_proto import (
    EventStreamDecoder,
    EventTooLarge,
    SseConnectionDropped,
    TurnDecoder,
    TurnState,
)
from ratatoskr_transports import SseExchange

URL = "http://example.test/turns"
MIB = 1024 * 1024


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
