"""The streams that are iterated over: turns and events, each for async and for sync code.

See docs/transports.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypedDict

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    DEFAULT_MAX_EVENT_BYTES,
    Comment,
    EventStreamDecoder,
    EventTypes,
    ServerSentEvent,
    SseId,
    TurnDecoder,
    TurnState,
)
from ratatoskr_proto.dialects import TURN, Dialect

from .._typing import DialectEvent, OwnEvent, TurnEvent
from .arguments import check_plain_function
from .cursor import EventCursor, TurnCursor
from .loops import AsyncStream, SyncStream
from .sources import Source, SyncSource

# As a default it fits whatever type a caller asks for.
_EVENT_TYPES: Any = DEFAULT_EVENT_TYPES


class TurnOptions(TypedDict, Generic[OwnEvent], total=False):
    """The options of a turn that the functions of all adapters take, see ``TurnStream``."""

    event_types: EventTypes[OwnEvent]
    loads: Callable[[str], Any]
    max_event_bytes: int
    event_timeout: float | None


class EventOptions(TypedDict, total=False):
    """The options that ``stream_events`` of all adapters take, see ``EventStream``."""

    comments: bool
    flush_unfinished: bool
    max_event_bytes: int
    event_timeout: float | None


class _TurnView:
    """Where a turn stands, as far as it was handed to the caller."""

    _cursor: TurnCursor

    @property
    def last_sse_id(self) -> SseId | None:
        """The id of the last event handed out, ``resume_from`` until then."""
        return self._cursor.last_sse_id

    @property
    def turn_id(self) -> int | None:
        """The number of the turn, None before the first event unless it was resumed."""
        return self._cursor.turn_id

    @property
    def state(self) -> TurnState:
        """Where the turn stands (TurnState)."""
        return self._cursor.state


class _EventView:
    """Where a stream of events stands, as far as it was handed to the caller."""

    _cursor: EventCursor

    @property
    def last_event_id(self) -> str:
        """The last event id, from which the stream can be resumed."""
        return self._cursor.last_event_id

    @property
    def ended_mid_event(self) -> bool:
        """Whether the body ended in the middle of an event, which lacks at least its blank line and
        was not handed out (bool).
        """
        return self._cursor.ended_mid_event

    def watch(self, changed: Callable[[str, int | None], object]) -> None:
        """Have ``changed(last_event_id, retry_ms)`` called wherever the last event id or the
        ``retry:`` of the stream changes without an event, in its place among the items: after the
        one before it and before the one after it is handed out.

        ``retry_ms`` is in milliseconds, None if there has been none. An id that comes with an event
        is that of the event. An exception of ``changed`` closes the stream and comes through.
        Raises TypeError unless it is a plain function, RuntimeError once the stream is being read.
        """
        check_plain_function("changed", changed)
        self._cursor.watch(changed)


def _turn_cursor(
    resume_from: SseId | None,
    event_types: EventTypes[Any],
    loads: Callable[[str], Any],
    max_event_bytes: int,
    dialect: Dialect[Any],
) -> TurnCursor:
    def make_decoder(resume_from: SseId | None) -> TurnDecoder[Any]:
        return TurnDecoder(resume_from, event_types, loads, max_event_bytes, dialect=dialect)

    return TurnCursor(make_decoder, resume_from)


def _event_cursor(
    last_event_id: str, comments: bool, flush_unfinished: bool, max_event_bytes: int
) -> EventCursor:
    def make_decoder(last_event_id: str) -> EventStreamDecoder:
        return EventStreamDecoder(max_event_bytes, last_event_id, comments, flush_unfinished)

    return EventCursor(make_decoder, last_event_id, comments)


class TurnStream(_TurnView, AsyncStream[TurnCursor], Generic[TurnEvent]):
    """The events of one turn, for ``async for``."""

    def __init__(
        self: TurnStream[DialectEvent | OwnEvent],
        source: Source,
        *,
        resume_from: SseId | None = None,
        dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
        event_types: EventTypes[OwnEvent] = _EVENT_TYPES,
        loads: Callable[[str], Any] = json.loads,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """Read a turn from ``source``: any object with ``receive()`` and ``aclose()``, see
        ``Source``. The other arguments are those of ``TurnDecoder``, with ``dialect`` to say what
        the frames mean, and ``event_timeout``, the seconds without an event after which the stream
        is given up (None: never).
        """
        cursor = _turn_cursor(resume_from, event_types, loads, max_event_bytes, dialect)
        super().__init__(source, cursor, event_timeout)

    def __anext__(self) -> Coroutine[Any, Any, TurnEvent]:
        """Return the next event.

        Raises the error that ends the stream, and a fresh equal one each time after that;
        StopAsyncIteration after the terminal event; RuntimeError for a second reader.
        """
        return self._next()


class SyncTurnStream(_TurnView, SyncStream[TurnCursor], Generic[TurnEvent]):
    """The events of one turn, for ``for``."""

    def __init__(
        self: SyncTurnStream[DialectEvent | OwnEvent],
        source: SyncSource,
        *,
        resume_from: SseId | None = None,
        dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
        event_types: EventTypes[OwnEvent] = _EVENT_TYPES,
        loads: Callable[[str], Any] = json.loads,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """As ``TurnStream``, over a source with ``receive()`` and ``close()``."""
        cursor = _turn_cursor(resume_from, event_types, loads, max_event_bytes, dialect)
        super().__init__(source, cursor, event_timeout)

    def __next__(self) -> TurnEvent:
        """Return the next event; raises what ``TurnStream`` does, and StopIteration at the end."""
        event: TurnEvent = self._next()
        return event


class EventStream(_EventView, AsyncStream[EventCursor]):
    """The events of any event stream, for ``async for``."""

    def __init__(
        self,
        source: Source,
        *,
        last_event_id: str = "",
        comments: bool = False,
        flush_unfinished: bool = False,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """Read events from ``source``, see ``Source``. The other arguments are those of
        ``EventStreamDecoder``, and ``event_timeout``, the seconds without an event, comments not
        counted, after which the stream is given up (None: never).
        """
        cursor = _event_cursor(last_event_id, comments, flush_unfinished, max_event_bytes)
        super().__init__(source, cursor, event_timeout)

    def __anext__(self) -> Coroutine[Any, Any, ServerSentEvent | Comment]:
        """Return the next event, or comment if asked for.

        Raises StopAsyncIteration at the end of the body; SseConnectionDropped if it ended in
        another way, EventTooLarge, and a fresh equal one each time after that; RuntimeError for a
        second reader.
        """
        return self._next()


class SyncEventStream(_EventView, SyncStream[EventCursor]):
    """The events of any event stream, for ``for``."""

    def __init__(
        self,
        source: SyncSource,
        *,
        last_event_id: str = "",
        comments: bool = False,
        flush_unfinished: bool = False,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """As ``EventStream``, over a source with ``receive()`` and ``close()``."""
        cursor = _event_cursor(last_event_id, comments, flush_unfinished, max_event_bytes)
        super().__init__(source, cursor, event_timeout)

    def __next__(self) -> ServerSentEvent | Comment:
        """Return the next item; raises what ``EventStream`` does, and StopIteration at the end."""
        item: ServerSentEvent | Comment = self._next()
        return item
