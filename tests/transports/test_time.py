"""A stream is bounded in time: it lets others run, and looks at its deadline, as it decodes.

Hardly anything is measured in seconds. Turns of the event loop are counted between the pieces of a
body, and the clock advances by a second with each piece.
"""

import asyncio
import gzip
import itertools

import anyio
import anyio.to_thread
import pytest
from support.adapters import every_adapter
from support.frames import chunk, text
from support.modes import MODES, AsyncFace, every_mode, play
from support.raw_server import CHUNKED, serving

from ratatoskr_proto import SseConnectionDropped, SseId
from ratatoskr_transports import EventStream, SyncEventStream, SyncTurnStream, TurnStream

PIECE = 64 * 1024
MUCH = b": %s\n" % (b"x" * 1021) * 1024  # a mebibyte that is quickly decoded and gives nothing
SHORT = 0.1  # seconds: a timeout that is meant to pass

every_backend = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class EagerSource:
    """A source that has all its chunks at once, and never lets the event loop run."""

    def __init__(self, chunks):
        self.chunks = list(chunks)

    async def receive(self):
        return self.chunks.pop(0) if self.chunks else b""

    async def aclose(self):
        pass


def eager(kind):
    """A source of MUCH that never waits."""
    if kind == "one-read":
        return EagerSource([MUCH])
    if kind == "small-reads":
        return EagerSource(MUCH[start : start + 1000] for start in range(0, len(MUCH), 1000))
    body = MODES[0].body()
    chunks = [gzip.compress(MUCH)]
    assert len(chunks[0]) < len(MUCH) / 100
    body.receive = EagerSource(chunks).receive
    body.content_encoding = "gzip"
    return body


KINDS = pytest.mark.parametrize("kind", ["one-read", "small-reads", "gzip"])


@every_backend
@KINDS
def test_others_run_after_each_64_kib_however_much_is_there(backend, kind):
    async def main():
        turns = 0
        decoded = []  # of each piece: its size, and the turns of the loop so far

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await anyio.lowlevel.checkpoint()

        stream = EventStream(eager(kind))
        stream.tap(lambda piece: decoded.append((len(piece), turns)))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count)
            async with stream:
                assert [event async for event in stream] == []
            tasks.cancel_scope.cancel()
        assert sum(size for size, _ in decoded) == len(MUCH)
        # The order of tasks in one turn is that of chance in trio, so two turns may look like one.
        most = PIECE if backend == "asyncio" else 2 * PIECE
        for _, together in itertools.groupby(decoded, key=lambda each: each[1]):
            assert sum(size for size, _ in together) <= most

    anyio.run(main, backend=backend)


@every_backend
@KINDS
def test_stream_can_be_cancelled_after_each_64_kib(backend, kind):
    async def main():
        stream = EventStream(eager(kind))
        decoded = 0

        def tap(piece):
            nonlocal decoded
            decoded += len(piece)
            scope.cancel()

        stream.tap(tap)
        with anyio.CancelScope() as scope:
            await anext(stream)
        assert scope.cancelled_caught
        assert decoded <= 2 * PIECE
        with pytest.raises(SseConnectionDropped, match="closed"):
            await anext(stream)

    anyio.run(main, backend=backend)


def test_task_can_be_cancelled_after_each_64_kib():
    async def main():
        stream = EventStream(eager("one-read"))
        task = asyncio.create_task(anext(stream))
        stream.tap(lambda piece: task.cancel())
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(SseConnectionDropped, match="closed"):
            await anext(stream)

    asyncio.run(main())


def test_stream_closed_by_another_task_as_it_decodes_hands_out_no_more():
    async def main():
        stream = EventStream(EagerSource([b"data:a\n\n" * 2 * (PIECE // 8)]))
        async with anyio.create_task_group() as tasks:
            for _ in range(PIECE // 8):  # the events of the first piece
                await anext(stream)
            tasks.start_soon(stream.aclose)
            with pytest.raises(SseConnectionDropped, match="closed"):
                await anext(stream)

    anyio.run(main)


def test_on_another_event_loop_nothing_but_the_source_is_waited_for():
    stream = EventStream(EagerSource([MUCH, b"data: a\n\n"]))
    with pytest.raises(StopIteration) as end:  # at the first step
        stream.__anext__().send(None)
    assert end.value.value.data == "a"


@every_mode
@pytest.mark.parametrize("comments", [False, True])
def test_time_spent_on_decoding_counts(mode, clock, comments):
    async def main():
        kind = SyncEventStream if mode.sync else EventStream
        stream = AsyncFace(kind(mode.source(MUCH), event_timeout=3.5, comments=comments))
        stream.tap(clock.tick)
        with pytest.raises(SseConnectionDropped, match="event timeout"):
            [item async for item in stream]
        assert clock.now == 4

    mode.run(main)


@every_mode
def test_event_that_was_decoded_too_late_is_handed_out_all_the_same(mode, clock):
    async def main():
        kind = SyncTurnStream if mode.sync else TurnStream
        turn = AsyncFace(kind(mode.source(text(1), MUCH[:PIECE], text(2)), event_timeout=2.5))
        turn.tap(clock.tick)
        assert [(await anext(turn)).sse_id.seq for _ in range(2)] == [1, 2]

    mode.run(main)


@every_adapter
def test_keep_alives_as_fast_as_they_come_do_not_outlive_the_event_timeout(adapter, clock):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(text(1)))
        peer.send_until_refused(chunk(MUCH), 1000)

    async def scenario(open_stream, server):
        async with open_stream("stream_turn", server.url, event_timeout=3.5) as turn:
            turn.tap(clock.tick)
            await anext(turn)
            decoded = clock.now
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(turn)
            assert caught.value.reason.startswith("event timeout")
            assert caught.value.last_sse_id == (42, 1)
            assert clock.now - decoded <= 4

    with serving(handler) as server:
        play(adapter, scenario, server)


@every_adapter
def test_event_timeout_does_not_start_again_at_each_read(adapter):
    """Real time: each read ends long before the timeout, and all of them long after it."""

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(text(1)))
        while not peer.server.signal.wait(SHORT / 4):
            peer.send(b"1\r\n:\r\n")  # a byte of a line that never ends

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, event_timeout=SHORT)
    reason = "event timeout; unfinished event lost"
    assert outcome.error == SseConnectionDropped(SseId(42, 1), reason)
