"""One reader at a time, in any task, and a stream that another task or thread closes."""

import threading
import time

import anyio
import anyio.to_thread
import pytest
from support.adapters import ADAPTERS, every_async_adapter
from support.fault_servers import server_context, trusting_context
from support.modes import FakeSource, play
from support.raw_server import HEAD, TIMEOUT, serving
from support.stages import DONE, FIRST, Stage, reading

from ratatoskr_proto import SseConnectionDropped, SseId
from ratatoskr_transports import TurnStream

every_backend = pytest.mark.parametrize("backend", ["asyncio", "trio"])


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
