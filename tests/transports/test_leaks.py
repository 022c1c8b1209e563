"""Nothing is left behind: no descriptor, no warning, and no connection lost to a pool."""

import gc
import os
import threading

import anyio
import pytest
from support.adapters import ADAPTERS, every_adapter
from support.frames import chunk, done, text
from support.modes import play
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr_proto import RatatoskrError, TurnState, encode_event
from ratatoskr_transports._adapters import httpx_client

pytestmark = pytest.mark.no_cover  # many streams, and no line that other tests do not reach

every_httpx = pytest.mark.parametrize("adapter", [a for a in ADAPTERS if a.is_httpx], ids=str)
every_async_httpx = pytest.mark.parametrize(
    "adapter", [a for a in ADAPTERS if a.is_httpx and not a.is_sync], ids=str
)
FIRST = text(1, "a", turn=7)
DONE = done(2, turn=7)
BAD = encode_event("no JSON", id="7:2")
STREAMS = 36  # of each end two at least


def open_descriptors():
    return len(os.listdir("/dev/fd"))


# What the server sends, by the path of the request.
BODIES = {
    "finished": CHUNKED + chunk(FIRST + DONE) + LAST_CHUNK,
    "no-last-chunk": CHUNKED + chunk(FIRST + DONE),
    "broken-off": CHUNKED + chunk(FIRST),
    "cancelled": CHUNKED + chunk(FIRST),
    "raised": CHUNKED + chunk(FIRST),
    "cut": CHUNKED + chunk(FIRST),
    "bad-event": CHUNKED + chunk(FIRST + BAD),
    "no-stream": b"HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nsorry",
    "no-answer": b"",
}


def handler(peer):
    """Answer requests, many on one connection if the client wants that."""
    while True:
        try:
            peer.read_request()
        except AssertionError:
            return
        kind = peer.head.split(b" ")[1].decode().strip("/")
        peer.send(BODIES[kind])
        if kind in ("cut", "no-answer") or peer.header("connection") == "close":
            return


async def live(open_stream, base, kind):
    """One stream from its beginning to whatever end its kind has."""
    turn = open_stream("stream_turn", f"{base}/{kind}", content="{}")
    try:
        async with turn:
            async for event in turn:
                if kind == "broken-off":
                    break
                if kind == "raised":
                    raise ZeroDivisionError
                if kind == "cancelled":
                    with anyio.CancelScope() as scope:
                        scope.cancel()
                        await anext(turn)
                    break
                assert event.sse_id.turn_id == 7
    except (RatatoskrError, ZeroDivisionError):
        assert kind in ("raised", "cut", "bad-event", "no-stream", "no-answer")
        assert turn.state is TurnState.FAILED
    else:
        done = kind in ("finished", "no-last-chunk")
        assert turn.state is (TurnState.DONE if done else TurnState.FAILED)


@every_adapter
@pytest.mark.parametrize("streams", [STREAMS, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_streams_of_every_end_leave_nothing(adapter, streams, monkeypatch):
    kinds = [kind for kind in BODIES if not (adapter.is_sync and kind == "cancelled")]
    kinds += ["finished"] * 9
    if adapter.is_httpx:
        monkeypatch.setattr(httpx_client, "_DRAIN_SECONDS", 0.001)
    inside = []

    async def scenario(open_stream, base):
        for number in range(streams):
            await live(open_stream, base, kinds[number % len(kinds)])
            if number in (len(kinds), streams - 1):
                inside.append(open_descriptors())

    before = open_descriptors()
    with serving(handler) as server:
        base = f"http://127.0.0.1:{server.port}"
        # With one connection a pool that loses it would let nothing through from then on.
        play(adapter, scenario, base, max_connections=1)
    assert open_descriptors() == before
    assert abs(inside[1] - inside[0]) < 10  # the server's threads close theirs when they come to it
    gc.collect()  # whatever is left would warn now


def answering(*bodies):
    """A server that sends one body after the other, over one connection if the client likes."""

    def handler(peer):
        for body in bodies:
            try:
                peer.read_request()
            except AssertionError:  # the client closed the connection, and comes with a new one
                return
            peer.send(body)

    return handler


async def read_turns(open_stream, server, times):
    for _ in range(times):
        async with open_stream("stream_turn", server.url) as turn:
            assert [event.sse_id.seq async for event in turn] == [1, 2]


TURN = CHUNKED + chunk(FIRST + DONE)


@every_async_httpx
@pytest.mark.parametrize("tail", [b"", chunk(b": bye\n\n" * 1000)], ids=["at-once", "after-more"])
def test_connection_of_a_finished_turn_is_used_again(adapter, tail):
    with serving(answering(*[TURN + tail + LAST_CHUNK] * 3)) as server:
        play(adapter, read_turns, server, 3, max_connections=1)
    assert server.connections == 1


@every_async_httpx
def test_end_of_the_body_that_comes_a_little_later_is_waited_for(adapter, monkeypatch):
    monkeypatch.setattr(httpx_client, "_DRAIN_SECONDS", 10)
    draining = threading.Event()
    drain = httpx_client._ResponseBody.drain

    async def announced(source):
        draining.set()
        await drain(source)

    monkeypatch.setattr(httpx_client._ResponseBody, "drain", announced)

    def handler(peer):
        for _ in range(2):
            peer.read_request()
            peer.send(TURN)
            assert draining.wait(10)
            draining.clear()
            peer.send(LAST_CHUNK)

    with serving(handler) as server:
        play(adapter, read_turns, server, 2, max_connections=1)
    assert server.connections == 1


@every_async_httpx
@pytest.mark.parametrize("tail", [b"", chunk(b":" * 200_000)], ids=["in-time", "in-64-kib"])
def test_connection_is_dropped_if_the_end_does_not_come(adapter, tail, monkeypatch):
    # What is too much must be given up at once, what is too late after a moment.
    monkeypatch.setattr(httpx_client, "_DRAIN_SECONDS", 10 if tail else 0.01)
    with serving(answering(TURN + tail, b"")) as server:
        play(adapter, read_turns, server, 3, max_connections=1)
    assert server.connections == 3


@every_async_httpx
def test_events_read_to_their_end_give_the_connection_back(adapter):
    async def scenario(open_stream, server):
        for _ in range(3):
            async with open_stream("stream_events", server.url) as events:
                assert len([event async for event in events]) == 2

    with serving(answering(*[TURN + LAST_CHUNK] * 3)) as server:
        play(adapter, scenario, server, max_connections=1)
    assert server.connections == 1


@every_httpx
def test_turn_left_at_its_terminal_event_is_not_read_on(adapter):
    async def scenario(open_stream, server):
        for _ in range(2):
            async with open_stream("stream_turn", server.url) as turn:
                async for event in turn:
                    if event.terminal:
                        break

    with serving(answering(TURN)) as server:  # whose body never ends
        play(adapter, scenario, server, max_connections=1)
    assert server.connections == 2


@every_httpx
def test_pool_of_one_connection_serves_many_streams_at_their_worst(adapter):
    async def scenario(open_stream, base):
        for kind in BODIES:
            if not (adapter.is_sync and kind == "cancelled"):
                await live(open_stream, base, kind)
                await live(open_stream, base, "finished")

    with serving(handler) as server:
        base = f"http://127.0.0.1:{server.port}"
        play(adapter, scenario, base, max_connections=1, read_timeout=5.0)
