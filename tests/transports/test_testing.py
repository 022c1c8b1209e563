"""check_transport passes good transports and catches broken ones."""

import contextlib
import functools
import socket

import anyio
import httpx
import pytest
from support.adapters import every_adapter
from transports.broken_transports import BROKEN, NeverCloses, SyncThatSwallowsErrors, Transport

from ratatoskr_proto import SseConnectFailed
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


@every_adapter
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


@pytest.mark.parametrize(
    ("broken", "check"),
    BROKEN,
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
