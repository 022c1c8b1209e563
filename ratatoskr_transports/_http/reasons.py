"""Which reason an exception of a library becomes, the same for every transport.

``REASONS`` names every public exception class of httpx, httpx2, httpcore, anyio, trio and h11, and
those of the standard library that these let through. A class that is not named counts as the first
of its bases that is. See docs/errors.md for the words, docs/faults.md for what leads to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Reason(NamedTuple):
    """The words for an exception before the head of the response and behind it; None where it
    cannot come from a connection.
    """

    opening: str
    reading: str | None


_LOST = Reason("closed", "reset")
_PROTOCOL = Reason("protocol", "protocol")
_CLOSED = Reason("closed", "closed")
_REFUSED = Reason("refused", "reset")
_UNREACHABLE = Reason("unreachable", "reset")
_TLS = Reason("tls", "reset")
_REDIRECT = Reason("redirect", "protocol")
_TIMEOUT = Reason("read timeout", "read timeout")
_CONNECT_TIMEOUT = Reason("connect timeout", "read timeout")

# None: it cannot come from a connection, so it is a bug of the caller's or ours and comes through.
REASONS: dict[str, Reason | None] = {
    "builtins.OSError": _UNREACHABLE,
    "builtins.BlockingIOError": _UNREACHABLE,
    "builtins.BrokenPipeError": _LOST,
    "builtins.ChildProcessError": _UNREACHABLE,
    "builtins.ConnectionAbortedError": _LOST,
    "builtins.ConnectionError": _LOST,
    "builtins.ConnectionRefusedError": _REFUSED,
    "builtins.ConnectionResetError": _LOST,
    "builtins.FileExistsError": _UNREACHABLE,
    "builtins.FileNotFoundError": _UNREACHABLE,
    "builtins.InterruptedError": _UNREACHABLE,
    "builtins.IsADirectoryError": _UNREACHABLE,
    "builtins.NotADirectoryError": _UNREACHABLE,
    "builtins.PermissionError": _UNREACHABLE,
    "builtins.ProcessLookupError": _UNREACHABLE,
    "builtins.TimeoutError": _CONNECT_TIMEOUT,
    "socket.gaierror": Reason("dns", "reset"),
    "socket.herror": Reason("dns", "reset"),
    # Of a host name or port that httpx takes and the operating system does not.
    "builtins.OverflowError": Reason("unreachable", None),
    "builtins.UnicodeError": Reason("dns", None),
    "idna.IDNAError": Reason("redirect", None),
    "ssl.SSLError": _TLS,
    "ssl.SSLCertVerificationError": _TLS,
    "ssl.SSLSyscallError": _TLS,
    "ssl.SSLWantReadError": _TLS,
    "ssl.SSLWantWriteError": _TLS,
    "ssl.SSLEOFError": _LOST,
    "ssl.SSLZeroReturnError": _LOST,
    "anyio.EndOfStream": Reason("closed", "end of stream"),
    "anyio.BrokenResourceError": _LOST,
    "anyio.ClosedResourceError": _CLOSED,
    "anyio.BusyResourceError": None,
    "anyio.ConnectionFailed": _UNREACHABLE,
    "anyio.BrokenWorkerInterpreter": None,
    "anyio.BrokenWorkerProcess": None,
    "anyio.DelimiterNotFound": None,
    "anyio.FutureAlreadyFinished": None,
    "anyio.FutureCancelled": None,
    "anyio.FutureFailed": None,
    "anyio.FutureNotFinished": None,
    "anyio.IncompleteRead": None,
    "anyio.NoEventLoopError": None,
    "anyio.RunFinishedError": None,
    "anyio.TaskCancelled": None,
    "anyio.TaskFailed": None,
    "anyio.TaskNotFinished": None,
    "anyio.TypedAttributeLookupError": None,
    "anyio.WouldBlock": None,
    "trio.BrokenResourceError": _LOST,
    "trio.ClosedResourceError": _CLOSED,
    "trio.BusyResourceError": None,
    "trio.TooSlowError": _CONNECT_TIMEOUT,
    "trio.EndOfChannel": Reason("closed", "end of stream"),
    "trio.NeedHandshakeError": None,
    "trio.RunFinishedError": None,
    "trio.TrioInternalError": None,
    "trio.WouldBlock": None,
    "h11.ProtocolError": _PROTOCOL,
    "h11.LocalProtocolError": _PROTOCOL,
    "h11.RemoteProtocolError": _PROTOCOL,
    "httpcore.ConnectionNotAvailable": _LOST,
    "httpcore.ProxyError": _UNREACHABLE,
    "httpcore.UnsupportedProtocol": _REDIRECT,
    "httpcore.ProtocolError": _PROTOCOL,
    "httpcore.LocalProtocolError": _PROTOCOL,
    "httpcore.RemoteProtocolError": _PROTOCOL,
    "httpcore.TimeoutException": _TIMEOUT,
    "httpcore.PoolTimeout": Reason("pool timeout", "read timeout"),
    "httpcore.ConnectTimeout": _CONNECT_TIMEOUT,
    "httpcore.ReadTimeout": _TIMEOUT,
    "httpcore.WriteTimeout": _TIMEOUT,
    "httpcore.NetworkError": _LOST,
    "httpcore.ConnectError": _UNREACHABLE,
    "httpcore.ReadError": _LOST,
    "httpcore.WriteError": _LOST,
    "httpx.HTTPError": _PROTOCOL,
    "httpx.RequestError": _PROTOCOL,
    "httpx.TransportError": _PROTOCOL,
    "httpx.TimeoutException": _TIMEOUT,
    "httpx.ConnectTimeout": _CONNECT_TIMEOUT,
    "httpx.ReadTimeout": _TIMEOUT,
    "httpx.WriteTimeout": _TIMEOUT,
    "httpx.PoolTimeout": Reason("pool timeout", "read timeout"),
    "httpx.NetworkError": _LOST,
    "httpx.ReadError": _LOST,
    "httpx.WriteError": _LOST,
    "httpx.ConnectError": _UNREACHABLE,
    "httpx.CloseError": _LOST,
    "httpx.ProxyError": _UNREACHABLE,
    # The URL that was asked for has been checked, so it is one that a server sent us to.
    "httpx.UnsupportedProtocol": _REDIRECT,
    "httpx.ProtocolError": _PROTOCOL,
    "httpx.LocalProtocolError": _PROTOCOL,
    "httpx.RemoteProtocolError": _PROTOCOL,
    "httpx.DecodingError": _PROTOCOL,
    "httpx.TooManyRedirects": _REDIRECT,
    "httpx.HTTPStatusError": None,
    "httpx.InvalidURL": _REDIRECT,
    "httpx.CookieConflict": None,
    "httpx.SSEError": None,
    "httpx.StreamError": _CLOSED,
    "httpx.StreamConsumed": _CLOSED,
    "httpx.StreamClosed": _CLOSED,
    "httpx.ResponseNotRead": None,
    "httpx.RequestNotRead": None,
}

_WORDS_OF_CONNECTING = ("dns", "refused", "tls", "connect timeout", "closed")

# What a library says in words only. A test over real connections fails if the words change.
_CUT_BODY = (
    "peer closed connection without sending complete message body",
    "peer unexpectedly closed connection",
)
_NO_ANSWER = "Server disconnected without sending a response"
_BAD_REDIRECT = "Invalid URL in location header"


def reason_of(
    error: BaseException, *, connecting: bool = False, opening: bool = False
) -> str | None:
    """Return the reason that an exception becomes, with its class name in brackets; None if it is
    not one of a connection.

    ``opening`` says whether the head of a response was still to come, ``connecting`` whether even
    the connection was.
    """
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    reason = _named(type(error))
    if reason is None:
        return None
    word = reason.opening if opening or connecting else reason.reading
    if word is None:
        return None
    if connecting:
        word = _connecting_word(error) or word
    # What really happened often stands behind the exception of a library.
    for cause in _chain(error):
        if (opening or connecting) and word == "unreachable":
            word = _connecting_word(cause) or word
        elif word == "protocol" and str(cause).startswith(_CUT_BODY):
            word = "closed" if opening else "cut body"
        elif word == "protocol" and str(cause).startswith(_NO_ANSWER):
            word = "closed"
        elif word == "protocol" and str(cause).startswith(_BAD_REDIRECT):
            word = "redirect"
        elif opening and word == "closed" and _named(type(cause)) == _TLS:
            word = "tls"
    return word if word == "end of stream" else f"{word} ({type(error).__name__})"


def _named(error_class: type[BaseException]) -> Reason | None:
    for each in error_class.__mro__:
        # httpx2 and httpcore2 name their exceptions as httpx and httpcore do.
        name = f"{each.__module__.split('.')[0].removesuffix('2')}.{each.__name__}"
        if name in REASONS:
            return REASONS[name]
    return None


def _connecting_word(error: BaseException) -> str | None:
    """What kept a connection from coming about, if this exception knows it."""
    reason = _named(type(error))
    if reason is None or reason.opening not in _WORDS_OF_CONNECTING:
        return None
    # A connection that is lost while it is made has got as far as TLS.
    return "tls" if reason.opening == "closed" else reason.opening


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, those behind it, and those in groups, each once."""
    todo, seen = [error], set()
    while todo:
        each = todo.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        todo += [cause for cause in (each.__cause__, each.__context__) if cause is not None]
        if isinstance(each, BaseExceptionGroup):
            todo += each.exceptions
