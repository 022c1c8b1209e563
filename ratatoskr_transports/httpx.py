"""Streams over clients of httpx and its successor httpx2: ``pip install 'ratatoskr-sse[httpx]'``.

    from ratatoskr_transports.httpx import stream_turn

    timeout = httpx.Timeout(connect=10, read=60, write=60, pool=10)
    async with httpx.AsyncClient(timeout=timeout) as client:
        async with stream_turn(client, url, json={"message": "Hello"}) as turn:
            async for event in turn:
                ...

Timeouts, proxies, TLS and redirects are those of the client; its default timeout of 5 seconds is
too short for a slow first token. Async clients are supported on asyncio: under trio, httpx itself
leaves generators open, and Python warns about them; use ``ratatoskr_transports.trio`` there.
"""

from __future__ import annotations

from typing import Any, Unpack

import anyio

from ratatoskr_proto import Done, ReconnectPolicy, ServerError, SseId, Text, Unknown
from ratatoskr_proto.dialects import TURN, Dialect

from ._adapters.calls import Call, GivenHeaders, check_options, resume_point
from ._adapters.httpx_client import (
    Opener,
    SyncOpener,
    async_body_of,
    check_head,
    check_response,
    sync_body_of,
)
from ._adapters.httpx_types import AsyncClient, Client, Response, Url, check_client, text_of
from ._http.request import quiet_refusals
from ._streams.opening import AsyncOpening, OnWait, SyncOpening
from ._streams.streams import (
    EventOptions,
    EventStream,
    SyncEventStream,
    SyncTurnStream,
    TurnOptions,
    TurnStream,
)
from ._typing import DialectEvent, OwnEvent

__all__ = [
    "reconnect_turn",
    "reconnect_turn_sync",
    "stream_events",
    "stream_events_sync",
    "stream_turn",
    "stream_turn_sync",
    "wrap",
    "wrap_events",
    "wrap_events_sync",
    "wrap_sync",
]


@quiet_refusals
def stream_turn(
    client: AsyncClient,
    url: str | Url,
    *,
    method: str = "POST",
    json: Any = None,
    content: str | bytes | None = None,
    headers: GivenHeaders | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    resume_url: str | Url | None = None,
    any_media_type: bool = False,
    dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
    **options: Unpack[TurnOptions[OwnEvent]],
) -> TurnStream[DialectEvent | OwnEvent]:
    """Start a turn; ``async with stream_turn(…) as turn`` opens it and closes it again.

    ``client`` is an ``AsyncClient``. ``url`` (str, or a ``URL`` of the library) may be relative to
    the client's ``base_url``. ``json`` (any JSON value) or ``content`` (str or bytes) is the body
    of the request; ``headers`` are sent in addition to our own and the client's, and a plain
    function that returns them is called for each connection. With ``any_media_type`` a 200 of any
    type is read. The ``options`` are those of ``TurnStream``; the head of the response must come
    within the event timeout too.

    With ``reconnect`` (ReconnectPolicy) a turn that is lost is resumed after its last event, with a
    GET to ``resume_url`` (str, by default ``url``). ``on_wait(error, seconds)``, a plain function,
    is called before each wait. See docs/resume.md.

    Raises TypeError or ValueError for invalid arguments; the message repeats no value of
    a header. Entering raises SseConnectFailed if there is no stream. See docs/transports.md.
    """
    check_client(client, "stream_turn")
    call = Call(
        "stream_turn",
        text_of(url),
        method=method,
        json=json,
        content=content,
        headers=headers,
        reconnect=reconnect,
        on_wait=on_wait,
        resume_url=text_of(resume_url),
        starts_turn=True,
        dialect=dialect,
        any_media_type=any_media_type,
        options=options,
        known_options=TurnOptions,
    )
    return TurnStream(_opening(client, call), dialect=dialect, **options)


@quiet_refusals
def reconnect_turn(
    client: AsyncClient,
    url: str | Url,
    last_sse_id: SseId | str,
    *,
    method: str = "GET",
    headers: GivenHeaders | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    any_media_type: bool = False,
    **options: Unpack[TurnOptions[OwnEvent]],
) -> TurnStream[Text | Done | ServerError | Unknown | OwnEvent]:
    """Resume a turn after its event ``last_sse_id`` (SseId, or its text such as "93:1077").

    It is sent as ``Last-Event-ID``, and events that the server repeats are dropped. With
    ``reconnect`` the method must be GET, and the first request too is repeated if that is worth it.
    All else is as in ``stream_turn``.
    """
    check_client(client, "reconnect_turn")
    point = resume_point(last_sse_id)
    call = Call(
        "reconnect_turn",
        text_of(url),
        method=method,
        headers=headers,
        last_event_id=str(point),
        reconnect=reconnect,
        on_wait=on_wait,
        any_media_type=any_media_type,
        options=options,
        known_options=TurnOptions,
    )
    return TurnStream(_opening(client, call), resume_from=point, **options)


@quiet_refusals
def stream_events(
    client: AsyncClient,
    url: str | Url,
    *,
    method: str = "GET",
    json: Any = None,
    content: str | bytes | None = None,
    headers: GivenHeaders | None = None,
    last_event_id: str = "",
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    resume_url: str | Url | None = None,
    any_media_type: bool = False,
    **options: Unpack[EventOptions],
) -> EventStream:
    """Read any event stream, without the turn protocol.

    ``last_event_id`` (str) is sent as ``Last-Event-ID`` if it is not empty. The ``options`` are
    those of ``EventStream``. With ``reconnect`` the method must be GET, and the request is repeated
    whenever the stream is lost or ends, until the server answers 204; with ``resume_url`` any
    method will do, and the stream is resumed with a GET to that URL, once it has had an id. All
    else is as in ``stream_turn``.
    """
    check_client(client, "stream_events")
    call = Call(
        "stream_events",
        text_of(url),
        method=method,
        json=json,
        content=content,
        headers=headers,
        last_event_id=last_event_id,
        reconnect=reconnect,
        on_wait=on_wait,
        resume_url=text_of(resume_url),
        any_media_type=any_media_type,
        options=options,
        known_options=EventOptions,
    )
    return EventStream(_opening(client, call), last_event_id=last_event_id, **options)


@quiet_refusals
def stream_turn_sync(
    client: Client,
    url: str | Url,
    *,
    method: str = "POST",
    json: Any = None,
    content: str | bytes | None = None,
    headers: GivenHeaders | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    resume_url: str | Url | None = None,
    any_media_type: bool = False,
    dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
    **options: Unpack[TurnOptions[OwnEvent]],
) -> SyncTurnStream[DialectEvent | OwnEvent]:
    """As ``stream_turn``, with a ``Client``, for ``with`` and ``for``.

    Where the event timeout is used up in a read, it ends the stream when that read does.
    """
    check_client(client, "stream_turn_sync")
    call = Call(
        "stream_turn_sync",
        text_of(url),
        method=method,
        json=json,
        content=content,
        headers=headers,
        reconnect=reconnect,
        on_wait=on_wait,
        resume_url=text_of(resume_url),
        starts_turn=True,
        dialect=dialect,
        any_media_type=any_media_type,
        options=options,
        known_options=TurnOptions,
    )
    return SyncTurnStream(_sync_opening(client, call), dialect=dialect, **options)


@quiet_refusals
def reconnect_turn_sync(
    client: Client,
    url: str | Url,
    last_sse_id: SseId | str,
    *,
    method: str = "GET",
    headers: GivenHeaders | None = None,
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    any_media_type: bool = False,
    **options: Unpack[TurnOptions[OwnEvent]],
) -> SyncTurnStream[Text | Done | ServerError | Unknown | OwnEvent]:
    """As ``reconnect_turn``, with a ``Client``, for ``with`` and ``for``."""
    check_client(client, "reconnect_turn_sync")
    point = resume_point(last_sse_id)
    call = Call(
        "reconnect_turn_sync",
        text_of(url),
        method=method,
        headers=headers,
        last_event_id=str(point),
        reconnect=reconnect,
        on_wait=on_wait,
        any_media_type=any_media_type,
        options=options,
        known_options=TurnOptions,
    )
    return SyncTurnStream(_sync_opening(client, call), resume_from=point, **options)


@quiet_refusals
def stream_events_sync(
    client: Client,
    url: str | Url,
    *,
    method: str = "GET",
    json: Any = None,
    content: str | bytes | None = None,
    headers: GivenHeaders | None = None,
    last_event_id: str = "",
    reconnect: ReconnectPolicy | None = None,
    on_wait: OnWait | None = None,
    resume_url: str | Url | None = None,
    any_media_type: bool = False,
    **options: Unpack[EventOptions],
) -> SyncEventStream:
    """As ``stream_events``, with a ``Client``, for ``with`` and ``for``."""
    check_client(client, "stream_events_sync")
    call = Call(
        "stream_events_sync",
        text_of(url),
        method=method,
        json=json,
        content=content,
        headers=headers,
        last_event_id=last_event_id,
        reconnect=reconnect,
        on_wait=on_wait,
        resume_url=text_of(resume_url),
        any_media_type=any_media_type,
        options=options,
        known_options=EventOptions,
    )
    return SyncEventStream(_sync_opening(client, call), last_event_id=last_event_id, **options)


def wrap(
    response: Response,
    *,
    resume_from: SseId | None = None,
    dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
    any_media_type: bool = False,
    **options: Unpack[TurnOptions[OwnEvent]],
) -> TurnStream[DialectEvent | OwnEvent]:
    """Read a turn from a ``Response`` that an async client gave for ``stream=True``, or from one
    that has been read.

    The ``options`` are those of ``TurnStream``. Raises SseConnectFailed, with an empty ``body``, if
    it is not an event stream; TypeError or ValueError for invalid arguments.
    """
    check_response(response, "wrap")
    check_options("wrap", options, TurnOptions)
    body = async_body_of(response)
    stream = TurnStream(body, resume_from=resume_from, dialect=dialect, **options)
    check_head(body, any_media_type)
    return stream


def wrap_sync(
    response: Response,
    *,
    resume_from: SseId | None = None,
    dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
    any_media_type: bool = False,
    **options: Unpack[TurnOptions[OwnEvent]],
) -> SyncTurnStream[DialectEvent | OwnEvent]:
    """As ``wrap``, with a ``Response`` of a sync client."""
    check_response(response, "wrap_sync")
    check_options("wrap_sync", options, TurnOptions)
    body = sync_body_of(response)
    stream = SyncTurnStream(body, resume_from=resume_from, dialect=dialect, **options)
    check_head(body, any_media_type)
    return stream


def wrap_events(
    response: Response,
    *,
    last_event_id: str = "",
    any_media_type: bool = False,
    **options: Unpack[EventOptions],
) -> EventStream:
    """As ``wrap``, for any event stream; the ``options`` are those of ``EventStream``."""
    check_response(response, "wrap_events")
    check_options("wrap_events", options, EventOptions)
    body = async_body_of(response)
    stream = EventStream(body, last_event_id=last_event_id, **options)
    check_head(body, any_media_type)
    return stream


def wrap_events_sync(
    response: Response,
    *,
    last_event_id: str = "",
    any_media_type: bool = False,
    **options: Unpack[EventOptions],
) -> SyncEventStream:
    """As ``wrap_events``, with a ``Response`` of a sync client."""
    check_response(response, "wrap_events_sync")
    check_options("wrap_events_sync", options, EventOptions)
    body = sync_body_of(response)
    stream = SyncEventStream(body, last_event_id=last_event_id, **options)
    check_head(body, any_media_type)
    return stream


def _opening(client: AsyncClient, call: Call) -> AsyncOpening:
    return AsyncOpening(Opener(client, call), anyio, call.reconnecting)


def _sync_opening(client: Client, call: Call) -> SyncOpening:
    return SyncOpening(SyncOpener(client, call), call.reconnecting)
