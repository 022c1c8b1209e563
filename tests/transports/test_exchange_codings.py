"""Content codings in SseExchange: read in any pieces, with a bound, up to the fault."""

import zlib

import pytest
from support.exchanging import (
    DONE,
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
    SseConnectFailed,
    SseConnectionDropped,
    TurnDecoder,
)
from ratatoskr_transports import SseExchange

URL = "http://example.test/turns"
MIB = 1024 * 1024


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
