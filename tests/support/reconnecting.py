"""A fake network and a fake clock, for streams that reconnect."""

from types import SimpleNamespace

import anyio

from ratatoskr_proto import (
    MalformedSseData,
    ReconnectPolicy,
    SseConnectFailed,
    SseConnectionDropped,
)
from ratatoskr_transports import EventStream, SyncEventStream, SyncTurnStream, TurnStream
from ratatoskr_transports._streams.opening import AsyncOpening, Reconnecting, SyncOpening
from ratatoskr_transports._streams.sources import Refused
from support.modes import AsyncFace

START = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT
POLICY = ReconnectPolicy(attempts=3, floor=1, ceiling=60, factor=2, jitter=0.5)
RESET = ConnectionResetError()


def busy(status=503, retry_after=""):
    headers = {"retry-after": retry_after} if retry_after else {}
    return Refused(SseConnectFailed(status, "", "status"), headers)


class World:
    """Stands in for the network and the clock. Each answer is one of a connection: a ``Refused``, a
    callable, or the steps of a source.
    """

    def __init__(self, mode, *answers, chance=0.0):
        self.mode = mode
        self.answers = list(answers)
        self.chance = chance
        self.asked = []  # the Last-Event-ID of each request, None for the first
        self.waits = []
        self.sources = []
        self.now = START

    def answer(self, last_event_id):
        self.asked.append(last_event_id)
        answer = self.answers.pop(0)
        if callable(answer):
            answer = answer()
        if isinstance(answer, Refused):
            return answer
        body = self.mode.body(*answer)
        body.headers = {"connection-number": str(len(self.asked))}
        self.sources.append(body)
        return body

    def wait(self, seconds):
        self.waits.append(seconds)
        self.now += seconds

    def open(self, kinds, policy=POLICY, on_wait=None, needs_id=False, **options):
        """A stream that this world feeds; ``kinds`` are its async and its sync class."""
        reconnecting = Reconnecting(
            policy, on_wait, needs_id, chance=lambda: self.chance, now=lambda: self.now
        )
        if self.mode.sync:
            self.opening = SyncOpening(SyncFakeOpener(self), reconnecting)
            self.opening._closed = FakeThreadingEvent(self)
            return AsyncFace(kinds[1](self.opening, **options))

        async def sleep(seconds):
            await anyio.lowlevel.checkpoint()
            self.wait(seconds)

        self.library = SimpleNamespace(sleep=sleep, CancelScope=anyio.CancelScope)
        self.opening = AsyncOpening(FakeOpener(self), self.library, reconnecting)
        return AsyncFace(kinds[0](self.opening, **options))

    def turn(self, policy=POLICY, **options):
        return self.open((TurnStream, SyncTurnStream), policy, **options)

    def events(self, policy=POLICY, **options):
        return self.open((EventStream, SyncEventStream), policy, **options)


class FakeOpener:
    def __init__(self, world):
        self.world = world

    async def open(self, last_event_id):
        await anyio.lowlevel.checkpoint()
        return self.world.answer(last_event_id)


class SyncFakeOpener:
    def __init__(self, world):
        self.world = world

    def open(self, last_event_id):
        return self.world.answer(last_event_id)


class FakeThreadingEvent:
    def __init__(self, world):
        self.world = world
        self.is_over = False

    def set(self):
        self.is_over = True

    def is_set(self):
        return self.is_over

    def wait(self, seconds):
        self.world.wait(seconds)
        return self.is_over


async def read(stream):
    """The items of a stream and the error that ended it, or None."""
    items = []
    try:
        async with stream:
            async for item in stream:
                items.append(item)
    except (SseConnectionDropped, SseConnectFailed, MalformedSseData) as error:
        return items, error
    return items, None


def seqs(events):
    return [event.sse_id.seq for event in events]
