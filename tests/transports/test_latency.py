"""No layer holds an event back: each is handed to the caller before the server sends the next."""

import threading
import zlib

import pytest
from support.adapters import every_adapter
from support.fault_servers import server_context, trusting_context
from support.frames import chunk, done
from support.modes import play
from support.raw_server import CHUNKED, HEAD, LAST_CHUNK, TIMEOUT, TO_CLOSE, serving
from support.vectors import chunks_of

from ratatoskr_proto import encode_comment, encode_event
from ratatoskr_proto.testing import vectors

TURN = [encode_event(f'{{"type":"text","text":"{n}"}}', id=f"7:{n}") for n in range(4)]
TURN += [done(4, turn=7)]

REPORTS = [case for case in vectors("bug_reports") if case["fault_kind"].startswith("latency/")]


def to_close(event):
    return [event]


def chunked(event):
    return [chunk(event)]


def byte_by_byte(event):
    return [chunk(bytes([byte])) for byte in event]


def cut_anywhere(event):
    """Chunk heads and data in packets of three bytes."""
    wire = chunk(event)
    return [wire[start : start + 3] for start in range(0, len(wire), 3)]


def gzipped():
    compressor = zlib.compressobj(wbits=31)
    return lambda event: [chunk(compressor.compress(event) + compressor.flush(zlib.Z_SYNC_FLUSH))]


GZIP = HEAD + b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
FRAMINGS = {
    "to-close": (TO_CLOSE, lambda: to_close, False),
    "chunked": (CHUNKED, lambda: chunked, False),
    "byte-by-byte": (CHUNKED, lambda: byte_by_byte, False),
    "cut-anywhere": (CHUNKED, lambda: cut_anywhere, False),
    "gzip": (GZIP, gzipped, False),
    "tls": (CHUNKED, lambda: chunked, True),
    "tls-gzip": (GZIP, gzipped, True),
}


@pytest.mark.no_cover  # no line that other tests do not reach
@every_adapter
@pytest.mark.parametrize("framing", FRAMINGS)
def test_event_is_handed_out_before_the_next_one_is_sent(adapter, framing):
    head, make_pieces, encrypted = FRAMINGS[framing]
    seen = threading.Semaphore(0)

    def handler(peer):
        pieces_of = make_pieces()
        peer.read_request()
        peer.send(head)
        for event in TURN:
            peer.send(*pieces_of(event))
            assert seen.acquire(timeout=TIMEOUT), "the event was held back"
        if head is not TO_CLOSE:
            peer.send(LAST_CHUNK)

    async def scenario(open_stream, server):
        events = []
        async with open_stream("stream_turn", server.url) as turn:
            async for event in turn:
                events.append(event.sse_id.seq)
                seen.release()
        assert events == [0, 1, 2, 3, 4]

    with serving(handler, tls=server_context("127.0.0.1") if encrypted else None) as server:
        verify = trusting_context() if encrypted else None
        play(adapter, scenario, server, verify=verify)


@every_adapter
def test_head_opens_the_stream_before_anything_of_the_body_is_sent(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED)
        peer.server.wait_for_signal()
        peer.send(chunk(TURN[-1]), LAST_CHUNK)

    async def scenario(open_stream, server):
        async with open_stream("stream_turn", server.url) as turn:
            assert turn.status == 200
            server.signal.set()
            assert [event.type async for event in turn] == ["done"]

    with serving(handler) as server:
        play(adapter, scenario, server)


@every_adapter
def test_comment_is_handed_out_with_its_line(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(encode_comment("are you there?")))
        peer.server.wait_for_signal()
        peer.send(chunk(encode_event("yes")), LAST_CHUNK)

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url, comments=True) as events:
            assert (await anext(events)).text == "are you there?"
            server.signal.set()
            assert [event.data async for event in events] == ["yes"]

    with serving(handler) as server:
        play(adapter, scenario, server)


@every_adapter
@pytest.mark.parametrize("case", REPORTS, ids=lambda case: case["name"])
def test_reported_event_comes_out_while_the_connection_stays_open(adapter, case):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *map(chunk, chunks_of(case)))
        peer.server.wait_for_signal()

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as events:
            for expected in case["events"]:
                assert (await anext(events))._asdict() == expected
            server.signal.set()

    with serving(handler) as server:
        play(adapter, scenario, server)
