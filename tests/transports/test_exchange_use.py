"""SseExchange in a custom loop: what it sends, where it stands, and when it is over."""

import random
import re
import tracemalloc

import pytest
from support.exchanging import (
    DONE,
    HEAD,
    TEXT,
    TURN,
    chunked,
    types_of,
    with_length,
)

import ratatoskr_transports
from ratatoskr_proto import (
    SseConnectFailed,
    SseConnectionDropped,
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


def test_repr_shows_nothing_of_the_request():
    exchange = SseExchange("GET", "http://me:secret@a/", headers={"X-Key": "secret"})
    assert re.fullmatch(r"<.*SseExchange object at 0x[0-9a-f]+>", repr(exchange))
