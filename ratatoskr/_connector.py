"""Opens streams over any of the transports, for the command line and the app."""

from __future__ import annotations

import asyncio
import functools
import importlib
import importlib.util
import os
import ssl
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

HTTPX, ANYIO, TRIO = "httpx", "anyio", "trio"

_PROXY_VARIABLES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

T = TypeVar("T")


class Connector:
    """Opens streams with one library, and with one set of headers, TLS, proxy and timeouts.

    It is an async context manager; over httpx all of its streams share one client, which leaving
    the block closes. ``trust_env`` says whether httpx may use the proxies of the environment. Times
    are in seconds.
    """

    def __init__(
        self,
        transport: str = HTTPX,
        *,
        headers: Sequence[tuple[str, str]] = (),
        proxy: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        connect_timeout: float = 10.0,
        read_timeout: float = 60.0,
        trust_env: bool = True,
    ) -> None:
        """Raises ValueError for a proxy with a transport that has none, and for trio where it is
        not installed.
        """
        if proxy is not None and transport != HTTPX:
            raise ValueError(f"--proxy needs --transport httpx; {transport} has no proxies")
        if transport == TRIO and importlib.util.find_spec("trio") is None:
            raise ValueError(
                "--transport trio needs trio; install it with: pip install 'ratatoskr-sse[trio]'"
            )
        self.transport = transport
        self.headers = list(headers)
        self._proxy = proxy
        self._ssl_context = ssl_context
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._trust_env = trust_env
        self._client: Any = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the client, if there is one."""
        if self._client is not None:
            await self._client.aclose()

    def run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run ``main`` in an event loop that suits the transport, and return its result."""
        if self.transport == TRIO:
            import trio

            return trio.run(main)
        return asyncio.run(main())

    def open(self, function: str, *args: Any, **options: Any) -> Any:
        """Return a stream that is not entered yet, such as ``open("stream_turn", url, json=…)``.

        ``function`` is a function of the adapter; ``args`` and ``options`` are its own, without
        those that the connector knows; ``headers`` are added to its own. Raises TypeError or
        ValueError for invalid arguments.
        """
        adapter = importlib.import_module(f"ratatoskr_transports.{self.transport}")
        open_stream = getattr(adapter, function)
        if self.transport == HTTPX:
            open_stream = functools.partial(open_stream, self._httpx_client())
        else:
            options |= {
                "connect_timeout": self._connect_timeout,
                "read_timeout": self._read_timeout,
                "ssl_context": self._ssl_context,
            }
        options["headers"] = [*self.headers, *options.get("headers", ())]
        return open_stream(*args, **options)

    def _httpx_client(self) -> Any:
        """The client, made when it is first needed, since reading certificates takes long.

        Raises ValueError for certificates of the environment that cannot be used, and for a proxy;
        the message repeats nothing of it.
        """
        if self._client is None:
            import httpx

            timeout = httpx.Timeout(
                connect=self._connect_timeout,
                read=self._read_timeout,
                write=self._read_timeout,
                pool=self._connect_timeout,
            )
            try:
                if self._proxy is not None and not httpx.URL(self._proxy).host:
                    raise ValueError
                self._client = httpx.AsyncClient(
                    timeout=timeout,
                    verify=True if self._ssl_context is None else self._ssl_context,
                    proxy=self._proxy,
                    trust_env=self._trust_env,
                )
            except OSError as error:
                reason = certificates_error(error)
                raise ValueError(
                    f"cannot use the certificates in SSL_CERT_FILE: {reason}"
                ) from None
            except (ValueError, httpx.InvalidURL, ImportError):
                raise ValueError(self._bad_proxy()) from None
        return self._client

    def _bad_proxy(self) -> str:
        example = "a URL such as http://127.0.0.1:3128"
        if self._proxy is not None:
            return f"the proxy must be {example}"
        names = [name for name in os.environ if name.upper() in _PROXY_VARIABLES]
        return f"a proxy in the environment must be {example}; check {', '.join(sorted(names))}"


def certificates_error(error: OSError) -> str:
    """Return why a file of certificates to trust could not be loaded."""
    if isinstance(error, ssl.SSLError):
        return "it holds no certificates"
    return error.strerror or type(error).__name__
