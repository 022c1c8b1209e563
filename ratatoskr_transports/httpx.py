"""Streams over clients of httpx, and of its successor httpx2: ``pip install 'ratatoskr[httpx]'``.

    from ratatoskr_transports.httpx import stream_turn

    timeout = httpx.Timeout(connect=10, read=60, write=60, pool=10)
    async with httpx.AsyncClient(timeout=timeout) as client:
        async with stream_turn(client, url, json={"message": "Hello"}) as turn:
            async for event in turn:
                ...

Timeouts, proxies, TLS and redirects are those of the client; its default timeout of 5 seconds is
too short for a slow first token. Async clients are supported on asyncio: under trio, httpx itself
leaves generators behind that warn; use ``ratatoskr_transports.trio`` there.
"""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Unpack

import anyio

from ratatoskr_proto import RatatoskrError, SseConnectFailed, SseId

from ._body import Inflater
from ._head import ERROR_BODY_SECONDS, MAX_ERROR_BODY, read_headers, refusal
from ._reasons import reason_of
from ._request import (
    DEFAULT_HEADERS,
    Headers,
    check_headers,
    check_method,
    check_url,
    encode_body,
    last_event_id_headers,
    quiet_refusals,
    resume_point,
    with_defaults,
)
from ._streams import (
    EventOptions,
    EventStream,
    Opened,
    Source,
    SyncEventStream,
    SyncSource,
    SyncTurnStream,
    TurnOptions,
    TurnStream,
)

__all__ = [
    "reconnect_turn",
    "reconnect_turn_sync",
    "stream_events",
    "stream_events_sync",
    "stream_turn",
    "stream_turn_sync",
    "wrap",
]

_DRAIN_BYTES = 64 * 1024
_DRAIN_SECONDS = 0.1


@quiet_refusals
def stream_turn(
    client: Any,
    url: str,
    *,
    method: str = "POST",
    json: Any = None,
    content: str | bytes | None = None,
    headers: Headers | None = None,
    **options: Unpack[TurnOptions],
) -> TurnStream:
    """Start a turn; ``async with stream_turn(…) as turn`` opens it and closes it again.

    ``client`` is an ``AsyncClient``. ``json`` (any JSON value) or ``content`` (str or bytes) is the
    body of the request; ``headers`` are sent beside our own and the client's. The ``options`` are
    those of ``TurnStream``; where the event timeout is used up in a read, it ends the stream when
    that read does.

    Raises TypeError or ValueError for arguments that are not such; the message repeats no value of
    a header. Entering raises SseConnectFailed if there is no stream. See docs/transports.md.
    """
    request = _request(client, "stream_turn", method, url, headers, json, content)
    return TurnStream.opened_by(_Opener(client, request), **options)


@quiet_refusals
def reconnect_turn(
    client: Any,
    url: str,
    last_sse_id: SseId | str,
    *,
    method: str = "GET",
    headers: Headers | None = None,
    **options: Unpack[TurnOptions],
) -> TurnStream:
    """Resume a turn behind its event ``last_sse_id`` (SseId, or its text such as "93:1077").

    It is sent as ``Last-Event-ID``, and what the server sends again is dropped. All else is as in
    ``stream_turn``.
    """
    point = resume_point(last_sse_id)
    every = [*check_headers(headers), *last_event_id_headers(str(point))]
    request = _request(client, "reconnect_turn", method, url, every)
    return TurnStream.opened_by(_Opener(client, request), resume_from=point, **options)


@quiet_refusals
def stream_events(
    client: Any,
    url: str,
    *,
    method: str = "GET",
    json: Any = None,
    content: str | bytes | None = None,
    headers: Headers | None = None,
    last_event_id: str = "",
    **options: Unpack[EventOptions],
) -> EventStream:
    """Read any event stream, without the turn protocol.

    ``last_event_id`` (str) is sent as ``Last-Event-ID`` if it is not empty. The ``options`` are
    those of ``EventStream``. All else is as in ``stream_turn``.
    """
    every = [*check_headers(headers), *last_event_id_headers(last_event_id)]
    request = _request(client, "stream_events", method, url, every, json, content)
    opener = _Opener(client, request)
    return EventStream.opened_by(opener, last_event_id=last_event_id, **options)


@quiet_refusals
def stream_turn_sync(
    client: Any,
    url: str,
    *,
    method: str = "POST",
    json: Any = None,
    content: str | bytes | None = None,
    headers: Headers | None = None,
    **options: Unpack[TurnOptions],
) -> SyncTurnStream:
    """As ``stream_turn``, with a ``Client``, for ``with`` and ``for``."""
    request = _request(client, "stream_turn_sync", method, url, headers, json, content)
    return SyncTurnStream.opened_by(_SyncOpener(client, request), **options)


@quiet_refusals
def reconnect_turn_sync(
    client: Any,
    url: str,
    last_sse_id: SseId | str,
    *,
    method: str = "GET",
    headers: Headers | None = None,
    **options: Unpack[TurnOptions],
) -> SyncTurnStream:
    """As ``reconnect_turn``, with a ``Client``, for ``with`` and ``for``."""
    point = resume_point(last_sse_id)
    every = [*check_headers(headers), *last_event_id_headers(str(point))]
    request = _request(client, "reconnect_turn_sync", method, url, every)
    return SyncTurnStream.opened_by(_SyncOpener(client, request), resume_from=point, **options)


@quiet_refusals
def stream_events_sync(
    client: Any,
    url: str,
    *,
    method: str = "GET",
    json: Any = None,
    content: str | bytes | None = None,
    headers: Headers | None = None,
    last_event_id: str = "",
    **options: Unpack[EventOptions],
) -> SyncEventStream:
    """As ``stream_events``, with a ``Client``, for ``with`` and ``for``."""
    every = [*check_headers(headers), *last_event_id_headers(last_event_id)]
    request = _request(client, "stream_events_sync", method, url, every, json, content)
    opener = _SyncOpener(client, request)
    return SyncEventStream.opened_by(opener, last_event_id=last_event_id, **options)


def wrap(
    response: Any, *, resume_from: SseId | None = None, **options: Unpack[TurnOptions]
) -> TurnStream | SyncTurnStream:
    """Read a turn from a ``Response`` that is open already, sent with ``stream=True``.

    Returns a ``TurnStream``, or a ``SyncTurnStream`` for the response of a sync client. Raises
    SseConnectFailed if it is no event stream, with an empty ``body``; TypeError or ValueError for
    arguments that are not such.
    """
    if not hasattr(response, "aiter_raw") or not hasattr(response, "stream"):
        raise TypeError(f"wrap() takes a Response of httpx, not {type(response).__name__}")
    if response.is_closed or response.is_stream_consumed:
        raise ValueError("the response has been read or closed; send it with stream=True")
    opened: Opened[Any]
    if hasattr(response.stream, "__aiter__"):
        opened = _opened(response, _Source(response))
        kind: Any = TurnStream
    else:
        opened = _opened(response, _SyncSource(response))
        kind = SyncTurnStream
    reason = refusal(response.status_code, opened.headers, str(response.url))
    if reason is not None:
        raise SseConnectFailed(response.status_code, "", reason)
    stream: TurnStream | SyncTurnStream = kind(None, resume_from=resume_from, **options)
    stream.begin(opened)
    return stream


def _request(
    client: Any,
    function: str,
    method: str,
    url: str,
    headers: Headers | None,
    json: Any = None,
    content: str | bytes | None = None,
) -> Any:
    """Check what may be asked for and build the client's request for it."""
    _check_colour(client, function)
    check_method(method)
    check_url(url)
    body, body_headers = encode_body(json, content)
    given = with_defaults(check_headers(headers), [*body_headers, *DEFAULT_HEADERS])
    check_headers(client.headers.raw, reserved=False)
    try:
        request = client.build_request(method, url, headers=given, content=body or None)
        usable = request.url.scheme in ("http", "https") and request.url.host
    except Exception as error:
        raise ValueError(f"the client cannot make this request ({type(error).__name__})") from None
    if not usable:
        raise ValueError("the URL must start with http:// or https://, or the client's base_url")
    check_headers(request.headers.raw, reserved=False)
    return request


def _check_colour(client: Any, function: str) -> None:
    """Raise TypeError for what is no client, or one of the wrong colour."""
    sync = function.endswith("_sync")
    for each in type(client).__mro__:
        # The generation that the client is of is loaded; the other one need not be there.
        library = sys.modules.get(each.__module__.partition(".")[0])
        if library is not None and library.__name__ in ("httpx", "httpx2"):
            if isinstance(client, library.Client if sync else library.AsyncClient):
                return
            other = function.removesuffix("_sync") if sync else f"{function}_sync"
            raise TypeError(f"{function}() cannot use this {each.__name__}; use {other}()")
    wanted = "Client" if sync else "AsyncClient"
    raise TypeError(f"client must be an httpx.{wanted}, not {type(client).__name__}")


def _opened(response: Any, source: Any) -> Opened[Any]:
    return Opened(source, response.status_code, read_headers(response.headers.raw))


class _ErrorBody:
    """The start of the body of a response that is no event stream."""

    def __init__(self, opened: Opened[Any]) -> None:
        self._inflater = Inflater(opened.headers.get("content-encoding", ""))
        self._start = b""
        self._end = time.monotonic() + ERROR_BODY_SECONDS

    def wants_more_after(self, data: bytes) -> bool:
        """Take bytes; say whether more of them are of use."""
        self._start += self._inflater.start_of(data, MAX_ERROR_BODY)
        in_time = time.monotonic() < self._end
        return bool(data) and in_time and len(self._start) < MAX_ERROR_BODY

    def text(self) -> str:
        return self._start[:MAX_ERROR_BODY].decode("utf-8", "replace")


class _Opener:
    """Sends the request and reads the head, when it is called. Its ``repr()`` shows nothing."""

    def __init__(self, client: Any, request: Any) -> None:
        self._client = client
        self._request = request

    async def __call__(self) -> Opened[Source] | RatatoskrError:
        try:
            response = await self._client.send(self._request, stream=True)
        except Exception as error:
            reason = reason_of(error, opening=True)
            if reason is None:
                raise
            return SseConnectFailed(None, "", reason)
        source = _Source(response)
        opened = _opened(response, source)
        reason = refusal(opened.status, opened.headers, str(response.url))
        if reason is None:
            return opened
        body = _ErrorBody(opened)
        try:
            with anyio.move_on_after(ERROR_BODY_SECONDS), contextlib.suppress(Exception):
                while body.wants_more_after(await source.receive()):
                    pass
        finally:
            await source.aclose()
        return SseConnectFailed(opened.status, body.text(), reason)


class _SyncOpener:
    """As ``_Opener``, for sync clients."""

    def __init__(self, client: Any, request: Any) -> None:
        self._client = client
        self._request = request

    def __call__(self) -> Opened[SyncSource] | RatatoskrError:
        try:
            response = self._client.send(self._request, stream=True)
        except Exception as error:
            reason = reason_of(error, opening=True)
            if reason is None:
                raise
            return SseConnectFailed(None, "", reason)
        source = _SyncSource(response)
        opened = _opened(response, source)
        reason = refusal(opened.status, opened.headers, str(response.url))
        if reason is None:
            return opened
        body = _ErrorBody(opened)
        try:
            with contextlib.suppress(Exception):
                while body.wants_more_after(source.receive()):
                    pass
        finally:
            source.close()
        return SseConnectFailed(opened.status, body.text(), reason)


class _Source:
    """The raw body of a response; its content coding is undone by us, and within bounds."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._chunks = response.aiter_raw()
        self._reading = False

    async def receive(self) -> bytes:
        """Return the next bytes of the body."""
        self._reading = True
        try:
            async for chunk in self._chunks:
                if chunk:
                    return bytes(chunk)
            return b""
        finally:
            self._reading = False

    async def drain(self) -> None:
        """Read the end of the body, if it comes at once, so that the connection can be reused."""
        left = _DRAIN_BYTES
        with anyio.move_on_after(_DRAIN_SECONDS), contextlib.suppress(Exception):
            while left > 0 and (data := await self.receive()):
                left -= len(data)

    async def aclose(self) -> None:
        """Close the response at once."""
        if not self._reading:  # else another task is in it, and ends it when the response closes
            await self._chunks.aclose()
        await self._response.aclose()


class _SyncSource:
    """As ``_Source``, for sync clients."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._chunks = response.iter_raw()

    def receive(self) -> bytes:
        """Return the next bytes of the body."""
        for chunk in self._chunks:
            if chunk:
                return bytes(chunk)
        return b""

    def close(self) -> None:
        """Close the response at once."""
        self._response.close()
