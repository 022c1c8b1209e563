"""Cancellation at every await, over every adapter."""

import asyncio
import contextlib
from typing import Any

import anyio
import anyio.to_thread
import httpx
import httpx2
import pytest
from support.adapters import ASYNC_ADAPTERS
from support.modes import FakeSource, play
from support.raw_server import TIMEOUT, serving
from support.stages import (
    FIRST,
    PLACES,
    Stage,
    awaiting_head,
    connecting,
    draining,
    reading,
    sending,
)

from ratatoskr_proto import SseConnectionDropped, SseId, TurnState
from ratatoskr_transports import EventStream, TurnStream
from ratatoskr_transports._adapters import httpx_client
from ratatoskr_transports.httpx import stream_turn

every_backend = pytest.mark.parametrize("backend", ["asyncio", "trio"])


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
