"""The lifecycle faults that people reported of other clients, over every adapter.

Each case of ratatoskr_proto/testing/vectors/bug_reports.jsonl has a test of its name. Those of
latency are in test_latency.py.
"""

import logging
import threading
from typing import NamedTuple

import anyio
import anyio.to_thread
import pytest
from support.adapters import every_adapter
from support.frames import chunk
from support.modes import play
from support.raw_server import CHUNKED, LAST_CHUNK, TIMEOUT, serving
from support.vectors import chunks_of

from ratatoskr_proto import SseConnectionDropped
from ratatoskr_proto.testing import vectors

REPORTS = {
    case["name"]: case
    for case in vectors("bug_reports")
    if case["fault_kind"].startswith("lifecycle/")
}


class Report(NamedTuple):
    chunks: list[bytes]
    events: list[tuple[str, str, str]]


def report(name):
    case = REPORTS[name]
    events = [(each["event"], each["data"], each["id"]) for each in case["events"]]
    return Report([chunk(data) for data in chunks_of(case) if data], events)


def test_every_reported_case_has_its_test():
    tests = "".join(name for name in globals() if name.startswith("test_"))
    assert [name for name in REPORTS if name.replace("-", "_") not in tests] == []


@every_adapter
def test_break_after_first_event(adapter, caplog):
    chunks, events = report("break-after-first-event")
    gone = threading.Event()

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *chunks)
        peer.wait_for_close()
        gone.set()

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as stream:
            async for event in stream:
                assert event == events[0]
                break
        # Closed by now, and not when something collects the garbage.
        assert await anyio.to_thread.run_sync(gone.wait, TIMEOUT)

    with caplog.at_level(logging.WARNING), serving(handler) as server:
        play(adapter, scenario, server)
    assert caplog.records == []


@every_adapter
def test_closed_from_another_task(adapter):
    chunks, events = report("closed-from-another-task")

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *chunks)
        peer.wait_for_close()

    async def scenario(open_stream, server):
        stream = open_stream("stream_events", server.url)
        async with stream:
            assert await anext(stream) == events[0]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stream.aclose)
        with pytest.raises(SseConnectionDropped) as caught:
            await anext(stream)
        assert caught.value == SseConnectionDropped(None, "closed")

    with serving(handler) as server:
        play(adapter, scenario, server)


def answering_twice(*pieces):
    """A server that answers two requests, on one connection or on two."""

    def handler(peer):
        for _ in range(2):
            try:
                peer.read_request()
            except AssertionError:  # the client has closed this one
                return
            peer.send(*pieces)

    return handler


@every_adapter
def test_read_to_end_frees_connection(adapter):
    chunks, events = report("read-to-end-frees-connection")

    async def scenario(open_stream, server):
        streams = [open_stream("stream_events", server.url) for _ in range(2)]
        for stream in streams:
            await stream.__aenter__()
            assert [event async for event in stream] == events
            # Nobody has left a block or closed it, and the pool has room for one.

    with serving(answering_twice(CHUNKED, *chunks, LAST_CHUNK)) as server:
        play(adapter, scenario, server, max_connections=1)
    assert server.connections == (1 if adapter.is_httpx else 2)


TURN = chunk(b'id: 7:1\ndata: {"type":"done"}\n\n')


@every_adapter
def test_marker_then_late_end_of_body(adapter):
    """Here the marker is the terminal event of a turn; the body continues, or says nothing more."""

    async def scenario(open_stream, server):
        for _ in range(2):
            async with open_stream("stream_turn", server.url) as turn:
                assert [event.type async for event in turn] == ["done"]

    for end in (LAST_CHUNK, chunk(b": bye\n\n") + LAST_CHUNK, b"", chunk(b":" * 200_000)):
        with serving(answering_twice(CHUNKED, TURN, end)) as server:
            play(adapter, scenario, server, max_connections=1)
        if adapter.is_httpx and not adapter.is_sync:
            assert server.connections == (1 if end.endswith(LAST_CHUNK) else 2)


@every_adapter
def test_silent_half_open_connection(adapter):
    chunks, events = report("silent-half-open-connection")

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED + b"".join(chunks))
        peer.wait_for_close()

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as stream:
            assert await anext(stream) == events[0]
            with pytest.raises(SseConnectionDropped, match="read timeout"):
                await anext(stream)

    with serving(handler) as server:
        play(adapter, scenario, server, read_timeout=0.1)


@every_adapter
def test_comments_count_as_life(adapter):
    """They are read and give no event; that they set the timer back is in test_timeouts.py."""
    chunks, events = report("comments-count-as-life")
    assert events == []

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *chunks, chunk(b"data: end\n\n"))
        peer.wait_for_close()

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as stream:
            assert (await anext(stream)).data == "end"

    with serving(handler) as server:
        play(adapter, scenario, server)


@every_adapter
def test_end_and_close_both_signalled(adapter):
    chunks, events = report("end-and-close-both-signalled")

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *chunks)
        peer.server.wait_for_signal()
        peer.reset()

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as stream:
            assert await anext(stream) == events[0]
            server.signal.set()
            with pytest.raises(SseConnectionDropped) as first:
                await anext(stream)
            with pytest.raises(SseConnectionDropped) as second:
                await anext(stream)
        assert first.value == second.value
        assert first.value.reason.startswith("reset")

    with serving(handler) as server:
        play(adapter, scenario, server)
    assert server.connections == 1  # whether there is another one is up to the caller


@every_adapter
def test_closed_during_reconnect_wait(adapter):
    chunks, events = report("closed-during-reconnect-wait")

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as stream:
            assert [event async for event in stream] == events
        assert stream.retry_ms == REPORTS["closed-during-reconnect-wait"]["retry"]
        await stream.aclose()

    with serving(answering_twice(CHUNKED, *chunks, LAST_CHUNK)) as server:
        play(adapter, scenario, server)
    assert server.connections == 1


@every_adapter
def test_failure_after_some_events(adapter):
    chunks, events = report("failure-after-some-events")

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *chunks)
        peer.server.wait_for_signal()
        peer.reset()

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as stream:
            assert [await anext(stream) for _ in events] == events
            server.signal.set()
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(stream)
        assert caught.value.reason.startswith("reset")
        assert caught.value.reason.endswith("; unfinished event lost")

    with serving(handler) as server:
        play(adapter, scenario, server)
    assert server.connections == 1
