"""ScriptedSource: a connection that says what the test wants, on event loops and in threads."""

import asyncio
import threading

import anyio
import pytest
import trio
from support.frames import done, text

from ratatoskr_proto import SseConnectionDropped, Text
from ratatoskr_transports import SyncTurnStream, TurnStream
from ratatoskr_transports.testing import Pause, ScriptedSource, SyncScriptedSource

every_backend = pytest.mark.parametrize("backend", ["asyncio", "trio"])

ONE = text(1, "Hi")
DONE = done(2)


@every_backend
def test_steps_come_in_order_and_then_the_end(backend):
    async def main():
        source = ScriptedSource([b"a", b"", b"bc", ConnectionResetError("gone"), b"d"])
        assert [await source.receive() for _ in range(3)] == [b"a", b"", b"bc"]
        assert source.bytes_read == 3
        with pytest.raises(ConnectionResetError, match="gone"):
            await source.receive()
        assert [await source.receive() for _ in range(3)] == [b"d", b"", b""]
        assert (source.bytes_read, source.closed) == (4, False)

    anyio.run(main, backend=backend)


@every_backend
def test_turn_is_read_from_a_script(backend):
    async def main():
        source = ScriptedSource([ONE[:9], ONE[9:] + DONE])
        async with TurnStream(source) as turn:
            assert [event.type async for event in turn] == ["text", "done"]
        assert source.closed
        assert source.bytes_read == len(ONE + DONE)

    anyio.run(main, backend=backend)


@every_backend
def test_pause_lasts_until_the_test_goes_on(backend):
    async def main():
        pause = Pause()
        source = ScriptedSource([b"a", pause, b"b"])
        received = []

        async def read():
            while data := await source.receive():
                received.append(data)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await pause.reached()
            assert received == [b"a"]
            pause.go_on()
        assert received == [b"a", b"b"]

    anyio.run(main, backend=backend)


@every_backend
def test_pause_that_may_go_on_already_does_not_wait(backend):
    async def main():
        pause = Pause()
        pause.go_on()
        source = ScriptedSource([pause, pause, b"a"])
        assert await source.receive() == b"a"
        await pause.reached()

    anyio.run(main, backend=backend)


@every_backend
def test_read_that_is_cancelled_at_a_pause_can_be_taken_up_again(backend):
    async def main():
        pause = Pause()
        source = ScriptedSource([pause, b"a"])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(source.receive)
            await pause.reached()
            tasks.cancel_scope.cancel()
        pause.go_on()
        assert await source.receive() == b"a"

    anyio.run(main, backend=backend)


@every_backend
def test_stream_that_is_cancelled_at_a_pause_is_closed_for_good(backend):
    async def main():
        pause = Pause()
        turn = TurnStream(ScriptedSource([ONE, pause]))
        assert isinstance(await anext(turn), Text)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anext, turn)
            await pause.reached()
            tasks.cancel_scope.cancel()
        with pytest.raises(SseConnectionDropped) as caught:
            await anext(turn)
        assert caught.value == SseConnectionDropped((turn.last_sse_id), "closed")
        await turn.aclose()

    anyio.run(main, backend=backend)


@every_backend
def test_closing_ends_a_pause_that_lasts_for_ever(backend):
    async def main():
        pause = Pause()
        source = ScriptedSource([pause, Pause])

        async def read():
            with pytest.raises(ConnectionAbortedError):
                await source.receive()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await pause.reached()
            await source.aclose()
        assert source.closed
        with pytest.raises(ConnectionAbortedError):
            await source.receive()

    anyio.run(main, backend=backend)


def test_source_works_without_anyio():
    async def main():
        pause = Pause()
        pause.go_on()
        return await ScriptedSource([pause, b"a"]).receive()

    assert asyncio.run(main()) == b"a"
    assert trio.run(main) == b"a"


def test_sync_source_waits_in_its_thread():
    pause = Pause()
    source = SyncScriptedSource([ONE, pause, DONE])
    events = []
    thread = threading.Thread(target=lambda: events.extend(SyncTurnStream(source)))
    thread.start()
    pause.reached_in_thread()
    pause.go_on()
    thread.join()
    assert [event.type for event in events] == ["text", "done"]
    assert source.closed


def test_second_reader_of_a_sync_stream_is_refused():
    pause = Pause()
    turn = SyncTurnStream(SyncScriptedSource([pause, ONE + DONE]))
    events = []
    thread = threading.Thread(target=lambda: events.extend(turn))
    thread.start()
    pause.reached_in_thread()
    try:
        with pytest.raises(RuntimeError, match="one reader at a time"):
            next(turn)
    finally:
        pause.go_on()
        thread.join()
    assert [event.type for event in events] == ["text", "done"]


def test_closing_ends_a_pause_of_a_sync_source():
    pause = Pause()
    source = SyncScriptedSource([ONE, pause])
    turn = SyncTurnStream(source)
    errors = []

    def read():
        with pytest.raises(SseConnectionDropped) as caught:
            list(turn)
        errors.append(caught.value)

    thread = threading.Thread(target=read)
    thread.start()
    pause.reached_in_thread()
    turn.close()
    thread.join()
    assert errors == [SseConnectionDropped(turn.last_sse_id, "closed")]
    with pytest.raises(ConnectionAbortedError):
        source.receive()


@pytest.mark.parametrize("step", [None, "text", 5, ValueError, KeyboardInterrupt()])
def test_other_steps_are_a_type_error(step):
    with pytest.raises(TypeError, match="a step is bytes, a Pause or an exception, not"):
        ScriptedSource([b"a", step])
