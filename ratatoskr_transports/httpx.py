"""Streams over clients of httpx and its successor httpx2: ``pip install 'ratatoskr-sse[httpx]'``.

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

import sys
from typing import Any, Unpack

import anyio

from ratatoskr_proto import ReconnectPolicy, SseConnectFailed, SseId

from ._adapters.httpx_client import (
    Opener,
    ResponseSource,
    SyncOpener,
    SyncResponseSource,
    opened_over,
)
from ._http.head import refusal
from ._http.request import (
    DEFAULT_HEADERS,
    Headers,
    Request,
    check_headers,
    check_method,
    check_url,
    encode_body,
    quiet_refusals,
    resume_point,
    with_defaults,
)
from ._streams.reconnect import AsyncResumption, OnWait, SyncResumption, check_reconnect
from ._streams.sources import Opened, Refused
from ._streams.streams import (
    EventOptions,
    EventStream,
    SyncEventStream,
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


@quiet_refusals
def stream_turn(
    client: Any,
    url: str,
    *,
    method: str = "POST",
    json: Any = None,
    content: str | bytes | None = None,
    headers: Headers | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    resume_url: str | None = None,
    **options: Unpack[TurnOptions],
) -> TurnStream:
    """Start a turn; ``async with stream_turn(…) as turn`` opens it and closes it again.

    ``client`` is an ``AsyncClient``. ``json`` (any JSON value) or ``content`` (str or bytes) is the
    body of the request; ``headers`` are sent beside our own and the client's. The ``options`` are
    those of ``TurnStream``; where the event timeout is used up in a read, it ends the stream when
    that read does.

    With ``reconnect`` (ReconnectPolicy) a turn that is lost is resumed after its last event, with a
    GET to ``resume_url`` (str, by default ``url``). ``on_wait(error, seconds)``, a plain function,
    is called before each wait. See docs/resume.md.

    Raises TypeError or ValueError for arguments that are not such; the message repeats no value of
    a header. Entering raises SseConnectFailed if there is no stream. See docs/transports.md.
    """
    _check_colour(client, "stream_turn")
    check_reconnect(reconnect, on_wait=on_wait, resume_url=resume_url)
    request = _request(method, url, headers, json, content)
    resuming = request if reconnect is None else request.resuming(resume_url)
    opener = Opener(client, _build, request, resuming)
    return TurnStream.opened_by(opener, _resumption(reconnect, on_wait, opener), **options)


@quiet_refusals
def reconnect_turn(
    client: Any,
    url: str,
    last_sse_id: SseId | str,
    *,
    method: str = "GET",
    headers: Headers | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    **options: Unpack[TurnOptions],
) -> TurnStream:
    """Resume a turn behind its event ``last_sse_id`` (SseId, or its text such as "93:1077").

    It is sent as ``Last-Event-ID``, and what the server sends again is dropped. With ``reconnect``
    the method must be GET, and also the first request is sent again if that is worth it. All else
    is as in ``stream_turn``.
    """
    point = resume_point(last_sse_id)
    _check_colour(client, "reconnect_turn")
    check_reconnect(reconnect, on_wait=on_wait, method=method)
    request = _request(method, url, headers).behind(str(point))
    opener = Opener(client, _build, request, request)
    resumption = _resumption(reconnect, on_wait, opener)
    return TurnStream.opened_by(opener, resumption, resume_from=point, **options)


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
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    **options: Unpack[EventOptions],
) -> EventStream:
    """Read any event stream, without the turn protocol.

    ``last_event_id`` (str) is sent as ``Last-Event-ID`` if it is not empty. The ``options`` are
    those of ``EventStream``. With ``reconnect`` the method must be GET, and the request is sent
    again whenever the stream is lost or ends, until the server answers 204. All else is as in
    ``stream_turn``.
    """
    _check_colour(client, "stream_events")
    check_reconnect(reconnect, on_wait=on_wait, method=method)
    request = _request(method, url, headers, json, content).behind(last_event_id)
    opener = Opener(client, _build, request, request)
    resumption = _resumption(reconnect, on_wait, opener)
    return EventStream.opened_by(opener, resumption, last_event_id=last_event_id, **options)


@quiet_refusals
def stream_turn_sync(
    client: Any,
    url: str,
    *,
    method: str = "POST",
    json: Any = None,
    content: str | bytes | None = None,
    headers: Headers | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    resume_url: str | None = None,
    **options: Unpack[TurnOptions],
) -> SyncTurnStream:
    """As ``stream_turn``, with a ``Client``, for ``with`` and ``for``."""
    _check_colour(client, "stream_turn_sync")
    check_reconnect(reconnect, on_wait=on_wait, resume_url=resume_url)
    request = _request(method, url, headers, json, content)
    resuming = request if reconnect is None else request.resuming(resume_url)
    opener = SyncOpener(client, _build, request, resuming)
    return SyncTurnStream.opened_by(opener, _sync_resumption(reconnect, on_wait, opener), **options)


@quiet_refusals
def reconnect_turn_sync(
    client: Any,
    url: str,
    last_sse_id: SseId | str,
    *,
    method: str = "GET",
    headers: Headers | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    **options: Unpack[TurnOptions],
) -> SyncTurnStream:
    """As ``reconnect_turn``, with a ``Client``, for ``with`` and ``for``."""
    point = resume_point(last_sse_id)
    _check_colour(client, "reconnect_turn_sync")
    check_reconnect(reconnect, on_wait=on_wait, method=method)
    request = _request(method, url, headers).behind(str(point))
    opener = SyncOpener(client, _build, request, request)
    resumption = _sync_resumption(reconnect, on_wait, opener)
    return SyncTurnStream.opened_by(opener, resumption, resume_from=point, **options)


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
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    **options: Unpack[EventOptions],
) -> SyncEventStream:
    """As ``stream_events``, with a ``Client``, for ``with`` and ``for``."""
    _check_colour(client, "stream_events_sync")
    check_reconnect(reconnect, on_wait=on_wait, method=method)
    request = _request(method, url, headers, json, content).behind(last_event_id)
    opener = SyncOpener(client, _build, request, request)
    resumption = _sync_resumption(reconnect, on_wait, opener)
    return SyncEventStream.opened_by(opener, resumption, last_event_id=last_event_id, **options)


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
        opened = opened_over(response, ResponseSource(response))
        kind: Any = TurnStream
    else:
        opened = opened_over(response, SyncResponseSource(response))
        kind = SyncTurnStream
    reason = refusal(response.status_code, opened.headers, str(response.url))
    stream: TurnStream | SyncTurnStream = kind(None, resume_from=resume_from, **options)
    stream.begin(opened if reason is None else Refused(SseConnectFailed(opened.status, "", reason)))
    return stream


def _request(
    method: str,
    url: str,
    headers: Headers | None,
    json: Any = None,
    content: str | bytes | None = None,
) -> Request:
    """Check what may be asked for."""
    body, body_headers = encode_body(json, content)
    given = with_defaults(check_headers(headers), [*body_headers, *DEFAULT_HEADERS])
    return Request(method, url, given, body)


def _build(client: Any, request: Request) -> Any:
    """Build the client's request. Raises TypeError or ValueError for what may not be asked for."""
    check_method(request.method)
    check_url(request.url)
    check_headers(client.headers.raw, reserved=False)
    try:
        built = client.build_request(
            request.method, request.url, headers=request.headers, content=request.body or None
        )
        usable = built.url.scheme in ("http", "https") and built.url.host
    except Exception as error:
        raise ValueError(f"the client cannot make this request ({type(error).__name__})") from None
    if not usable:
        raise ValueError("the URL must start with http:// or https://, or the client's base_url")
    check_headers(built.headers.raw, reserved=False)
    return built


def _resumption(
    reconnect: ReconnectPolicy | None, on_wait: OnWait | None, opener: Opener
) -> AsyncResumption | None:
    if reconnect is None:
        return None
    return AsyncResumption(reconnect, opener, anyio, on_wait=on_wait)


def _sync_resumption(
    reconnect: ReconnectPolicy | None, on_wait: OnWait | None, opener: SyncOpener
) -> SyncResumption | None:
    return None if reconnect is None else SyncResumption(reconnect, opener, on_wait=on_wait)


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
