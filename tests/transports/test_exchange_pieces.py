"""SseExchange does little in one call, whatever it was handed."""

import h11
import pytest
from support.exchanging import HEAD, TEXT, chunked, gzip, types_of, with_length

from ratatoskr_proto import EventStreamDecoder, SseConnectionDropped
from ratatoskr_transports import SseExchange

URL = "http://example.test/turns"


class Counting(EventStreamDecoder):
    """Notes how many bytes each call of the exchange decoded."""

    def __init__(self):
        super().__init__()
        self.decoded = 0

    def receive_data(self, chunk):
        self.decoded += len(chunk)
        return super().receive_data(chunk)


def pieces_of(response, cut_at=None):
    """What each call decoded, and the items of all of them."""
    decoder = Counting()
    exchange = SseExchange("GET", URL, decoder=decoder)
    items, decoded = [], []

    def note(more):
        items.extend(more)
        decoded.append(decoder.decoded)
        decoder.decoded = 0

    for part in (response[:cut_at], response[cut_at:]) if cut_at else (response,):
        note(exchange.receive_data(part))
        while exchange.has_more:
            assert not exchange.finished
            note(exchange.next_items())
    note(exchange.receive_eof())
    assert exchange.finished
    return decoded, items


def cut_every(data, size):
    return [data[start : start + size] for start in range(0, len(data), size)]


EVENTS = b"".join(b"data: %d\n\n" % number for number in range(12_000))


@pytest.mark.parametrize(
    "response",
    [
        with_length(EVENTS),
        HEAD + b"\r\n" + EVENTS,
        chunked(*cut_every(EVENTS, 999), b""),
        chunked(EVENTS, b""),
        with_length(gzip(EVENTS), coding="gzip"),
        chunked(*cut_every(gzip(EVENTS), 99), b"").replace(
            b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n", 1
        ),
        with_length(
            gzip(*[EVENTS[start : start + 5000] for start in range(0, len(EVENTS), 5000)]),
            coding="gzip",
        ),
    ],
    ids=["length", "to the close", "chunks", "one chunk", "gzip", "gzip in chunks", "flushed gzip"],
)
@pytest.mark.parametrize("cut_at", [None, 70_000])
def test_one_call_decodes_at_most_64_kib_and_nothing_is_lost(response, cut_at):
    decoded, items = pieces_of(response, cut_at)
    assert max(decoded) <= 65536
    assert sum(decoded) == len(EVENTS)
    assert [item.data for item in items] == [str(number) for number in range(12_000)]


def test_end_waits_for_what_came_before():
    exchange = SseExchange("GET", URL, decoder=EventStreamDecoder())
    items = exchange.receive_data(HEAD + b"\r\n" + EVENTS * 2)
    items += exchange.receive_eof("reset")
    assert exchange.receive_data(b"data: late\n\n") != []  # which comes after the end, and is lost
    assert exchange.has_more
    assert not exchange.finished
    while exchange.has_more:
        items = exchange.next_items()
    assert items[-1] == SseConnectionDropped(None, "reset")
    assert items[-2].data == "11999"
    assert exchange.finished
    assert exchange.next_items() == []


def test_bytes_are_needed_when_nothing_is_left():
    exchange = SseExchange("GET", URL)
    assert (exchange.has_more, exchange.next_items()) == (False, [])
    exchange.receive_data(HEAD + b"\r\n" + TEXT[:-1])
    assert (exchange.has_more, exchange.next_items()) == (False, [])
    assert types_of(exchange.receive_data(TEXT[-1:])) == ["text"]


def test_large_chunk_costs_no_more_than_its_bytes(monkeypatch):
    """Counts the bytes that are copied on the way, since time depends on the machine."""
    sizes = []
    receive_data = h11.Connection.receive_data

    def counted(connection, data):
        sizes.append(len(data))
        return receive_data(connection, data)

    monkeypatch.setattr(h11.Connection, "receive_data", counted)
    response = HEAD + b"\r\n" + b":" + b"x" * 3_000_000 + b"\n"
    decoded, _ = pieces_of(response)
    assert sum(sizes) == len(response)
    assert len(decoded) <= len(response) // 65536 + 3
