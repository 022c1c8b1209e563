"""Bodies in a content coding that was not asked for: event by event, and within bounds."""

import contextlib
import random
import threading
import tracemalloc
import zlib

import pytest
from support.adapters import every_adapter
from support.fault_servers import (
    DONE,
    GZIP,
    HI,
    RAW,
    THERE,
    ZLIB,
    coded,
    deflated,
    distrusting_context,
)
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, TIMEOUT, serving
from support.reading import read_with_client

from ratatoskr_proto import EventTooLarge
from ratatoskr_transports._http.body import Inflater

MIB = 1024 * 1024


def coded_head(coding):
    return CHUNKED[:-2] + f"Content-Encoding: {coding}\r\n\r\n".encode()


@every_adapter
@pytest.mark.parametrize(
    ("coding", "wbits"), [("identity", 0), ("gzip", GZIP), ("deflate", ZLIB), ("deflate", RAW)]
)
def test_each_event_is_delivered_before_the_next_one_is_sent(adapter, coding, wbits):
    taken = threading.Semaphore(0)
    frames = [HI, THERE, DONE]
    pieces = deflated(wbits, *frames)[:-1] if wbits else frames

    def handler(peer):
        peer.read_request()
        peer.send(coded_head(coding))
        for piece in pieces:
            peer.send(chunk(piece))
            assert taken.acquire(timeout=TIMEOUT), "an event was held back"
        peer.send(LAST_CHUNK)

    with serving(handler) as server:
        read_with_client(adapter, "stream_turn", server.url, lambda _: taken.release())


def bomb(block):
    """Gzip of 256 times a block of 1 MiB, made without going through all of it."""
    deflate = zlib.compressobj(wbits=RAW)
    piece = deflate.compress(block) + deflate.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + piece * 256


def peak_while(run):
    tracemalloc.start()
    try:
        result = run()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@every_adapter
def test_bomb_of_one_line_ends_at_the_limit_within_memory_of_its_order(adapter):
    body = coded("gzip", bomb(b"a" * MIB))
    assert len(body) < MIB

    def handler(peer):
        peer.read_request()
        peer.send(body)
        peer.wait_for_close()

    with serving(handler) as server:
        outcome, peak = peak_while(
            lambda: adapter.run_turn(server.url, max_event_bytes=MIB, verify=distrusting_context())
        )
    assert (outcome.items, outcome.error) == ([], EventTooLarge(MIB))
    assert peak < 8 * MIB


@pytest.mark.no_cover  # thousands of times the same lines
@every_adapter
def test_bomb_of_small_events_is_undone_as_it_is_read(adapter):
    body = coded("gzip", bomb(b"data: 89abcdef\n\n" * (MIB // 16)))
    assert len(body) < 2 * MIB

    def handler(peer):
        peer.read_request()
        peer.send(body)
        peer.wait_for_close()

    with serving(handler) as server:
        items, peak = peak_while(
            lambda: read_with_client(adapter, "stream_events", server.url, limit=3_000)
        )
    assert [item.data for item in items] == ["89abcdef"] * 3_000
    assert peak < 16 * MIB


@pytest.mark.parametrize("wbits", [GZIP, ZLIB, RAW])
def test_inflater_loses_nothing_where_the_last_piece_is_full(wbits):
    for length in range(65536 - 10, 65536 + 600, 7):
        data = b"x" * length
        inflater = Inflater("gzip" if wbits == GZIP else "deflate")
        assert b"".join(inflater.pieces(b"".join(deflated(wbits, data)))) == data
        assert inflater.complete


@pytest.mark.parametrize("wbits", [GZIP, ZLIB, RAW])
def test_inflater_takes_a_large_chunk_a_little_at_a_time(wbits, monkeypatch):
    taken = []
    make = zlib.decompressobj

    class Counting:
        def __init__(self, *args, made=None):
            self.made = made or make(*args)

        def decompress(self, data, size):
            taken.append(len(data))
            return self.made.decompress(data, size)

        def copy(self):
            return Counting(made=self.made.copy())

        def __getattr__(self, name):
            return getattr(self.made, name)

    data = random.Random(1).randbytes(MIB)
    coded_data = b"".join(deflated(wbits, data))
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    inflater = Inflater("gzip" if wbits == GZIP else "deflate")
    assert b"".join(inflater.pieces(coded_data)) == data
    assert max(taken) <= 65536


def pieces_up_to_the_fault(data_in_chunks):
    inflater = Inflater("gzip")
    with contextlib.suppress(zlib.error):
        for each in data_in_chunks:
            yield from inflater.pieces(each)
        pytest.fail("the fault was not seen")


def test_inflater_gives_what_stands_before_a_fault_for_every_chunking():
    data = deflated(GZIP, b"all of this")[0] + b"\xff" * 9
    bytewise = [data[place : place + 1] for place in range(len(data))]
    for chunks in ([data], bytewise, [data[:12], data[12:]]):
        assert b"".join(pieces_up_to_the_fault(chunks)) == b"all of this"


def test_inflater_gives_pieces_of_at_most_64_kib_before_a_fault():
    data = deflated(GZIP, b"x" * MIB)[0] + b"\xff" * 9
    sizes = [len(piece) for piece in pieces_up_to_the_fault([data])]
    assert (sum(sizes), max(sizes)) == (MIB, 65536)
