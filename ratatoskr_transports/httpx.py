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

import sys
from typing import Any, Unpack

from ratatoskr_proto import SseConnectFailed, SseId

from ._head import refusal
from ._httpx_source import Opener, ResponseSource, SyncOpener, SyncResponseSource, opened_over
from ._loops import Opened
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
    return TurnStream.opened_by(Opener(client, request), **options)


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
    return TurnStream.opened_by(Opener(client, request), resume_from=point, **options)


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
    opener = Opener(client, request)
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
    return SyncTurnStream.opened_by(SyncOpener(client, request), **options)


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
    return SyncTurnStream.opened_by(SyncOpener(client, request), resume_from=point, **options)


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
    opener = SyncOpener(client, request)
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
        opened = opened_over(response, ResponseSource(response))
        kind: Any = TurnStream
    else:
        opened = opened_over(response, SyncResponseSource(response))
        kind = SyncTurnStream
    reason = refusal(response.status_code, opened.headers, str(response.url))
    stream: TurnStream | SyncTurnStream = kind(None, resume_from=resume_from, **options)
    stream.begin(opened if reason is None else SseConnectFailed(opened.status, "", reason))
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
