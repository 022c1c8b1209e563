"""The functions of the adapters that speak HTTP through h11, over connections of their own."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, Unpack

from ratatoskr_proto import Done, ReconnectPolicy, ServerError, SseId, Text, Unknown
from ratatoskr_proto.dialects import TURN, Dialect

from .._http.request import quiet_refusals
from .._streams.opening import AsyncOpening, OnWait
from .._streams.streams import EventOptions, EventStream, TurnOptions, TurnStream
from .._typing import DialectEvent, OwnEvent
from .calls import Call, GivenHeaders, resume_point
from .connections import Connect, ConnectionOpener

P = ParamSpec("P")
T = TypeVar("T")


def _as_function(method: Callable[P, T]) -> Callable[P, T]:
    """Make errors of calling a method name the function that an adapter makes of it."""
    method.__qualname__ = method.__name__
    return quiet_refusals(method)


class H11Transport:
    """The functions of an adapter, over its way to connect and its ``library``."""

    def __init__(self, connect: Connect, library: Any) -> None:
        self._connect = connect
        self._library = library

    @_as_function
    def stream_turn(
        self,
        url: str,
        *,
        method: str = "POST",
        json: Any = None,
        content: str | bytes | None = None,
        headers: GivenHeaders | None = None,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        ssl_context: ssl.SSLContext | None = None,
        reconnect: ReconnectPolicy | None = None,
        on_wait: OnWait | None = None,
        resume_url: str | None = None,
        any_media_type: bool = False,
        dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
        **options: Unpack[TurnOptions[OwnEvent]],
    ) -> TurnStream[DialectEvent | OwnEvent]:
        """Start a turn; ``async with stream_turn(…) as turn`` opens it and closes it again.

        ``json`` (any JSON value) or ``content`` (str or bytes) is the body of the request;
        ``headers`` are sent in addition to our own, and a plain function that returns them is
        called for each connection. Timeouts are in seconds, None waits for ever:
        ``connect_timeout`` for DNS, TCP and TLS together, ``read_timeout`` for each send, for the
        head of the response, and then without a byte. ``ssl_context`` is by default that of
        ``ssl.create_default_context()``. With ``any_media_type`` a 200 of any type is read. The
        ``options`` are those of ``TurnStream``.

        With ``reconnect`` (ReconnectPolicy) a turn that is lost is resumed after its last event,
        with a GET to ``resume_url`` (str, by default ``url``). ``on_wait(error, seconds)``, a plain
        function, is called before each wait. See docs/resume.md.

        Raises TypeError or ValueError for invalid arguments; the message repeats no value of a
        header. Entering raises SseConnectFailed if there is no stream. No redirect is followed. See
        docs/transports.md.
        """
        call = Call(
            "stream_turn",
            url,
            method=method,
            json=json,
            content=content,
            headers=headers,
            reconnect=reconnect,
            on_wait=on_wait,
            resume_url=resume_url,
            starts_turn=True,
            dialect=dialect,
            any_media_type=any_media_type,
            options=options,
            known_options=TurnOptions,
        )
        source = self._opening(call, connect_timeout, read_timeout, ssl_context)
        return TurnStream(source, dialect=dialect, **options)

    @_as_function
    def reconnect_turn(
        self,
        url: str,
        last_sse_id: SseId | str,
        *,
        method: str = "GET",
        headers: GivenHeaders | None = None,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        ssl_context: ssl.SSLContext | None = None,
        reconnect: ReconnectPolicy | None = None,
        on_wait: OnWait | None = None,
        any_media_type: bool = False,
        **options: Unpack[TurnOptions[OwnEvent]],
    ) -> TurnStream[Text | Done | ServerError | Unknown | OwnEvent]:
        """Resume a turn after its event ``last_sse_id`` (SseId, or its text such as "93:1077").

        It is sent as ``Last-Event-ID``, and events that the server repeats are dropped. With
        ``reconnect`` the method must be GET, and the first request too is repeated if that is worth
        it. All else is as in ``stream_turn``.
        """
        point = resume_point(last_sse_id)
        call = Call(
            "reconnect_turn",
            url,
            method=method,
            headers=headers,
            last_event_id=str(point),
            reconnect=reconnect,
            on_wait=on_wait,
            any_media_type=any_media_type,
            options=options,
            known_options=TurnOptions,
        )
        source = self._opening(call, connect_timeout, read_timeout, ssl_context)
        return TurnStream(source, resume_from=point, **options)

    @_as_function
    def stream_events(
        self,
        url: str,
        *,
        method: str = "GET",
        json: Any = None,
        content: str | bytes | None = None,
        headers: GivenHeaders | None = None,
        last_event_id: str = "",
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        ssl_context: ssl.SSLContext | None = None,
        reconnect: ReconnectPolicy | None = None,
        on_wait: OnWait | None = None,
        resume_url: str | None = None,
        any_media_type: bool = False,
        **options: Unpack[EventOptions],
    ) -> EventStream:
        """Read any event stream, without the turn protocol.

        ``last_event_id`` (str) is sent as ``Last-Event-ID`` if it is not empty. The ``options`` are
        those of ``EventStream``. With ``reconnect`` the method must be GET, and the request is sent
        again whenever the stream is lost or ends, until the server answers 204; with ``resume_url``
        (str) any method will do, and the stream is resumed with a GET to that URL, once it has had
        an id. All else is as in ``stream_turn``.
        """
        call = Call(
            "stream_events",
            url,
            method=method,
            json=json,
            content=content,
            headers=headers,
            last_event_id=last_event_id,
            reconnect=reconnect,
            on_wait=on_wait,
            resume_url=resume_url,
            any_media_type=any_media_type,
            options=options,
            known_options=EventOptions,
        )
        source = self._opening(call, connect_timeout, read_timeout, ssl_context)
        return EventStream(source, last_event_id=last_event_id, **options)

    def _opening(
        self,
        call: Call,
        connect_timeout: float | None,
        read_timeout: float | None,
        ssl_context: ssl.SSLContext | None,
    ) -> AsyncOpening:
        opener = ConnectionOpener(
            self._connect, self._library, call, connect_timeout, read_timeout, ssl_context
        )
        return AsyncOpening(opener, self._library, call.reconnecting)
