"""Turns that are dropped again and again, and many at once on one event loop: is anything lost,
doubled or out of order?
"""

import random
import threading

import anyio
import pytest
from support.adapters import every_adapter, every_async_adapter
from support.frames import chunk, done, text
from support.modes import play
from support.raw_server import CHUNKED, TIMEOUT, Peer, serving

from ratatoskr_proto import ReconnectPolicy, TurnState

pytestmark = pytest.mark.slow

POLICY = ReconnectPolicy(floor=0.001, ceiling=0.1, jitter=1.0)
DROPPED, AT_ONCE = 60, 20
MANY = 300
EVENTS = 200


def frames(turn: int) -> list[bytes]:
    return [*(text(seq, turn=turn) for seq in range(1, EVENTS)), done(EVENTS, turn=turn)]


async def read_whole_turn(stream):
    """Read a turn, check every event of it, and return how often it was connected again."""
    ids = []
    async with stream as turn:
        async for event in turn:
            ids.append(event.sse_id)
            assert event.terminal or event.text == str(event.sse_id.seq)
    assert ids == [(turn.turn_id, seq) for seq in range(1, EVENTS + 1)]
    assert turn.state is TurnState.DONE
    return turn.reconnects


class DroppingServer:
    """Resets each connection after some frames, and resumes a turn one or two frames too early."""

    def __init__(self) -> None:
        self.chance = random.Random(1)
        self.turns = 0
        self.lock = threading.Lock()

    def __call__(self, peer: Peer) -> None:
        peer.read_request()
        resumed = peer.header("last-event-id")
        with self.lock:
            self.turns += resumed is None
            turn, seq = map(int, resumed.split(":")) if resumed else (self.turns, 0)
            start = max(0, seq - self.chance.randint(0, 2))
            count = self.chance.randint(5, 60)
        rest = frames(turn)[start:]
        peer.send(CHUNKED, *map(chunk, rest[:count]))
        if count < len(rest):
            peer.reset()
        else:
            peer.send(chunk(b""))


@every_adapter
def test_turns_that_are_dropped_again_and_again_are_whole(adapter):
    reconnects = []

    async def scenario(open_stream, url):
        async def read_some(number):
            for _ in range(number):
                stream = open_stream("stream_turn", url, json={}, reconnect=POLICY)
                reconnects.append(await read_whole_turn(stream))

        if adapter.is_sync:
            await read_some(DROPPED)
            return
        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(read_some, DROPPED // AT_ONCE)

    with serving(DroppingServer()) as server:
        play(adapter, scenario, server.url)
    assert len(reconnects) == DROPPED
    assert sum(reconnects) > DROPPED


@every_async_adapter
def test_many_turns_at_once_on_one_event_loop_are_whole(adapter):
    all_here = threading.Barrier(MANY, timeout=TIMEOUT * 6)

    def handler(peer):
        peer.read_request()
        turn = all_here.wait() + 1
        peer.send(CHUNKED, *map(chunk, frames(turn)), chunk(b""))

    async def scenario(open_stream, url):
        async with anyio.create_task_group() as tasks:
            for _ in range(MANY):
                tasks.start_soon(read_whole_turn, open_stream("stream_turn", url, json={}))

    with serving(handler) as server:
        play(adapter, scenario, server.url, read_timeout=TIMEOUT * 6)
