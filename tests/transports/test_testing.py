"""check_transport passes good transports and catches broken ones."""

import contextlib
import functools
import socket
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from support.adapters import ADAPTERS

from ratatoskr_proto import RatatoskrError, SseConnectFailed, SseConnectionDropped, TurnState
from ratatoskr_transports._testing import checks
from ratatoskr_transports._testing.server import _read_request
from ratatoskr_transports.anyio import stream_turn
from ratatoskr_transports.httpx import stream_turn_sync
from ratatoskr_transports.testing import check_transport, check_transport_sync

SECONDS = 0.2  # how long the server waits for those that are broken on purpose


@pytest.fixture
def only(monkeypatch):
    """Runs a single check, since a full run for each broken transport would only take longer."""

    every = checks.CHECKS

    def choose(name):
        [check] = [check for check in every if check.name == name]
        monkeypatch.setattr(checks, "CHECKS", [check])

    return choose


@pytest.mark.parametrize("adapter", ADAPTERS, ids=str)
def test_every_adapter_passes(adapter):
    async def check_with_client():
        async with adapter.make_client(5.0, 5.0, True) as client:
            await check_transport(functools.partial(adapter.module.stream_turn, client))

    if adapter.is_sync:
        with adapter.make_client(5.0, 5.0, True) as client:
            check_transport_sync(functools.partial(adapter.module.stream_turn_sync, client))
    elif adapter.is_httpx:
        adapter.run(check_with_client)
    else:
        adapter.run(check_transport, adapter.module.stream_turn)


def test_busy_machine_may_need_longer_than_the_timeout_for_the_head(only):
    only("keep-alives for ever")

    class OpensTheSecondTime(Transport):
        tries = 0

        async def __aenter__(self):
            OpensTheSecondTime.tries += 1
            if OpensTheSecondTime.tries == 1:
                raise SseConnectFailed(None, "", "read timeout")
            return await super().__aenter__()

    anyio.run(check_transport, OpensTheSecondTime)
    assert OpensTheSecondTime.tries == 2


def test_connect_that_takes_no_timeouts_is_not_checked_for_them(only):
    def connect(url, json):
        return stream_turn(url, json=json)

    for check in ("keep-alives for ever", "a head that drips"):
        only(check)
        anyio.run(check_transport, connect)


def test_connect_that_does_not_tell_what_it_takes_may_be_checked(only):
    only("the request")

    class Connect:
        __signature__ = "unknown"

        def __call__(self, url, json):
            return stream_turn(url, json=json)

    anyio.run(check_transport, Connect())


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_run_can_be_cancelled_while_it_counts(backend, only):
    only("many keep-alives in a few bytes")

    class Hangs(Transport):
        entered = False

        async def __anext__(self):
            if Hangs.entered:
                scope.cancel()
                await anyio.sleep_forever()
            Hangs.entered = True
            return await super().__anext__()

    async def main():
        nonlocal scope
        with anyio.CancelScope() as scope:
            await check_transport(Hangs)
        assert scope.cancelled_caught

    scope = None
    anyio.run(main, backend=backend)


def test_sync_stream_may_be_checked_in_async_code(only):
    only("the request")

    async def check():
        with httpx.Client(trust_env=False) as client:
            await check_transport(functools.partial(stream_turn_sync, client))

    anyio.run(check)


def test_generator_that_opens_a_stream_may_be_checked(only):
    only("leaving closes the connection")

    @contextlib.asynccontextmanager
    async def connect(url, **options):
        async with stream_turn(url, **options) as turn:
            yield turn

    anyio.run(check_transport, connect)


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
    left_open: list = []  # noqa: RUF012  # for the test to clean up

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


@pytest.mark.parametrize(
    ("broken", "check"),
    [
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
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_broken_transport_is_caught(broken, check, only):
    only(check.partition(":")[0])

    async def main():
        try:
            with pytest.raises(AssertionError) as caught:
                await check_transport(broken, seconds=SECONDS)
        finally:
            while NeverCloses.left_open:
                await NeverCloses.left_open.pop().aclose()
        first, *lines = str(caught.value).split("\n- ")
        assert first == f"the transport failed {len(lines)} checks"
        assert [line for line in lines if line.startswith(check)] != []

    anyio.run(main, backend="trio")


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


def test_broken_sync_transport_is_caught(only):
    only("a body shorter than its length")
    with (
        httpx.Client(trust_env=False) as client,
        pytest.raises(AssertionError, match="a body shorter than its length: it ended with None"),
    ):
        check_transport_sync(functools.partial(SyncThatSwallowsErrors, client), seconds=SECONDS)


def test_transport_that_cannot_connect_fails_every_check():
    def connect(url, **options):
        raise OSError("no network")

    with pytest.raises(AssertionError, match="the request: raised OSError: no network"):
        check_transport_sync(connect)


def test_async_transport_is_no_sync_one():
    with pytest.raises(TypeError, match="returns an async stream; use 'await check_transport"):
        check_transport_sync(stream_turn)


def test_what_is_no_context_manager_is_a_type_error():
    with pytest.raises(TypeError, match="must return a context manager, not list"):
        check_transport_sync(lambda url, **options: [])


def test_server_gives_up_a_client_that_asks_for_nothing():
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours, pytest.raises(ConnectionError):
        _read_request(ours)
