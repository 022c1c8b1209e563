"""A stream that is closed or cancelled while it reconnects stays closed."""

import anyio
import pytest
from support.frames import done, text
from support.modes import MODES, every_mode
from support.reconnecting import RESET, World, busy, read, seqs

from ratatoskr_proto import (
    ReconnectPolicy,
    SseConnectionDropped,
    SseId,
    TurnState,
)
from ratatoskr_transports import SyncTurnStream


@every_mode
def test_stream_closed_while_it_waits_ends_at_once_and_stays_closed(mode, caplog):
    async def main():
        world = World(mode, [text(1), RESET], [done(2)])
        turn = world.turn()
        async with turn:
            await anext(turn)
            if mode.sync:
                world.wait = lambda seconds: turn.stream.close()
            else:

                async def sleep(seconds):
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(turn.aclose)
                    await anyio.sleep_forever()

                world.library.sleep = sleep
            for _ in range(2):
                with pytest.raises(SseConnectionDropped) as caught:
                    await anext(turn)
                assert caught.value == SseConnectionDropped(SseId(42, 1), "closed")
        assert (world.asked, turn.state) == ([None], TurnState.FAILED)

    mode.run(main)
    assert [each.levelname for each in caplog.records] == []


def close(turn):
    """Close a stream from code that it has called."""
    if isinstance(turn.stream, SyncTurnStream):
        turn.stream.close()
    else:
        with pytest.raises(StopIteration):  # it waits for nothing
            turn.stream.aclose().send(None)


@every_mode
def test_stream_closed_while_it_connects_again_stays_closed(mode):
    async def main():
        def answer():
            # What has been connected all the same is closed again, if the closing comes too late.
            close(turn)
            return [done(2)]

        world = World(mode, [text(1), RESET], answer)
        turn = world.turn()
        events, error = await read(turn)
        assert (seqs(events), error) == ([1], SseConnectionDropped(SseId(42, 1), "closed"))
        assert [source.closed for source in world.sources] == [1, 1]

        def refuse():
            close(turn)
            return busy()

        world = World(mode, busy(), refuse)
        turn = world.turn(resume_from=SseId(42, 1))
        assert await read(turn) == ([], SseConnectionDropped(SseId(42, 1), "closed"))
        assert (turn.reconnects, world.asked) == (1, [None, "42:1"])

    mode.run(main)


@pytest.mark.parametrize("mode", [each for each in MODES if not each.sync], ids=str)
def test_reader_cancelled_while_it_waits_leaves_a_closed_stream(mode):
    async def main():
        world = World(mode, [text(1), RESET], [done(2)])
        turn = world.turn()
        async with turn:
            await anext(turn)
            with anyio.CancelScope() as scope:

                async def sleep(seconds):
                    scope.cancel()
                    await anyio.sleep_forever()

                world.library.sleep = sleep
                await anext(turn)
            assert scope.cancelled_caught
            with pytest.raises(SseConnectionDropped, match="closed"):
                await anext(turn)
        assert world.asked == [None]

    mode.run(main)


@every_mode
def test_stream_closed_by_the_policy_that_gives_up_is_closed(mode):
    async def main():
        def retryable(error):
            close(turn)
            return False

        world = World(mode, [text(1), RESET])
        turn = world.turn(ReconnectPolicy(retryable=retryable))
        events, error = await read(turn)
        assert (seqs(events), error) == ([1], SseConnectionDropped(SseId(42, 1), "closed"))

    mode.run(main)
