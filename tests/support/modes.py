"""Sync and async streams with one async interface, so that one scenario holds for both.

async def scenario(open_stream):
    async with open_stream("stream_turn", url) as turn:
        assert [event async for event in turn] == [...]

A sync stream blocks the event loop meanwhile, which a server in a thread does not mind.
"""

import contextlib
import functools
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from ratatoskr_transports import EventStream, SyncEventStream, SyncTurnStream, TurnStream
from ratatoskr_transports._streams.sources import AsyncBody, SyncBody
from support.adapters import Adapter


class AsyncFace:
    """A stream; its attributes are those of ``stream`` itself."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._sync = isinstance(stream, (SyncTurnStream, SyncEventStream))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    async def __aenter__(self) -> "AsyncFace":
        if self._sync:
            self.stream.__enter__()
        else:
            await self.stream.__aenter__()
        return self

    async def __aexit__(self, *what: Any) -> None:
        if self._sync:
            self.stream.__exit__(*what)
        else:
            await self.stream.__aexit__(*what)

    def __aiter__(self) -> "AsyncFace":
        return self

    async def __anext__(self) -> Any:
        if not self._sync:
            return await self.stream.__anext__()
        # StopIteration must not be raised in here: a coroutine makes a RuntimeError of it.
        item = next(self.stream, self)
        if item is self:
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        if self._sync:
            self.stream.close()
        else:
            await self.stream.aclose()


def play(adapter: Adapter, scenario: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """Run ``scenario(open_stream, *args)`` on the event loop of the adapter.

    ``open_stream(function, url, **options)`` gives a stream that is not entered yet. ``settings``
    are those of ``opener``.
    """

    async def main() -> Any:
        async with opener(adapter, **settings) as open_stream:
            return await scenario(open_stream, *args)

    return anyio.run(main, backend=adapter.backend or "asyncio")


@contextlib.asynccontextmanager
async def opener(
    adapter: Adapter,
    *,
    read_timeout: float = 10.0,
    verify: Any = None,
    max_connections: int | None = None,
    proxy: str | None = None,
) -> AsyncIterator[Callable[..., AsyncFace]]:
    """The functions of an adapter, all over one client if it has clients."""
    if not adapter.is_httpx:
        settings = {"read_timeout": read_timeout, "ssl_context": verify}

        def call(function: str, *args: Any, **options: Any) -> AsyncFace:
            return AsyncFace(getattr(adapter.module, function)(*args, **settings, **options))

        yield call
        return

    library: Any = adapter.library
    kind = library.Client if adapter.is_sync else library.AsyncClient
    client = kind(
        timeout=library.Timeout(read_timeout),
        limits=library.Limits(max_connections=max_connections),
        http2=adapter.http2,
        proxy=proxy,
        # Making a context of the system's certificates takes longer than a test.
        verify=False if verify is None else verify,
        trust_env=False,
    )

    def call_with_client(function: str, *args: Any, **options: Any) -> AsyncFace:
        name = f"{function}_sync" if adapter.is_sync else function
        return AsyncFace(getattr(adapter.module, name)(client, *args, **options))

    call_with_client.client = client
    try:
        yield call_with_client
    finally:
        if adapter.is_sync:
            client.close()
        else:
            await client.aclose()


class FakeSource:
    """A source that gives the ``steps`` one after the other: bytes are returned, an exception is
    raised, a callable is called (and what it returns awaited, in async code). Then it ends.
    """

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.closed = 0

    async def receive(self) -> Any:
        await anyio.lowlevel.checkpoint()
        if not self.steps:
            return b""
        step = self.steps.pop(0)
        if callable(step):
            step = await step()
        if isinstance(step, BaseException):
            raise step
        return step

    async def aclose(self) -> None:
        self.closed += 1


class SyncFakeSource(FakeSource):
    """The same for sync code."""

    def receive(self) -> Any:
        if not self.steps:
            return b""
        step = self.steps.pop(0)
        if callable(step):
            step = step()
        if isinstance(step, BaseException):
            raise step
        return step

    def close(self) -> None:
        self.closed += 1


class FakeBody(FakeSource, AsyncBody):
    """The body of a response, which gives the steps."""

    status = 200


class SyncFakeBody(SyncFakeSource, SyncBody):
    """The same for sync code."""

    status = 200


class Mode:
    """One of the ways to read from a fake source."""

    def __init__(self, name: str, backend: str, sync: bool) -> None:
        self.name = name
        self.backend = backend
        self.sync = sync

    def __str__(self) -> str:
        return self.name

    def source(self, *steps: Any) -> Any:
        return SyncFakeSource(*steps) if self.sync else FakeSource(*steps)

    def body(self, *steps: Any) -> Any:
        return SyncFakeBody(*steps) if self.sync else FakeBody(*steps)

    def run(self, main: Callable[..., Any], *args: Any) -> Any:
        return anyio.run(functools.partial(main, *args), backend=self.backend)


MODES = [
    Mode("asyncio", "asyncio", False),
    Mode("trio", "trio", False),
    Mode("sync", "asyncio", True),
]
every_mode = pytest.mark.parametrize("mode", MODES, ids=str)


def turn_over(mode: Mode, *steps: Any, **options: Any) -> tuple[AsyncFace, Any]:
    """A turn over a source that gives the steps, and the source."""
    source = mode.source(*steps)
    return AsyncFace((SyncTurnStream if mode.sync else TurnStream)(source, **options)), source


def events_over(mode: Mode, *steps: Any, **options: Any) -> tuple[AsyncFace, Any]:
    """The same of an event stream."""
    source = mode.source(*steps)
    return AsyncFace((SyncEventStream if mode.sync else EventStream)(source, **options)), source


async def next_error(stream: AsyncFace) -> BaseException:
    """The error that asking for the next item raises."""
    try:
        item = await anext(stream)
    except BaseException as error:
        return error
    raise AssertionError(f"{item} came, and no error")
