"""A good transport, and copies of it, each broken in one way."""

import contextlib
import socket
from urllib.parse import urlsplit

import httpx

from ratatoskr_proto import RatatoskrError, SseConnectFailed, SseConnectionDropped, TurnState
from ratatoskr_transports.anyio import stream_turn
from ratatoskr_transports.httpx import stream_turn_sync


class Transport:
    """A good transport. A subclass breaks it in one way."""

    def __init__(self, url, **options):
        self.stream = stream_turn(url, **options)

    async def __aenter__(self):
        await self.stream.__aenter__()
        return self

    async def __aexit__(self, *_):
        await self.aclose()

    def __aiter__(self):
        return self

    async def __anext__(self):
        return await anext(self.stream)

    async def aclose(self):
        await self.stream.aclose()

    def __getattr__(self, name):
        return getattr(self.stream, name)


class DropsTheLastEvent(Transport):
    async def __anext__(self):
        event = await anext(self.stream)
        if event.terminal:
            raise StopAsyncIteration
        return event


class HoldsEventsBack(Transport):
    held = ()

    async def __anext__(self):
        while not self.held or (len(self.held) < 2 and not self.held[0].terminal):
            self.held = (*self.held, await anext(self.stream))
        event, *self.held = self.held
        return event


class SwallowsErrors(Transport):
    async def __anext__(self):
        try:
            return await anext(self.stream)
        except RatatoskrError:
            raise StopAsyncIteration from None


class NeverCloses(Transport):
    left_open: list[object] = []  # noqa: RUF012  # for the test to clean up

    async def aclose(self):
        self.left_open.append(self.stream)


class EndsWellOnACutBody(Transport):
    async def __anext__(self):
        try:
            return await anext(self.stream)
        except SseConnectionDropped as error:
            if not error.reason.startswith("cut body"):
                raise
        raise StopAsyncIteration


class RaisesTheSameErrorTwice(Transport):
    error = None

    async def __anext__(self):
        if self.error is not None:
            raise self.error
        try:
            return await anext(self.stream)
        except RatatoskrError as error:
            self.error = error
            raise


class ReordersEvents(Transport):
    held = None

    async def __anext__(self):
        if self.held is not None:
            event, self.held = self.held, None
            return event
        self.held = event = await anext(self.stream)
        if not event.terminal and event.sse_id.seq % 2:
            with contextlib.suppress(RatatoskrError):
                return await anext(self.stream)
        self.held = None
        return event


class RepeatsEvents(Transport):
    event, repeat = None, False

    async def __anext__(self):
        self.repeat = not self.repeat
        if self.repeat:
            self.event = await anext(self.stream)
        return self.event


class NeverEnds(Transport):
    event = None

    async def __anext__(self):
        with contextlib.suppress(StopAsyncIteration, RatatoskrError):
            self.event = await anext(self.stream)
        return self.event


class HasAnotherExceptionAsItsCause(Transport):
    async def __anext__(self):
        try:
            return await anext(self.stream)
        except RatatoskrError as error:
            raise error from OSError("secret")


class LetsForeignErrorsThrough(Transport):
    async def __anext__(self):
        try:
            return await anext(self.stream)
        except RatatoskrError:
            raise ValueError("Expecting value") from None


class ReadsAnyAnswer(Transport):
    async def __aenter__(self):
        with contextlib.suppress(SseConnectFailed):
            await self.stream.__aenter__()
        return self


class ComesToNoEndAfterTheTerminalEvent(Transport):
    async def __anext__(self):
        try:
            return await anext(self.stream)
        except StopAsyncIteration:
            raise SseConnectionDropped(self.last_sse_id, "closed") from None


class ForgetsWhereItStands(Transport):
    last_sse_id = None


class NeverSaysDone(Transport):
    state = TurnState.STREAMING


class AsksWithAnotherMethod(Transport):
    def __init__(self, url, **options):
        super().__init__(url, method="PUT", **options)


class SwallowsExceptionsOfTheCaller(Transport):
    async def __aexit__(self, *_):
        await self.aclose()
        return True


class HangsUpBeforeItHasAsked(Transport):
    def __init__(self, url, **options):
        self.address = urlsplit(url).hostname, urlsplit(url).port

    async def __aenter__(self):
        socket.create_connection(self.address).close()
        raise OSError("hung up")


class EndsWellWhenClosed(Transport):
    closed = False

    async def __anext__(self):
        if self.closed:
            raise StopAsyncIteration
        return await anext(self.stream)

    async def aclose(self):
        self.closed = True
        await super().aclose()


class KnowsNoEventTimeout(Transport):
    def __init__(self, url, event_timeout=None, **options):
        super().__init__(url, **options)


class NeverOpens(Transport):
    async def __aenter__(self):
        raise SseConnectFailed(None, "", "read timeout")


class LetsNobodyRun(Transport):
    """It blocks the event loop."""

    def __init__(self, url, **options):
        self.client = httpx.Client(trust_env=False)
        self.stream = stream_turn_sync(self.client, url, **options)

    async def __aenter__(self):
        self.stream.__enter__()
        return self

    async def __anext__(self):
        try:
            return next(self.stream)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self):
        self.client.close()


class WaitsForAnyHead(Transport):
    def __init__(self, url, event_timeout=None, read_timeout=None, **options):
        super().__init__(url, **options)


# Each with the beginning of what the check that catches it says.
BROKEN = [
    (DropsTheLastEvent, "a turn in one write: the events are"),
    (HoldsEventsBack, "each event before the next is sent: an event was held back"),
    (SwallowsErrors, "bad JSON: it ended with None, not with MalformedSseData"),
    (NeverCloses, "leaving closes the connection: the connection was not closed"),
    (EndsWellOnACutBody, "a chunked body that is cut: it ended with None"),
    (RaisesTheSameErrorTwice, "another turn: the same error object was raised twice"),
    (ReordersEvents, "a turn in one write: the events are"),
    (RepeatsEvents, "a body with a length: the events are"),
    (NeverEnds, "a turn byte by byte: the stream does not end"),
    (HasAnotherExceptionAsItsCause, "a bad id: the error has another exception"),
    (LetsForeignErrorsThrough, "bad JSON: raised ValueError: Expecting value"),
    (ReadsAnyAnswer, "the status 503: no error on entering"),
    (ComesToNoEndAfterTheTerminalEvent, "a turn in one write: it ended with"),
    (ForgetsWhereItStands, "where the stream stands: last_sse_id is not that of the event"),
    (NeverSaysDone, "where the stream stands: the state is"),
    (AsksWithAnotherMethod, "the request: the method is not POST"),
    (SwallowsExceptionsOfTheCaller, "an exception closes the connection: an exception of"),
    (HangsUpBeforeItHasAsked, "no answer: raised OSError: hung up"),
    (EndsWellWhenClosed, "aclose() closes the stream: it ended with None"),
    (KnowsNoEventTimeout, "keep-alives for ever: it ended with"),
    (NeverOpens, "keep-alives for ever: the events are []"),
    (LetsNobodyRun, "many keep-alives in a few bytes: the event loop ran 0 times"),
    (WaitsForAnyHead, "a head that drips: no error on entering"),
]


class SyncThatSwallowsErrors:
    """A broken transport for sync code."""

    def __init__(self, client, url, **options):
        self.stream = stream_turn_sync(client, url, **options)

    def __enter__(self):
        self.stream.__enter__()
        return self

    def __exit__(self, *_):
        self.stream.close()

    def __next__(self):
        try:
            return next(self.stream)
        except RatatoskrError:
            raise StopIteration from None

    def __getattr__(self, name):
        return getattr(self.stream, name)
