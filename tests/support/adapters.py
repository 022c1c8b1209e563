"""Every adapter in every setting, with one interface, so that one test holds for all of them.

@every_adapter
def test_something(adapter):
    outcome = adapter.run_turn(url, json={})
"""

import asyncio
import contextlib
import functools
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, NamedTuple, TypeVar

import anyio
import httpx
import httpx2
import pytest
import trio

import ratatoskr_transports.anyio
import ratatoskr_transports.httpx
import ratatoskr_transports.trio
from ratatoskr_proto import RatatoskrError, SseId

T = TypeVar("T")


@functools.cache
def default_context() -> ssl.SSLContext:
    """The context that a client of httpx would make for itself, which takes longer than a test."""
    return ssl.create_default_context()


class Outcome(NamedTuple):
    """The result of a stream: its items, then the error that ended it, or None."""

    items: list[Any]
    error: RatatoskrError | None
    stream: Any


def collect(open_stream: Callable[[], Any]) -> Outcome:
    """Read a sync stream to its end."""
    items: list[Any] = []
    stream = open_stream()
    try:
        with stream:
            for item in stream:
                items.append(item)
    except RatatoskrError as error:
        return Outcome(items, error, stream)
    return Outcome(items, None, stream)


async def collect_async(open_stream: Callable[[], Any]) -> Outcome:
    """Read an async stream to its end."""
    items: list[Any] = []
    stream = open_stream()
    try:
        async with stream:
            async for item in stream:
                items.append(item)
    except RatatoskrError as error:
        return Outcome(items, error, stream)
    return Outcome(items, None, stream)


class Adapter:
    """An adapter in one setting. ``library`` is a generation of httpx, or None; ``backend`` the
    event loop, or None for sync code; ``http2`` whether its client speaks HTTP/2 too.

    Timeouts, in seconds, and ``verify``, an SSLContext, go to the client or to the function,
    depending on the adapter.
    """

    def __init__(
        self, name: str, module: Any, backend: str | None, library: Any = None, http2: bool = False
    ) -> None:
        self.name = name
        self.module = module
        self.backend = backend
        self.library = library
        self.http2 = http2

    def __str__(self) -> str:
        return self.name

    @property
    def is_httpx(self) -> bool:
        return self.library is not None

    @property
    def is_sync(self) -> bool:
        return self.backend is None

    def run(self, main: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Run async code on the adapter's event loop."""
        if self.backend == "asyncio":
            return asyncio.run(main(*args))
        if self.module is ratatoskr_transports.trio:
            return trio.run(main, *args)
        return anyio.run(main, *args, backend=self.backend)

    def make_client(self, connect_timeout: float, read_timeout: float, verify: Any) -> Any:
        """A client of the library, sync or async as the adapter is."""
        kind = self.library.Client if self.is_sync else self.library.AsyncClient
        timeout = self.library.Timeout(
            connect=connect_timeout, read=read_timeout, write=read_timeout, pool=connect_timeout
        )
        return kind(timeout=timeout, verify=verify, trust_env=False)

    def call(
        self,
        function: str,
        *args: Any,
        connect_timeout: float = 10.0,
        read_timeout: float = 10.0,
        verify: Any = None,
        **options: Any,
    ) -> Outcome:
        """Call ``stream_turn``, ``reconnect_turn`` or ``stream_events`` and read to the end."""
        if not self.is_httpx:
            timeouts = {"connect_timeout": connect_timeout, "read_timeout": read_timeout}

            async def read_own() -> Outcome:
                return await collect_async(
                    lambda: getattr(self.module, function)(
                        *args, ssl_context=verify, **timeouts, **options
                    )
                )

            return self.run(read_own)
        verify = default_context() if verify is None else verify
        if self.is_sync:
            with self.make_client(connect_timeout, read_timeout, verify) as client:
                call = getattr(self.module, f"{function}_sync")
                return collect(lambda: call(client, *args, **options))

        async def read() -> Outcome:
            async with self.make_client(connect_timeout, read_timeout, verify) as client:
                call = getattr(self.module, function)
                return await collect_async(lambda: call(client, *args, **options))

        return self.run(read)

    def run_turn(self, url: str, **options: Any) -> Outcome:
        return self.call("stream_turn", url, **options)

    def run_resumed(self, url: str, last_sse_id: SseId | str, **options: Any) -> Outcome:
        return self.call("reconnect_turn", url, last_sse_id, **options)

    def run_events(self, url: str, **options: Any) -> Outcome:
        return self.call("stream_events", url, **options)

    @contextlib.asynccontextmanager
    async def opening(self, function: str, url: str, **options: Any) -> AsyncIterator[Any]:
        """For async adapters: the function's stream, entered, with a client of its own."""
        if self.is_httpx:
            client = self.make_client(10.0, 10.0, default_context())
            call = getattr(self.module, function)
            async with client, call(client, url, **options) as stream:
                yield stream
        else:
            async with getattr(self.module, function)(url, **options) as stream:
                yield stream


_httpx = ratatoskr_transports.httpx
ADAPTERS = [
    Adapter("httpx", _httpx, "asyncio", httpx),
    Adapter("httpx2", _httpx, "asyncio", httpx2),
    Adapter("httpx-sync", _httpx, None, httpx),
    Adapter("httpx2-sync", _httpx, None, httpx2),
    Adapter("anyio-asyncio", ratatoskr_transports.anyio, "asyncio"),
    Adapter("anyio-trio", ratatoskr_transports.anyio, "trio"),
    Adapter("trio", ratatoskr_transports.trio, "trio"),
]
ASYNC_ADAPTERS = [adapter for adapter in ADAPTERS if not adapter.is_sync]
HTTP2_ADAPTERS = [
    Adapter("httpx-http2", _httpx, "asyncio", httpx, http2=True),
    Adapter("httpx2-http2", _httpx, "asyncio", httpx2, http2=True),
    Adapter("httpx-sync-http2", _httpx, None, httpx, http2=True),
]
# Before Python 3.13, ssl leaves a socket open that is reset between connecting and the handshake.
reset_before_tls = pytest.mark.filterwarnings("ignore:unclosed <ssl.SSLSocket:ResourceWarning")
every_adapter = pytest.mark.parametrize("adapter", ADAPTERS, ids=str)
every_async_adapter = pytest.mark.parametrize("adapter", ASYNC_ADAPTERS, ids=str)
