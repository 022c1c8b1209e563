"""The options of the commands that open a stream."""

from __future__ import annotations

import errno
import functools
import os
import ssl
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import click

from ratatoskr_proto import RatatoskrError, ReconnectPolicy

from .._connector import ANYIO, HTTPX, TRIO, Connector, certificates_error
from .console import CommandError
from .option_values import read_headers
from .options import ABOVE_0, FileName, max_event_bytes_option

POLICY = ReconnectPolicy()

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
        cert: str | None,
        key: str | None,
        connect_timeout: float,
        read_timeout: float,
        event_timeout: float | None,
        max_event_bytes: int,
        any_type: bool,
        reconnect: bool,
        **kwargs: Any,
    ) -> Any:
        try:
            connector = Connector(
                transport,
                headers=read_headers(header),
                proxy=proxy,
                ssl_context=_ssl_context(cacert, insecure, cert, key),
                connect_timeout=connect_timeout,
                read_timeout=read_timeout,
            )
        except ValueError as error:
            raise CommandError(str(error)) from None
        options = {
            "event_timeout": event_timeout,
            "max_event_bytes": max_event_bytes,
            "any_media_type": any_type,
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
        metavar="'Name: value'|@FILE|@-",
        help="A header to send, or a file or stdin with one on each line, which keeps secrets out "
        "of the list of processes. May be given more than once.",
    ),
    click.option(
        "--transport",
        type=click.Choice([HTTPX, ANYIO, TRIO]),
        default=HTTPX,
        show_default=True,
        help="The library to connect with.",
    ),
    click.option("--proxy", metavar="URL", help="A proxy to go through; with httpx only."),
    click.option(
        "--cacert", type=FileName(), metavar="FILE", help="The certificates to trust, in PEM."
    ),
    click.option("--insecure", is_flag=True, help="Trust any certificate. For tests only."),
    click.option(
        "--cert",
        type=FileName(),
        metavar="FILE",
        help="The certificate to show to the server, in PEM.",
    ),
    click.option(
        "--key",
        type=FileName(),
        metavar="FILE",
        help="Its private key, if that is in a file of its own.",
    ),
    click.option(
        "--connect-timeout",
        type=ABOVE_0,
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help="Give up after this long without a connection.",
    ),
    click.option(
        "--read-timeout",
        type=ABOVE_0,
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Give up after this long without a byte.",
    ),
    click.option(
        "--event-timeout",
        type=ABOVE_0,
        metavar="SECONDS",
        help="Give up after this long without an event, whatever else comes.",
    ),
    max_event_bytes_option,
    click.option("--any-type", is_flag=True, help="Read the stream whatever its media type is."),
    click.option(
        "--reconnect",
        is_flag=True,
        help="When the connection is lost, wait a little, reconnect, and resume after the last "
        "event; a line says so each time. Give up after 8 tries that bring nothing new.",
    ),
)


class Printer(Protocol):
    """Prints the stream that a command opens."""

    def on_wait(self, error: RatatoskrError, seconds: float) -> None:
        """Print that the connection was lost; the ``on_wait`` of the stream."""

    async def show(self, stream: Any, /) -> int:
        """Print a stream that is not entered yet, and return the exit code."""
        ...


async def show_stream(
    connector: Connector, printer: Printer, function: str, url: str, *args: Any, **options: Any
) -> int:
    """Open the stream that an adapter's ``function`` gives, print it, and return the exit code.

    Raises CommandError for arguments that the adapter refuses.
    """
    check_url(url)
    async with connector:
        try:
            stream = connector.open(function, url, *args, on_wait=printer.on_wait, **options)
        except (TypeError, ValueError) as error:
            raise CommandError(str(error)) from None
        return await printer.show(stream)


def check_url(url: str, which: str = "the URL") -> None:
    """Raises CommandError for a URL without a scheme, which a client could have a base for."""
    if not url.lower().startswith(("http://", "https://")):
        raise CommandError(f"{which} must start with http:// or https://")


def _ssl_context(
    cacert: str | None, insecure: bool, cert: str | None, key: str | None
) -> ssl.SSLContext | None:
    if key is not None and cert is None:
        raise click.UsageError("--key needs --cert, the certificate that it belongs to")
    if cacert is None and cert is None and not insecure:
        return None
    try:
        if cacert == "":  # which ssl would take for none
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        context = ssl.create_default_context(cafile=cacert)
    except OSError as error:
        wrong = f"cannot use the certificates in {cacert!r}: {certificates_error(error)}"
        raise CommandError(wrong) from None
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if cert is not None:
        try:
            # Without a password there would be a question on the terminal.
            context.load_cert_chain(cert, key, password="")
        except (OSError, ssl.SSLError) as error:
            is_tls = isinstance(error, ssl.SSLError)
            reason = "no certificate with its key, unencrypted" if is_tls else error.strerror
            raise CommandError(f"cannot use the certificate in {cert!r}: {reason}") from None
    return context
