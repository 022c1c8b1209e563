"""Opening a stream is bounded in time, and ends at once when the stream is closed."""

import itertools
import threading

import anyio
import anyio.to_thread
import pytest
import trio
import trio.testing
from support.adapters import ADAPTERS, ASYNC_ADAPTERS, every_adapter, every_async_adapter
from support.frames import chunk, done
from support.modes import play
from support.raw_server import CHUNKED, LAST_CHUNK, TIMEOUT, serving

from ratatoskr_proto import SseConnectFailed, SseConnectionDropped, SseId
from ratatoskr_transports._adapters import httpx_client
from ratatoskr_transports._adapters.h11 import H11Transport

PIECE = 64 * 1024
SHORT = 0.1  # seconds: a timeout that is meant to pass

own_connections = pytest.mark.parametrize(
    "adapter", [each for each in ASYNC_ADAPTERS if not each.is_httpx], ids=str
)
every_httpx = pytest.mark.parametrize(
    "adapter", [each for each in ASYNC_ADAPTERS if each.is_httpx], ids=str
)
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
