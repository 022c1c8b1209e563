"""A stream is bounded in time: it lets others run, and looks at its deadline, as it decodes.

Hardly anything is measured in seconds. Turns of the event loop are counted between the pieces of a
body, and the clock advances by a second with each piece.
"""

import asyncio
import gzip
import itertools
import threading

import anyio
import anyio.to_thread
import pytest
import trio
import trio.testing
from support.adapters import ADAPTERS, ASYNC_ADAPTERS, every_adapter, every_async_adapter
from support.frames import chunk, done, text
from support.modes import MODES, AsyncFace, every_mode, play
from support.raw_server import CHUNKED, LAST_CHUNK, TIMEOUT, serving

import ratatoskr_transports._streams.loops
from ratatoskr_proto import SseConnectFailed, SseConnectionDropped, SseId
from ratatoskr_transports import EventStream, SyncEventStream, SyncTurnStream, TurnStream
from ratatoskr_transports._adapters import httpx_client
from ratatoskr_transports._adapters.h11 import H11Transport

PIECE = 64 * 1024
MUCH = b": %s\n" % (b"x" * 1021) * 1024  # a mebibyte that is quickly decoded and gives nothing
SHORT = 0.1  # seconds: a timeout that is meant to pass

own_connections = pytest.mark.parametrize(
    "adapter", [each for each in ASYNC_ADAPTERS if not each.is_httpx], ids=str
)
every_httpx = pytest.mark.parametrize(
    "adapter", [each for each in ASYNC_ADAPTERS if each.is_httpx], ids=str
)
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


class Clock:
    """Stands in for the module ``time``: each piece of a body that is decoded takes a second."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def decoding(self, piece):
        self.now += 1


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(ratatoskr_transports._streams.loops, "time", clock)
    return clock


@every_mode
@pytest.mark.parametrize("comments", [False, True])
def test_time_spent_on_decoding_counts(mode, clock, comments):
    async def main():
        kind = SyncEventStream if mode.sync else EventStream
        stream = AsyncFace(kind(mode.source(MUCH), event_timeout=3.5, comments=comments))
        stream.tap(clock.decoding)
        with pytest.raises(SseConnectionDropped, match="event timeout"):
            [item async for item in stream]
        assert clock.now == 4

    mode.run(main)


@every_mode
def test_event_that_was_decoded_too_late_is_handed_out_all_the_same(mode, clock):
    async def main():
        kind = SyncTurnStream if mode.sync else TurnStream
        turn = AsyncFace(kind(mode.source(text(1), MUCH[:PIECE], text(2)), event_timeout=2.5))
        turn.tap(clock.decoding)
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
            turn.tap(clock.decoding)
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


# The head of a response.

HEAD = CHUNKED.removesuffix(b"\r\n")


class SlowConnection:
    """A peer that takes ``pace`` seconds to take a piece, and to send one."""

    def __init__(self, pieces, pace, library):
        self.pieces = iter(pieces)
        self.pace = pace
        self.library = library
        self.closed = False

    async def connect(self, host, port, tls, seconds):
        return self

    async def send(self, data, seconds):
        assert seconds == 60
        await self.library.sleep(self.pace)

    async def receive(self, seconds):
        await self.library.sleep(self.pace)
        return next(self.pieces)

    async def run_while(self, background, main):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(background)
            await main()
            nursery.cancel_scope.cancel()

    async def aclose(self):
        self.closed = True


def bytes_of(data):
    return (data[place : place + 1] for place in itertools.count())


@pytest.mark.parametrize("library", [anyio, trio])
@pytest.mark.parametrize("pieces", [HEAD, b"HTTP/1.1 103 Hints\r\n\r\n" * 19], ids=["head", "1xx"])
@pytest.mark.parametrize("size", [1, 3 * PIECE], ids=["small-body", "large-body"])
def test_head_must_come_within_the_read_timeout_as_a_whole(library, pieces, size):
    """However it drips, and however long it took to send the request."""

    async def main():
        connection = SlowConnection(itertools.chain(bytes_of(pieces)), 50, library)
        transport = H11Transport(connection.connect, library)
        start = trio.current_time()
        turn = transport.stream_turn("http://host/", content=b"x" * size, read_timeout=60)
        with pytest.raises(SseConnectFailed) as caught:
            await turn.__aenter__()
        assert caught.value == SseConnectFailed(None, "", "read timeout")
        assert connection.closed
        pieces_sent = 2 if size == 1 else 4  # the head, then the body in pieces
        assert trio.current_time() - start == pieces_sent * 50 + 60

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


@own_connections
def test_head_that_drips_is_given_up_over_real_connections(adapter):
    def handler(peer):
        peer.read_request()
        for byte in HEAD:
            if peer.server.signal.wait(SHORT / 4):
                return
            peer.send(bytes([byte]))

    async def scenario(open_stream, server):
        with pytest.raises(SseConnectFailed) as caught:
            await open_stream("stream_turn", server.url).__aenter__()
        assert caught.value.reason.word == "read timeout"
        server.signal.set()

    with serving(handler) as server:
        play(adapter, scenario, server, read_timeout=SHORT)


def mute(peer):
    peer.read_request()
    peer.server.signal.set()
    peer.wait_for_close()


@every_httpx
def test_opening_over_httpx_is_bounded_by_the_event_timeout(adapter):
    async def scenario(open_stream, server):
        for _ in range(2):  # the connection is not lost to the pool
            turn = open_stream("stream_turn", server.url, event_timeout=SHORT)
            with pytest.raises(SseConnectFailed) as caught:
                await turn.__aenter__()
            assert caught.value == SseConnectFailed(None, "", "read timeout")

    with serving(mute) as server:
        play(adapter, scenario, server, read_timeout=None, max_connections=1)
    assert server.connections == 2


@every_async_adapter
def test_stream_that_opens_can_be_closed_by_another_task(adapter):
    async def scenario(open_stream, server):
        for stream, point in [
            (open_stream("stream_turn", server.url), None),
            (open_stream("reconnect_turn", server.url, "7:1"), SseId(7, 1)),
        ]:
            server.signal.clear()
            errors = []

            async def enter(stream=stream, errors=errors):
                with pytest.raises(SseConnectionDropped) as caught:
                    await stream.__aenter__()
                errors.append(caught.value)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(enter)
                assert await anyio.to_thread.run_sync(server.signal.wait, TIMEOUT)
                await anyio.wait_all_tasks_blocked()
                await stream.aclose()
            assert errors == [SseConnectionDropped(point, "closed")]

    with serving(mute) as server:
        play(adapter, scenario, server, read_timeout=None, max_connections=1)


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each.is_sync], ids=str)
def test_sync_stream_closed_by_another_thread_as_it_opens_is_closed(adapter):
    def handler(peer):
        peer.read_request()
        turns[0].stream.close()
        peer.send(CHUNKED, chunk(done(1)), LAST_CHUNK)

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url)
        turns.append(turn)
        with pytest.raises(SseConnectionDropped) as caught:
            await turn.__aenter__()
        assert caught.value == SseConnectionDropped(None, "closed")

    turns = []
    with serving(handler) as server:
        play(adapter, scenario, server)


@every_adapter
def test_body_of_a_refusal_is_not_waited_for_for_ever(adapter, monkeypatch):
    """Even if the client has no timeout: each read is capped, and none begins too late."""
    monkeypatch.setattr(httpx_client, "ERROR_BODY_SECONDS", SHORT)
    monkeypatch.setattr("ratatoskr_transports._adapters.connections.ERROR_BODY_SECONDS", SHORT)
    gone = threading.Event()

    def handler(peer):
        peer.read_request()
        peer.send(b"HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\nsor", b"ry")
        peer.wait_for_close()
        gone.set()

    async def scenario(open_stream, server):
        with pytest.raises(SseConnectFailed) as caught:
            await open_stream("stream_turn", server.url).__aenter__()
        assert caught.value == SseConnectFailed(500, "sorry", "status")
        assert gone.wait(TIMEOUT)

    with serving(handler) as server:
        play(adapter, scenario, server, read_timeout=None)
