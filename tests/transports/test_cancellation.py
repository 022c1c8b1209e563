"""Cancellation at every await, and closing from another task, over every adapter."""

import asyncio
import contextlib
import threading
import time
from typing import Any

import anyio
import anyio.to_thread
import httpx
import httpx2
import pytest
from support.adapters import ADAPTERS, ASYNC_ADAPTERS
from support.fault_servers import server_context, trusting_context
from support.frames import chunk, done, text
from support.modes import FakeSource, play
from support.raw_server import CHUNKED, HEAD, LAST_CHUNK, TIMEOUT, serving

from ratatoskr_proto import SseConnectionDropped, SseId, TurnState
from ratatoskr_transports import EventStream, TurnStream
from ratatoskr_transports._adapters import httpx_client
from ratatoskr_transports.httpx import stream_turn

every_async_adapter = pytest.mark.parametrize("adapter", ASYNC_ADAPTERS, ids=str)
every_backend = pytest.mark.parametrize("backend", ["asyncio", "trio"])
FIRST = text(1, "a", turn=7)
DONE = done(2, turn=7)
ERROR = b"HTTP/1.1 500 No\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nsorry"


def connecting(peer):
    """The client has connected and waits for TLS, of which this server knows nothing."""


def sending(peer):
    peer.read_head()  # and no more, so that the client cannot get rid of the rest


def awaiting_head(peer):
    peer.read_request()


def reading_error_body(peer):
    peer.read_request()
    peer.send(ERROR)


def reading(peer):
    peer.read_request()
    peer.send(CHUNKED, chunk(FIRST))


def draining(peer):
    peer.read_request()
    peer.send(CHUNKED, chunk(FIRST + DONE))


PLACES = [connecting, sending, awaiting_head, reading_error_body, reading, draining]


class Stage:
    """A server that brings its first client to a place, and serves the next one well."""

    def __init__(self, place):
        self.place = place
        self.cancelled = threading.Event()
        self.gone = threading.Event()

    def __call__(self, peer):
        if peer.server.connections > 1:
            peer.read_request()
            peer.send(CHUNKED, chunk(DONE), LAST_CHUNK)
            return
        self.place(peer)
        peer.server.signal.set()
        assert self.cancelled.wait(TIMEOUT)
        peer.wait_for_close()
        self.gone.set()


@contextlib.asynccontextmanager
async def cancelled_by_scope(function):
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(function)
        yield
        tasks.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def cancelled_by_task(function):
    task = asyncio.create_task(function())
    yield
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


CASES = [
    pytest.param(adapter, way, place, id=f"{adapter}-{way.__name__}-{place.__name__}")
    for adapter in ASYNC_ADAPTERS
    for way in (cancelled_by_scope, cancelled_by_task)
    for place in PLACES
    if adapter.backend == "asyncio" or way is cancelled_by_scope
    # The others have no connection to give back.
    if adapter.is_httpx or place is not draining
]


@pytest.mark.parametrize(("adapter", "cancelled", "place"), CASES)
def test_cancelled_stream_is_closed_at_once_and_never_looks_complete(
    adapter, cancelled, place, monkeypatch
):
    if place is draining:
        monkeypatch.setattr(httpx_client, "_DRAIN_SECONDS", TIMEOUT)
    stage = Stage(place)

    async def scenario(open_stream, server):
        url = server.url.replace("http:", "https:") if place is connecting else server.url
        body = "x" * 2**24 if place is sending else "x"
        turn = open_stream("stream_turn", url, content=body)
        events = []

        async def read():
            async with turn:
                async for event in turn:
                    events.append(event.sse_id)

        async with cancelled(read):
            assert await anyio.to_thread.run_sync(server.signal.wait, TIMEOUT)
            if place in (reading, draining):
                while not events:
                    await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
        stage.cancelled.set()
        assert await anyio.to_thread.run_sync(stage.gone.wait, TIMEOUT)
        if place is draining:
            assert turn.state is TurnState.DONE
            with pytest.raises(StopAsyncIteration):
                await anext(turn)
        else:
            last = SseId(7, 1) if place is reading else None
            for _ in range(2):
                with pytest.raises(SseConnectionDropped) as caught:
                    await anext(turn)
                assert caught.value == SseConnectionDropped(last, "closed")
        async with open_stream("stream_turn", server.url) as after:
            assert [event.type async for event in after] == ["done"]

    with serving(stage) as server:
        play(adapter, scenario, server, max_connections=1)


@pytest.mark.no_cover  # no line that other tests do not reach
@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("place", [awaiting_head, reading, None], ids=["head", "read", "block"])
@pytest.mark.parametrize(
    "adapter", [each for each in ASYNC_ADAPTERS if each.backend == "asyncio"], ids=str
)
def test_task_cancelled_twice_leaves_no_connection_behind(adapter, place, steps):
    """The second time in the midst of closing the connection."""
    stage = Stage(place or reading)
    stage.cancelled.set()

    async def scenario(open_stream, server):
        at_place = asyncio.Event()

        async def read():
            async with open_stream("stream_turn", server.url, content="x") as turn:
                await anext(turn)
                at_place.set()
                await (asyncio.Event().wait() if place is None else anext(turn))

        task = asyncio.create_task(read())
        if place is awaiting_head:
            assert await anyio.to_thread.run_sync(server.signal.wait, TIMEOUT)
        else:
            await at_place.wait()
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await anyio.to_thread.run_sync(stage.gone.wait, TIMEOUT)
        async with open_stream("stream_turn", server.url) as after:
            assert [event.type async for event in after] == ["done"]

    with serving(stage) as server:
        play(adapter, scenario, server, max_connections=1, read_timeout=2.0)


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
@pytest.mark.parametrize("place", ["read", "block"])
def test_closing_that_waits_for_something_is_waited_for_however_often_it_is_cancelled(
    library, place
):
    waits, may_close, at_place = asyncio.Event(), asyncio.Event(), asyncio.Event()
    closed = []

    base: Any = library.AsyncByteStream

    class Stream(base):
        async def __aiter__(self):
            yield FIRST
            try:
                await asyncio.Event().wait()
            finally:
                if place == "read":
                    await self.wait()

        async def aclose(self):
            if place == "block":
                await self.wait()
            closed.append(True)

        async def wait(self):
            waits.set()
            await may_close.wait()

    async def main():
        def handler(request):
            headers = {"content-type": "text/event-stream"}
            return library.Response(200, headers=headers, stream=Stream())

        async def read():
            async with stream_turn(client, "http://test/") as turn:
                await anext(turn)
                at_place.set()
                await (anext(turn) if place == "read" else asyncio.Event().wait())

        async with library.AsyncClient(transport=library.MockTransport(handler)) as client:
            task = asyncio.create_task(read())
            await at_place.wait()
            await asyncio.sleep(0)
            task.cancel()
            await waits.wait()
            for _ in range(3):
                task.cancel()
                await asyncio.sleep(0)
            assert not closed
            may_close.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert closed

    asyncio.run(main())


@every_async_adapter
def test_reader_learns_that_another_task_has_closed_the_stream(adapter):
    stage = Stage(reading)

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url)
        errors = []

        async def read():
            await anext(turn)
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(turn)
            errors.append(caught.value)

        async with turn, anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            while turn.last_sse_id is None:
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
            await turn.aclose()
            stage.cancelled.set()
            assert await anyio.to_thread.run_sync(stage.gone.wait, TIMEOUT)
        assert errors == [SseConnectionDropped(SseId(7, 1), "closed")]
        async with open_stream("stream_turn", server.url) as after:
            assert [event.type async for event in after] == ["done"]

    with serving(stage) as server:
        play(adapter, scenario, server, max_connections=1)


@pytest.mark.parametrize("encrypted", [False, True], ids=["tcp", "tls"])
@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each.is_sync], ids=str)
def test_reader_learns_that_another_thread_has_closed_the_stream(adapter, encrypted):
    stage = Stage(reading)
    stage.cancelled.set()

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url)
        errors = []

        def read():
            try:
                next(turn.stream)
            except SseConnectionDropped as error:
                errors.append(error)

        async with turn:
            await anext(turn)
            source = turn.stream._source
            thread = threading.Thread(target=read)
            thread.start()
            while not source._reading:
                time.sleep(0)
            turn.stream.close()
            thread.join(TIMEOUT / 2)
            assert errors == [SseConnectionDropped(SseId(7, 1), "closed")]
            assert stage.gone.wait(TIMEOUT)
        async with open_stream("stream_turn", server.url) as after:
            assert [event.type async for event in after] == ["done"]

    with serving(stage, tls=server_context("127.0.0.1") if encrypted else None) as server:
        verify = trusting_context() if encrypted else None
        play(adapter, scenario, server, max_connections=1, verify=verify)


@every_async_adapter
def test_stream_can_be_opened_read_and_closed_by_three_tasks(adapter):
    """No cancel scope and no task is open while the caller's code runs."""
    stage = Stage(reading)
    stage.cancelled.set()

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url)
        for step in (turn.__aenter__, turn.__anext__, turn.aclose):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(step)
        assert turn.last_sse_id == (7, 1)
        assert await anyio.to_thread.run_sync(stage.gone.wait, TIMEOUT)

    with serving(stage) as server:
        play(adapter, scenario, server)


@every_async_adapter
def test_second_reader_over_a_connection_is_refused_and_the_first_one_goes_on(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(HEAD, b"\r\n", FIRST)
        peer.server.wait_for_signal()
        peer.send(DONE)

    async def scenario(open_stream, server):
        seen = []

        async def read():
            async for event in turn:
                seen.append(event.type)

        async with open_stream("stream_turn", server.url) as turn, anyio.create_task_group() as tg:
            tg.start_soon(read)
            while not seen:
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(RuntimeError, match="one reader at a time"):
                await anext(turn)
            server.signal.set()
        assert seen == ["text", "done"]

    with serving(handler) as server:
        play(adapter, scenario, server)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=str)
def test_stream_must_be_entered_before_it_is_read(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(DONE), LAST_CHUNK)

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="with' first"):
                await anext(turn)
        assert server.connections == 0
        async with turn:
            await turn.__aenter__()  # is open already
            assert [event.type async for event in turn] == ["done"]
        assert server.connections == 1

    with serving(handler) as server:
        play(adapter, scenario, server)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=str)
def test_stream_closed_before_it_was_entered_connects_to_nothing(adapter):
    async def scenario(open_stream, server):
        cases = [
            (open_stream("stream_turn", server.url), None),
            (open_stream("reconnect_turn", server.url, "7:1"), SseId(7, 1)),
            (open_stream("stream_events", server.url), None),
        ]
        for stream, point in cases:
            await stream.aclose()
            with pytest.raises(SseConnectionDropped) as caught:
                await stream.__aenter__()
            assert caught.value == SseConnectionDropped(point, "closed")
        assert server.connections == 0

    with serving(lambda peer: None) as server:
        play(adapter, scenario, server)


@every_backend
def test_second_reader_is_refused_and_the_first_one_goes_on(backend):
    async def main():
        may_go = anyio.Event()

        async def wait():
            await may_go.wait()
            return FIRST

        turn = TurnStream(FakeSource(wait, DONE))
        seen = []

        async def read():
            async for event in turn:
                seen.append(event.type)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(RuntimeError, match="one reader at a time"):
                await anext(turn)
            may_go.set()
        assert seen == ["text", "done"]

    anyio.run(main, backend=backend)


@every_backend
@pytest.mark.parametrize("kind", [TurnStream, EventStream])
def test_cancelled_read_never_looks_like_a_clean_end(backend, kind):
    async def main():
        stream = kind(FakeSource(FIRST, anyio.sleep_forever, b""))
        async with stream:
            await anext(stream)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anext, stream)
                await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
            for _ in range(2):
                with pytest.raises(SseConnectionDropped, match="closed"):
                    await anext(stream)

    anyio.run(main, backend=backend)


@every_backend
def test_source_that_lets_go_only_after_it_was_closed_still_ends_in_closed(backend):
    async def main():
        released = anyio.Event()

        async def wait():
            await released.wait()
            return DONE

        source = FakeSource(FIRST, wait)
        turn = TurnStream(source)
        errors = []

        async def read():
            await anext(turn)
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(turn)
            errors.append(caught.value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            await turn.aclose()
            released.set()
        assert errors == [SseConnectionDropped(SseId(7, 1), "closed")]

    anyio.run(main, backend=backend)
