"""The read loops of the streams: one for async code and one for sync code; everything else is
shared.

Each is a class and not a generator, and no cancel scope and no task is open while the caller's code
runs, so a stream may be left, cancelled or closed at any moment, by any task.

The two are twins, written by hand; a test compares them.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ratatoskr_proto import RatatoskrError, Reason

from .._http.reasons import reason_of
from .arguments import check_plain_function, check_seconds
from .checkpoint import checkpoint
from .cursor import OVER, PIECE, Cursor, raise_foreign
from .opening import AsyncOpening, SyncOpening
from .sources import NO_HEADERS, AsyncBody, HttpBody, Refused, Source, SourceLost, SyncSource

_BUSY = "this stream is being read already; one reader at a time"

SourceT = TypeVar("SourceT", Source, SyncSource)
OpeningT = TypeVar("OpeningT", AsyncOpening, SyncOpening)
CursorT = TypeVar("CursorT", bound=Cursor[Any])


class _Stream(Generic[SourceT, OpeningT, CursorT]):
    """What async and sync streams of both kinds share: where they stand, and how long they wait."""

    def __init__(
        self,
        source: SourceT,
        opening: OpeningT | None,
        cursor: CursorT,
        event_timeout: float | None,
    ) -> None:
        """``opening`` is the source of a stream that has yet to be opened, else None."""
        self._source: SourceT | None = source
        self._opening: OpeningT | None = opening
        self._cursor = cursor
        self._event_timeout = check_seconds("event_timeout", event_timeout)
        self._timed: Any = None  # the event since which time is counted
        self._waited = 0.0  # seconds spent in reading since then, without the read in progress
        self._started = 0.0  # when that began
        self._entered = False
        self._busy = False
        self._status: int | None = None
        self._headers = NO_HEADERS
        if opening is not None:
            opening.attach(cursor)
        if isinstance(source, HttpBody):
            self._read_from(source)

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

    @property
    def reconnects(self) -> int:
        """How often the stream has reconnected, or is just about to (int)."""
        return 0 if self._opening is None else self._opening.reconnects

    def tap(self, receive: Callable[[bytes], object]) -> None:
        """Have each piece of the body, as bytes without its content coding, handed to ``receive``
        just before it is decoded: to record a stream, or to see that it lives. Raises TypeError
        unless it is a plain function.
        """
        check_plain_function("receive", receive)
        self._cursor.tap(receive)

    def _read_from(self, body: Any) -> None:
        """Read from the body of a response from now on."""
        self._source, self._status, self._headers = body, body.status, body.headers
        self._cursor.start_body(body.content_encoding)

    def _note_refused(self, refused: Refused | None) -> None:
        """Keep the head of a response that was not a stream."""
        if refused is not None:
            self._status = getattr(refused.error, "status", None)
            self._headers = refused.headers

    # The time without an event: what passes in `_next`, except for reconnecting.

    def _start_time(self) -> None:
        if self._cursor.last is not self._timed:  # an event has been handed out meanwhile
            self._timed = self._cursor.last
            self._waited = 0.0
        self._started = time.monotonic()

    def _stop_time(self) -> None:
        self._waited += time.monotonic() - self._started

    def _seconds_left(self) -> float:
        assert self._event_timeout is not None
        return self._event_timeout - self._waited - (time.monotonic() - self._started)

    def _out_of_time(self) -> bool:
        """Whether the time without an event is used up; if so, that ends the stream."""
        if self._event_timeout is None or self._seconds_left() > 0:
            return False
        self._cursor.receive_eof("event timeout")
        return True

    def _received(self, data: bytes) -> bytes | None:
        if type(data) is not bytes:
            if not isinstance(data, (bytes, bytearray, memoryview)):
                self._cursor.close()
                raise TypeError(f"a source must return bytes, not {type(data).__name__}")
            data = bytes(data)
        if data:
            return self._cursor.receive_data(data)
        self._cursor.receive_eof("end of stream")
        return None

    def _failed(self, source: SourceT, error: Exception) -> None:
        """Take an exception of the source; raise it unless it is one of a connection."""
        if self._source is not source:
            return  # closed meanwhile, which the cursor knows
        reason = error.reason if isinstance(error, SourceLost) else reason_of(error, opening=False)
        if reason is None:
            if source is not self._opening:  # which may be opened yet
                self._cursor.close()
            raise_foreign(error)
        if Reason(reason).word == "read timeout" and self._out_of_time():
            return
        self._cursor.receive_eof(reason)

    def _close_failed(self, error: Exception) -> None:
        """Take an exception of closing: a connection that is lost already is closed well enough."""
        if reason_of(error, opening=False) is None:
            raise_foreign(error)


class AsyncStream(_Stream[Source, AsyncOpening, CursorT]):
    """The read loop for async code."""

    def __init__(self, source: Source, cursor: CursorT, event_timeout: float | None) -> None:
        opening = source if isinstance(source, AsyncOpening) else None
        super().__init__(source, opening, cursor, event_timeout)
        self._decoded = 0  # bytes since the last checkpoint

    async def __aenter__(self) -> Self:
        """Open the stream, if it is not open yet.

        Raises SseConnectFailed if there is no stream; SseConnectionDropped, with the reason
        ``closed``, if it was closed before it was open.
        """
        if not self._entered:
            self._entered = True
            try:
                self._cursor.raise_if_broken()
                if self._opening is not None:
                    body = await self._opening.open()
                    if body is not None:
                        self._read_from(body)
                    else:
                        self._note_refused(self._opening.refused)
                    self._cursor.raise_if_broken()
            except BaseException:
                self._cursor.close()
                await self._close_source()
                raise
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
        if self._opening is not None:
            await self._opening.aclose()
        await self._close_source()

    async def _close_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            try:
                await source.aclose()
            except Exception as error:
                self._close_failed(error)

    def __aiter__(self) -> Self:
        return self

    async def _next(self) -> Any:
        cursor = self._cursor
        for item in cursor.ready:  # most items are, so there is nothing more to be done for them
            cursor.last = item
            return item
        if self._busy:
            raise RuntimeError(_BUSY)
        self._busy = True
        timed = self._event_timeout is not None
        if timed:
            self._start_time()
        try:
            while True:
                source = self._source
                item = cursor.take()
                if item is OVER:
                    if cursor.loss is not None:
                        await self._reconnect(cursor.loss)
                        continue
                    await self._drain()
                    raise StopAsyncIteration
                if item is not None:
                    return item
                if timed and self._out_of_time():
                    continue
                piece = cursor.next_piece()
                if piece is None:
                    piece = await self._read(source)
                if piece:
                    self._decoded += len(piece)
                    if self._decoded > PIECE:
                        await self._pause()
                        self._decoded = len(piece)
                    cursor.decode(piece)
        except (RatatoskrError, StopAsyncIteration):
            await self._close_source()
            raise
        finally:
            self._busy = False
            if timed:
                self._stop_time()

    async def _read(self, source: Source | None) -> bytes | None:
        """Read once and return the first piece of it; if there is none, the cursor knows why."""
        assert source is not None  # the cursor of a stream without one has raised
        exact = self._event_timeout is not None and hasattr(source, "receive_within")
        try:
            data = await (self._receive_in_time(source) if exact else source.receive())
        except Exception as error:
            if exact and isinstance(error, TimeoutError):
                error = SourceLost("event timeout")
            self._failed(source, error)
            return None
        except BaseException:  # cancelled: bytes that have just been read may be lost
            self._cursor.close()
            raise
        return self._received(data)

    def _receive_in_time(self, source: Any) -> Awaitable[bytes]:
        received: Awaitable[bytes] = source.receive_within(max(0.0, self._seconds_left()))
        return received

    async def _pause(self) -> None:
        """Let the event loop run, however much there is to be decoded."""
        try:
            await checkpoint()
        except BaseException:  # cancelled, as in a read
            self._cursor.close()
            raise

    async def _reconnect(self, loss: RatatoskrError) -> None:
        """Read from another connection, or have the cursor end the stream."""
        assert self._opening is not None
        self._stop_time()
        try:
            await self._close_source()
            body = await self._opening.open(loss)
        except BaseException as error:
            self._cursor.close()
            raise_foreign(error)
        if body is not None:
            self._cursor.resume()
            self._read_from(body)
        self._start_time()

    async def _drain(self) -> None:
        if isinstance(self._source, AsyncBody):
            await self._source.drain()


class SyncStream(_Stream[SyncSource, SyncOpening, CursorT]):
    """The read loop for sync code."""

    def __init__(self, source: SyncSource, cursor: CursorT, event_timeout: float | None) -> None:
        opening = source if isinstance(source, SyncOpening) else None
        super().__init__(source, opening, cursor, event_timeout)

    def __enter__(self) -> Self:
        """Open the stream, if it is not open yet.

        Raises SseConnectFailed if there is no stream; SseConnectionDropped, with the reason
        ``closed``, if it was closed before it was open.
        """
        if not self._entered:
            self._entered = True
            try:
                self._cursor.raise_if_broken()
                if self._opening is not None:
                    body = self._opening.open()
                    if body is not None:
                        self._read_from(body)
                    else:
                        self._note_refused(self._opening.refused)
                    self._cursor.raise_if_broken()
            except BaseException:
                self._cursor.close()
                self._close_source()
                raise
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
        if self._opening is not None:
            self._opening.close()
        self._close_source()

    def _close_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            try:
                source.close()
            except Exception as error:
                self._close_failed(error)

    def __iter__(self) -> Self:
        return self

    def _next(self) -> Any:
        cursor = self._cursor
        for item in cursor.ready:  # most items are, so there is nothing more to be done for them
            cursor.last = item
            return item
        if self._busy:
            raise RuntimeError(_BUSY)
        self._busy = True
        timed = self._event_timeout is not None
        if timed:
            self._start_time()
        try:
            while True:
                source = self._source
                item = cursor.take()
                if item is OVER:
                    if cursor.loss is not None:
                        self._reconnect(cursor.loss)
                        continue
                    raise StopIteration
                if item is not None:
                    return item
                if timed and self._out_of_time():
                    continue
                piece = cursor.next_piece()
                if piece is None:
                    piece = self._read(source)
                if piece:
                    cursor.decode(piece)
        except (RatatoskrError, StopIteration):
            self._close_source()
            raise
        finally:
            self._busy = False
            if timed:
                self._stop_time()

    def _read(self, source: SyncSource | None) -> bytes | None:
        """Read once and return the first piece of it; if there is none, the cursor knows why."""
        assert source is not None  # the cursor of a stream without one has raised
        try:
            data = source.receive()
        except Exception as error:
            self._failed(source, error)
            return None
        except BaseException:
            self._cursor.close()
            raise
        return self._received(data)

    def _reconnect(self, loss: RatatoskrError) -> None:
        """Read from another connection, or have the cursor end the stream."""
        assert self._opening is not None
        self._stop_time()
        try:
            self._close_source()
            body = self._opening.open(loss)
        except BaseException as error:
            self._cursor.close()
            raise_foreign(error)
        if body is not None:
            self._cursor.resume()
            self._read_from(body)
        self._start_time()
