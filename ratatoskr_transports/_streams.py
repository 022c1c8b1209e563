"""The streams that are iterated over: two kinds of items, each for async and for sync code.

One read loop for async code and one for sync code; all else is shared. Each is a class and not a
generator, and no cancel scope and no task is open while the caller's code runs, so it may be left,
cancelled or closed at any moment, by any task. See docs/transports.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Generic, NamedTuple, Protocol, Self, TypedDict, TypeVar

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Comment,
    Event,
    EventStreamDecoder,
    EventTypes,
    RatatoskrError,
    ServerSentEvent,
    SseId,
    TurnDecoder,
    TurnState,
)

from ._cursor import OVER, Cursor, EventCursor, TurnCursor
from ._reasons import reason_of

DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Lost(Exception):
    """Raised by a source of our own: the body ended for the reason that it carries."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Source(Protocol):
    """Where the bytes of a body come from.

    It may also have ``receive_within(seconds)``, which is ``receive`` with a limit of its own and
    raises TimeoutError when that has passed; then timeouts are exact.
    """

    async def receive(self) -> bytes:
        """Return the next bytes of the body as they come, ``b""`` at its end."""
        ...

    async def aclose(self) -> None:
        """Close the connection at once, however much of the body is left."""
        ...


class SyncSource(Protocol):
    """Where the bytes of a body come from, for sync code."""

    def receive(self) -> bytes:
        """Return the next bytes of the body as they come, ``b""`` at its end."""
        ...

    def close(self) -> None:
        """Close the connection at once, however much of the body is left."""
        ...


SourceT = TypeVar("SourceT")
CursorT = TypeVar("CursorT", bound=Cursor[Any])


class Opened(NamedTuple, Generic[SourceT]):
    """What an adapter gives once the head of a good response is there."""

    source: SourceT
    status: int
    headers: Mapping[str, str]


class TurnOptions(TypedDict, total=False):
    """The options of a turn that the functions of all adapters take, see ``TurnStream``."""

    event_types: EventTypes
    loads: Callable[[str], Any]
    max_event_bytes: int
    event_timeout: float | None


class EventOptions(TypedDict, total=False):
    """The options that ``stream_events`` of all adapters take, see ``EventStream``."""

    comments: bool
    max_event_bytes: int
    event_timeout: float | None


class _Stream(Generic[SourceT, CursorT]):
    """What async and sync streams of both kinds share: where they stand."""

    def __init__(
        self, source: SourceT | None, cursor: CursorT, event_timeout: float | None
    ) -> None:
        self._source = source
        self._cursor = cursor
        self._event_timeout = check_seconds("event_timeout", event_timeout)
        self._waited = 0.0  # seconds spent in reading since the last event
        self._busy = False
        self._status: int | None = None
        self._headers = _NO_HEADERS

    @property
    def status(self) -> int | None:
        """The HTTP status of the response (int), None over a source without one."""
        return self._status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response: a read-only mapping, names in lower case."""
        return self._headers

    @property
    def retry_ms(self) -> int | None:
        """The last valid ``retry:`` of the stream in milliseconds, or None."""
        return self._cursor.retry_ms

    def begin(self, opened: Opened[SourceT]) -> None:
        """For adapters: say where the body comes from."""
        self._source, self._status, self._headers = opened
        self._cursor.begin(self._headers.get("content-encoding", ""))

    def _claim(self) -> None:
        if self._busy:
            raise RuntimeError("this stream is being read already; one reader at a time")
        self._busy = True

    def _handed(self, item: Any) -> Any:
        if self._cursor.is_event(item):
            self._waited = 0.0
        return item

    def _out_of_time(self) -> bool:
        """Whether the time without an event is used up; if so, that ends the stream."""
        if self._event_timeout is None or self._waited < self._event_timeout:
            return False
        self._cursor.receive_eof("event timeout")
        return True

    def _received(self, data: bytes) -> None:
        if data:
            self._cursor.receive_data(data)
        else:
            self._cursor.receive_eof("end of stream")

    def _failed(self, source: SourceT, error: Exception) -> None:
        """Take an exception of the source, and let it through if it is none of a connection."""
        if self._source is not source:
            return  # closed meanwhile, which the cursor knows
        reason = error.reason if isinstance(error, Lost) else reason_of(error, opening=False)
        if reason is None:
            self._cursor.close()
            raise error
        self._cursor.receive_eof(reason)


class _AsyncStream(_Stream[Source, CursorT]):
    """The read loop for async code."""

    _opener: Callable[[], Awaitable[Opened[Source] | RatatoskrError]] | None = None

    @classmethod
    def opened_by(
        cls, opener: Callable[[], Awaitable[Opened[Source] | RatatoskrError]], **options: Any
    ) -> Self:
        """For adapters: a stream that ``async with`` opens. ``options`` are those of the class.

        ``opener`` returns its source with status and headers, or the error to be raised.
        """
        stream = cls(None, **options)
        stream._opener = opener
        return stream

    async def __aenter__(self) -> Self:
        """Open the stream, if it is not open yet.

        Raises SseConnectFailed if there is none.
        """
        opener, self._opener = self._opener, None
        if opener is not None:
            try:
                opened = await opener()
            except BaseException:
                self._cursor.close()
                raise
            if isinstance(opened, RatatoskrError):
                self._cursor.fail(opened)
                self._cursor.take()  # raises it
            else:
                self.begin(opened)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the stream at once. If it was not over, it is broken from now on."""
        self._cursor.close()
        await self._close_source()

    async def _close_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            await source.aclose()

    def __aiter__(self) -> Self:
        return self

    async def _next(self) -> Any:
        self._claim()
        try:
            while True:
                item = self._cursor.take()
                if item is OVER:
                    await self._drain()
                    raise StopAsyncIteration
                if item is not None:
                    return self._handed(item)
                await self._read()
        except (RatatoskrError, StopAsyncIteration):
            await self._close_source()
            raise
        finally:
            self._busy = False

    async def _read(self) -> None:
        source = self._source
        if source is None:
            raise RuntimeError("the stream is not open; enter it with 'async with' first")
        if self._out_of_time():
            return
        receive_within = getattr(source, "receive_within", None)
        started = time.monotonic()
        try:
            if receive_within is None:
                data = await source.receive()
            elif self._event_timeout is None:
                data = await receive_within(None)
            else:
                data = await receive_within(self._event_timeout - self._waited)
        except TimeoutError as error:
            if receive_within is None:
                self._failed(source, error)
            elif self._source is source:
                self._cursor.receive_eof("event timeout")
        except Exception as error:
            self._failed(source, error)
        except BaseException:  # cancelled: what was read meanwhile may be lost
            self._cursor.close()
            raise
        else:
            self._received(data)
        self._waited += time.monotonic() - started

    async def _drain(self) -> None:
        drain = getattr(self._source, "drain", None)
        if drain is not None:
            await drain()


class _SyncStream(_Stream[SyncSource, CursorT]):
    """The read loop for sync code."""

    _opener: Callable[[], Opened[SyncSource] | RatatoskrError] | None = None

    @classmethod
    def opened_by(
        cls, opener: Callable[[], Opened[SyncSource] | RatatoskrError], **options: Any
    ) -> Self:
        """For adapters: a stream that ``with`` opens. ``options`` are those of the class.

        ``opener`` returns its source with status and headers, or the error to be raised.
        """
        stream = cls(None, **options)
        stream._opener = opener
        return stream

    def __enter__(self) -> Self:
        """Open the stream, if it is not open yet.

        Raises SseConnectFailed if there is none.
        """
        opener, self._opener = self._opener, None
        if opener is not None:
            try:
                opened = opener()
            except BaseException:
                self._cursor.close()
                raise
            if isinstance(opened, RatatoskrError):
                self._cursor.fail(opened)
                self._cursor.take()  # raises it
            else:
                self.begin(opened)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the stream at once. If it was not over, it is broken from now on."""
        self._cursor.close()
        self._close_source()

    def _close_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def __iter__(self) -> Self:
        return self

    def _next(self) -> Any:
        self._claim()
        try:
            while True:
                item = self._cursor.take()
                if item is OVER:
                    raise StopIteration
                if item is not None:
                    return self._handed(item)
                self._read()
        except (RatatoskrError, StopIteration):
            self._close_source()
            raise
        finally:
            self._busy = False

    def _read(self) -> None:
        source = self._source
        if source is None:
            raise RuntimeError("the stream is not open; enter it with 'with' first")
        if self._out_of_time():
            return
        started = time.monotonic()
        try:
            data = source.receive()
        except Exception as error:
            self._failed(source, error)
        except BaseException:
            self._cursor.close()
            raise
        else:
            self._received(data)
        self._waited += time.monotonic() - started


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
        """The last event id, from where to go on."""
        return self._cursor.last_event_id


def _turn_cursor(
    resume_from: SseId | None,
    event_types: EventTypes,
    loads: Callable[[str], Any],
    max_event_bytes: int,
) -> TurnCursor:
    return TurnCursor(TurnDecoder(resume_from, event_types, loads, max_event_bytes))


class TurnStream(_TurnView, _AsyncStream[TurnCursor]):
    """The events of one turn, for ``async for``."""

    def __init__(
        self,
        source: Source | None,
        *,
        resume_from: SseId | None = None,
        event_types: EventTypes = DEFAULT_EVENT_TYPES,
        loads: Callable[[str], Any] = json.loads,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """Read a turn from ``source``: any object with ``receive()`` and ``aclose()``, see
        ``Source``. The other arguments are those of ``TurnDecoder``, and ``event_timeout``, the
        seconds without an event after which the stream is given up (None: never).
        """
        cursor = _turn_cursor(resume_from, event_types, loads, max_event_bytes)
        super().__init__(source, cursor, event_timeout)

    async def __anext__(self) -> Event:
        """Return the next event.

        Raises the error that ends the stream, and a fresh equal one each time after that;
        StopAsyncIteration after the terminal event; RuntimeError for a second reader.
        """
        event: Event = await self._next()
        return event


class SyncTurnStream(_TurnView, _SyncStream[TurnCursor]):
    """The events of one turn, for ``for``."""

    def __init__(
        self,
        source: SyncSource | None,
        *,
        resume_from: SseId | None = None,
        event_types: EventTypes = DEFAULT_EVENT_TYPES,
        loads: Callable[[str], Any] = json.loads,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """As ``TurnStream``, over a source with ``receive()`` and ``close()``."""
        cursor = _turn_cursor(resume_from, event_types, loads, max_event_bytes)
        super().__init__(source, cursor, event_timeout)

    def __next__(self) -> Event:
        """Return the next event; raises what ``TurnStream`` does, and StopIteration at the end."""
        event: Event = self._next()
        return event


class EventStream(_EventView, _AsyncStream[EventCursor]):
    """The events of any event stream, for ``async for``."""

    def __init__(
        self,
        source: Source | None,
        *,
        last_event_id: str = "",
        comments: bool = False,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """Read events from ``source``, see ``Source``. The other arguments are those of
        ``EventStreamDecoder``, and ``event_timeout``, the seconds without an event, comments not
        counted, after which the stream is given up (None: never).
        """
        decoder = EventStreamDecoder(max_event_bytes, last_event_id, comments)
        super().__init__(source, EventCursor(decoder), event_timeout)

    async def __anext__(self) -> ServerSentEvent | Comment:
        """Return the next event, or comment if asked for.

        Raises StopAsyncIteration at the end of the body; SseConnectionDropped if it ended in
        another way, EventTooLarge, and a fresh equal one each time after that; RuntimeError for a
        second reader.
        """
        item: ServerSentEvent | Comment = await self._next()
        return item


class SyncEventStream(_EventView, _SyncStream[EventCursor]):
    """The events of any event stream, for ``for``."""

    def __init__(
        self,
        source: SyncSource | None,
        *,
        last_event_id: str = "",
        comments: bool = False,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        event_timeout: float | None = None,
    ) -> None:
        """As ``EventStream``, over a source with ``receive()`` and ``close()``."""
        decoder = EventStreamDecoder(max_event_bytes, last_event_id, comments)
        super().__init__(source, EventCursor(decoder), event_timeout)

    def __next__(self) -> ServerSentEvent | Comment:
        """Return the next item; raises what ``EventStream`` does, and StopIteration at the end."""
        item: ServerSentEvent | Comment = self._next()
        return item


def check_seconds(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds or None, not {type(value).__name__}")
    if not value > 0:
        raise ValueError(f"{name} must be more than 0 seconds, or None to wait for ever")
    return value
