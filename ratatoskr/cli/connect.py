"""The options with which a command opens a stream, and opening it over any of the transports."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from .console import Failure
from .options import ABOVE_0, max_event_bytes_option
from .reconnect import POLICY

HTTPX, ANYIO, TRIO = "httpx", "anyio", "trio"

F = TypeVar("F", bound=Callable[..., Any])


def stream_options(command: F) -> F:
    """Add to a command the options that every stream takes; it gets them as ``connector``."""

    @functools.wraps(command)
    def wrapper(
        *args: Any,
        header: tuple[str, ...],
        transport: str,
        proxy: str | None,
        cacert: str | None,
        insecure: bool,
        connect_timeout: float,
        read_timeout: float,
        event_timeout: float | None,
        max_event_bytes: int,
        reconnect: bool,
        **kwargs: Any,
    ) -> Any:
        connector = Connector(
            transport, header, proxy, cacert, insecure, connect_timeout, read_timeout
        )
        options = {
            "event_timeout": event_timeout,
            "max_event_bytes": max_event_bytes,
            "reconnect": POLICY if reconnect else None,
        }
        return command(*args, connector=connector, stream_options=options, **kwargs)

    for option in reversed(_OPTIONS):
        wrapper = option(wrapper)
    return wrapper  # type: ignore[return-value]


_OPTIONS = (
    click.option(
        "-H",
        "--header",
        multiple=True,
        metavar="'Name: value'|@FILE",
        help="A header to send, or a file with one on each line, so that secrets need not stand "
        "in the list of processes. May be given more than once.",
    ),
    click.option(
        "--transport",
        type=click.Choice([HTTPX, ANYIO, TRIO]),
        default=HTTPX,
        show_default=True,
        help="The library to connect with.",
    ),
    click.option("--proxy", metavar="URL", help="A proxy to go through; with httpx only."),
    click.option("--cacert", metavar="FILE", help="The certificates to trust, in PEM."),
    click.option("--insecure", is_flag=True, help="Trust any certificate. For tests only."),
    click.option(
        "--connect-timeout", type=ABOVE_0, default=10.0, show_default=True, metavar="SECONDS"
    ),
    click.option(
        "--read-timeout",
        type=ABOVE_0,
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Give up after so long without a byte.",
    ),
    click.option(
        "--event-timeout",
        type=ABOVE_0,
        metavar="SECONDS",
        help="Give up after so long without an event, whatever else comes.",
    ),
    max_event_bytes_option,
    click.option(
        "--reconnect",
        is_flag=True,
        help="When the connection is lost, wait a little, connect again, and go on behind the last "
        "event. A line on stderr says so each time. Given up after 8 times with nothing new.",
    ),
)


class Connector:
    """Knows how to open a stream: library, headers, TLS, proxy, timeouts."""

    def __init__(
        self,
        transport: str = HTTPX,
        header: tuple[str, ...] = (),
        proxy: str | None = None,
        cacert: str | None = None,
        insecure: bool = False,
        connect_timeout: float = 10.0,
        read_timeout: float = 60.0,
        trust_env: bool = True,
    ) -> None:
        """Raises Failure for what cannot be used."""
        if proxy is not None and transport != HTTPX:
            raise Failure(f"--proxy needs --transport httpx; {transport} has no proxies")
        self._transport = transport
        self._headers = read_headers(header)
        self._proxy = proxy
        self._ssl_context = _ssl_context(cacert, insecure)
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._trust_env = trust_env

    def run(
        self, function: str, *args: Any, show: Callable[[Any], Awaitable[int]], **options: Any
    ) -> int:
        """Open the stream that an adapter's ``function`` gives, and run ``show`` on it, which
        returns an exit code. Raises Failure for arguments that the adapter refuses.
        """

        async def main() -> int:
            if self._transport == HTTPX:
                return await self.show_over_httpx(function, *args, show=show, **options)
            return await self._show_over_own(function, *args, show=show, **options)

        if self._transport == TRIO:
            code: int = _load_trio().run(main)
            return code
        return asyncio.run(main())

    async def show_over_httpx(
        self, function: str, *args: Any, show: Callable[[Any], Awaitable[int]], **options: Any
    ) -> int:
        """As ``run``, in an event loop of asyncio that runs already, over httpx."""
        import httpx

        from ratatoskr_transports import httpx as adapter

        timeout = httpx.Timeout(
            connect=self._connect_timeout,
            read=self._read_timeout,
            write=self._read_timeout,
            pool=self._connect_timeout,
        )
        try:
            if self._proxy is not None and not httpx.URL(self._proxy).host:
                raise ValueError
            client = httpx.AsyncClient(
                timeout=timeout,
                verify=True if self._ssl_context is None else self._ssl_context,
                proxy=self._proxy,
                trust_env=self._trust_env,
            )
        except (ValueError, httpx.InvalidURL, ImportError):
            raise Failure("the proxy must be a URL such as http://127.0.0.1:3128") from None
        async with client:
            open_stream = functools.partial(getattr(adapter, function), client)
            return await show(_opened(open_stream, *args, headers=self._headers, **options))

    async def _show_over_own(
        self, function: str, *args: Any, show: Callable[[Any], Awaitable[int]], **options: Any
    ) -> int:
        if self._transport == TRIO:
            from ratatoskr_transports import trio as adapter
        else:
            from ratatoskr_transports import anyio as adapter  # type: ignore[no-redef]
        return await show(
            _opened(
                getattr(adapter, function),
                *args,
                headers=self._headers,
                connect_timeout=self._connect_timeout,
                read_timeout=self._read_timeout,
                ssl_context=self._ssl_context,
                **options,
            )
        )


def _opened(open_stream: Callable[..., Any], *args: Any, **options: Any) -> Any:
    try:
        return open_stream(*args, **options)
    except (TypeError, ValueError) as error:
        raise Failure(str(error)) from None


def _load_trio() -> Any:
    try:
        import trio
    except ModuleNotFoundError:
        raise Failure(
            "--transport trio needs trio; install it with: pip install 'ratatoskr-sse[trio]'"
        ) from None
    return trio


def read_headers(options: tuple[str, ...]) -> list[tuple[str, str]]:
    """Read the values of ``--header``. Raises Failure for what is no header."""
    return [pair for each in options for pair in _read_header(each)]


def _read_header(text: str) -> list[tuple[str, str]]:
    """Read ``Name: value``, or a file of such lines if it is ``@FILE``."""
    if not text.startswith("@"):
        return [_split_header(text, "--header")]
    try:
        with open(text[1:], encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise Failure(f"cannot read the headers in {text[1:]!r}: {reason}") from None
    return [
        _split_header(line, f"line {number} of {text[1:]!r}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def _split_header(text: str, where: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise Failure(f"{where}: a header is written 'Name: value'")  # and may hold a secret
    return name.strip(), value.strip()


def _ssl_context(cacert: str | None, insecure: bool) -> ssl.SSLContext | None:
    if cacert is None and not insecure:
        return None
    try:
        context = ssl.create_default_context(cafile=cacert)
    except (OSError, ssl.SSLError) as error:
        reason = "it holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
        raise Failure(f"cannot use the certificates in {cacert!r}: {reason}") from None
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
