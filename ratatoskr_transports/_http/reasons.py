"""Which reason an exception of a library becomes, the same for every transport.

``REASONS`` names the exception classes of httpx, httpx2, httpcore, h2, anyio, trio and h11 that
make a difference, and those of the standard library that these let through. A class that is not
named counts as the first of its base classes that is. See docs/errors.md for the words and
docs/faults.md for what leads to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ratatoskr_proto import SseConnectFailed


class Words(NamedTuple):
    """The words for an exception before the head of the response, and after it; None where it
    cannot come from a connection.
    """

    opening: str
    reading: str | None


_LOST = Words("closed", "reset")
_PROTOCOL = Words("protocol", "protocol")
_CLOSED = Words("closed", "closed")
_UNREACHABLE = Words("unreachable", "reset")
_TLS = Words("tls", "reset")
_REDIRECT = Words("redirect", "protocol")
_TIMEOUT = Words("read timeout", "read timeout")
_CONNECT_TIMEOUT = Words("connect timeout", "read timeout")
_POOL_TIMEOUT = Words("pool timeout", "read timeout")

# None: it cannot come from a connection, so it is a bug of the caller's or ours and comes through.
REASONS: dict[str, Words | None] = {
    "builtins.OSError": _UNREACHABLE,
    "builtins.ConnectionError": _LOST,
    "builtins.ConnectionRefusedError": Words("refused", "reset"),
    "builtins.TimeoutError": _CONNECT_TIMEOUT,
    "socket.gaierror": Words("dns", "reset"),
    "socket.herror": Words("dns", "reset"),
    # A host name or port that httpx takes and the operating system does not.
    "builtins.OverflowError": Words("unreachable", None),
    "builtins.UnicodeError": Words("dns", None),
    "idna.IDNAError": Words("redirect", None),
    # TLS itself has no objection: the connection is gone, or there is nothing to read yet.
    "ssl.SSLEOFError": _LOST,
    "ssl.SSLZeroReturnError": _LOST,
    "ssl.SSLSyscallError": _LOST,
    "ssl.SSLWantReadError": _LOST,
    "ssl.SSLWantWriteError": _LOST,
    "ssl.SSLError": _TLS,
    "anyio.EndOfStream": Words("closed", "end of stream"),
    "anyio.BrokenResourceError": _LOST,
    "anyio.ClosedResourceError": _CLOSED,
    "trio.BrokenResourceError": _LOST,
    "trio.ClosedResourceError": _CLOSED,
    "trio.TooSlowError": _CONNECT_TIMEOUT,
    "trio.EndOfChannel": Words("closed", "end of stream"),
    "h11.ProtocolError": _PROTOCOL,
    # httpcore passes the events and errors of h2 on as arguments of its own exceptions.
    "h2.H2Error": _PROTOCOL,
    "h2.StreamClosedError": _LOST,
    "h2.StreamReset": _LOST,
    "h2.ConnectionTerminated": _LOST,
    "httpcore.ConnectionNotAvailable": _LOST,
    "httpcore.ProxyError": _UNREACHABLE,
    "httpcore.UnsupportedProtocol": _REDIRECT,
    "httpcore.ProtocolError": _PROTOCOL,
    "httpcore.TimeoutException": _TIMEOUT,
    "httpcore.PoolTimeout": _POOL_TIMEOUT,
    "httpcore.ConnectTimeout": _CONNECT_TIMEOUT,
    "httpcore.NetworkError": _LOST,
    "httpcore.ConnectError": _UNREACHABLE,
    "httpx.HTTPError": _PROTOCOL,
    "httpx.HTTPStatusError": None,
    "httpx.SSEError": None,
    "httpx.TimeoutException": _TIMEOUT,
    "httpx.PoolTimeout": _POOL_TIMEOUT,
    "httpx.ConnectTimeout": _CONNECT_TIMEOUT,
    "httpx.NetworkError": _LOST,
    "httpx.ConnectError": _UNREACHABLE,
    "httpx.ProxyError": _UNREACHABLE,
    # The URL that was asked for has been checked, so it is one that a server sent us to.
    "httpx.UnsupportedProtocol": _REDIRECT,
    "httpx.InvalidURL": _REDIRECT,
    "httpx.TooManyRedirects": _REDIRECT,
    "httpx.StreamError": _CLOSED,
    "httpx.ResponseNotRead": None,
    "httpx.RequestNotRead": None,
}

# They name their exceptions as the first generation did.
_FIRST_GENERATION = {"httpx2": "httpx", "httpcore2": "httpcore"}

# What can keep a connection from being made, where there is a more exact word than "unreachable".
_WORDS_OF_CONNECTING = ("dns", "refused", "tls", "connect timeout", "closed")

# Where a library tells faults apart by its message alone. Tests over real connections fail if a
# message changes.
_CUT_BODY = (
    "peer closed connection without sending complete message body",
    "peer unexpectedly closed connection",
    "Server disconnected",
)
_BAD_REDIRECT = "Invalid URL in location header"
_REFUSED_BY_PROXY = re.compile(r"([1-5]\d\d) ")


def failure_of(error: Exception) -> SseConnectFailed | None:
    """Return the failure that an exception of a client becomes before the head of a response; None
    if it is not an exception of a connection.
    """
    if _name(type(error)) == "httpx.ProxyError":
        # CONNECT was answered, but not by 200. Only the message knows the status.
        refused = _REFUSED_BY_PROXY.match(str(error))
        if refused is not None:
            return SseConnectFailed(int(refused[1]), "", "status")
    reason = reason_of(error, opening=True)
    return None if reason is None else SseConnectFailed(None, "", reason)


def reason_of(error: BaseException, *, opening: bool = False) -> str | None:
    """Return the reason that an exception becomes, with its class name in brackets; None if it is
    not an exception of a connection.

    ``opening`` says that the head of a response was still to come.
    """
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    word = _word(_words(type(error)), opening)
    if word is None:
        return None
    # The exception of a library is often vague, and its cause knows what happened.
    for cause in _chain(error):
        if word == "unreachable" and opening:
            word = _connecting_word(cause) or word
        elif word == "closed" and opening and _words(type(cause)) is _TLS:
            word = "tls"  # the peer's alert, which looks like any other loss to a library
        elif word == "protocol":
            word = _loss(cause, opening) or word
    return word if word == "end of stream" else f"{word} ({type(error).__name__})"


def _name(error_class: type) -> str:
    library = error_class.__module__.partition(".")[0]
    return f"{_FIRST_GENERATION.get(library, library)}.{error_class.__name__}"


def _words(error_class: type) -> Words | None:
    for each in error_class.__mro__:
        if _name(each) in REASONS:
            return REASONS[_name(each)]
    return None


def _word(words: Words | None, opening: bool) -> str | None:
    if words is None:
        return None
    return words.opening if opening else words.reading


def _connecting_word(error: BaseException) -> str | None:
    """The word for what kept a connection from being made, if this exception tells."""
    word = _word(_words(type(error)), opening=True)
    return word if word in _WORDS_OF_CONNECTING else None


def _loss(error: BaseException, opening: bool) -> str | None:
    """The word for what really happened where a library speaks of a breach of the protocol, if that
    was something else.
    """
    for argument in error.args:
        if not isinstance(argument, str):  # it may be an event or an error of h2
            return _word(_words(type(argument)), opening)
        if argument.startswith(_CUT_BODY):
            return "closed" if opening else "cut body"
        if argument.startswith(_BAD_REDIRECT):
            return "redirect"
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, its causes, and those in groups, each once."""
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
