"""The read loops of the streams: one for async code and one for sync code; all else is shared.

Each is a class and not a generator, and no cancel scope and no task is open while the caller's code
runs, so a stream may be left, cancelled or closed at any moment, by any task.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Generic, Self, TypeVar

from ratatoskr_proto import Comment, RatatoskrError

from .._http.reasons import reason_of
from .cursor import OVER, Cursor, raise_foreign
from .reconnect import AsyncResumption, Resumption, SyncResumption
from .sources import (
    Lost,
    Opened,
    Opener,
    Refused,
    Source,
    SourceT,
    SyncOpener,
    SyncSource,
)

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_BUSY = "this stream is being read already; one reader at a time"

CursorT = TypeVar("CursorT", bound=Cursor[Any])


class _Stream(Generic[SourceT, CursorT]):
    """What async and sync streams of both kinds share: where they stand."""

    _opener: Opener | SyncOpener | None = None
    _resumption: Resumption | None = None

    @classmethod
    def opened_by(cls, opener: Any, resumption: Any, **options: Any) -> Self:
        """For adapters: a stream that is opened when it is entered, by an ``Opener`` or a
        ``SyncOpener``, and that goes on as its ``resumption`` has it, if any. ``options`` are those
        of the class.
        """
        stream = cls(None, **options)
        stream._opener = opener
        if resumption is not None:
            resumption.watch(stream._cursor)
            stream._resumption = resumption
        return stream

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

    @property
    def reconnects(self) -> int:
        """How often the stream was, or is just being, connected again (int)."""
        return 0 if self._resumption is None else self._resumption.reconnects

    def tap(self, receive: Callable[[bytes], object]) -> None:
        """Have each piece of the body, as bytes without its content coding, handed to ``receive``
        just before it is decoded: to record a stream, or to see that it lives.
        """
        self._cursor.tap(receive)

    def begin(self, opened: Opened[SourceT] | Refused) -> None:
        """For adapters: say where the body comes from, or raise the error that says why not."""
        if isinstance(opened, Refused):
            self._cursor.fail(opened.error)
            self._cursor.take()
        else:
            self._source, self._status, self._headers = opened
            self._cursor.begin(self._headers.get("content-encoding", ""))

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
            raise_foreign(error)
        if reason.startswith("read timeout") and self._out_of_time():
            return
        self._cursor.receive_eof(reason)

    def _close_failed(self, error: Exception) -> None:
        """Take an exception of closing: a connection that is lost already is closed well enough."""
        if reason_of(error, opening=False) is None:
            raise error


class AsyncStream(_Stream[Source, CursorT]):
    """The read loop for async code."""

    _opener: Opener | None = None
    _resumption: AsyncResumption | None = None

    async def __aenter__(self) -> Self:
        """Open the stream, if it is not open yet.

        Raises SseConnectFailed if there is none.
        """
        opener, self._opener = self._opener, None
        if opener is not None:
            try:
                opened = await opener()
                if self._resumption is not None and isinstance(opened, Refused):
                    opened = await self._resumption.reopen(opened) or opened
            except BaseException:
                self._cursor.close()
                raise
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
        self._opener = None
        if self._resumption is not None:
            self._resumption.close()
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
        if self._busy:
            raise RuntimeError(_BUSY)
        self._busy = True
        try:
            while True:
                item = self._cursor.take()
                if item is OVER:
                    if self._cursor.loss is not None:
                        await self._resume(self._cursor.loss)
                        continue
                    await self._drain()
                    raise StopAsyncIteration
                if item is not None:
                    if not isinstance(item, Comment):  # which is a sign of life, but no event
                        self._waited = 0.0
                    return item
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
        if self._event_timeout is not None and self._out_of_time():
            return
        exact = self._event_timeout is not None and hasattr(source, "receive_within")
        started = time.monotonic()
        try:
            try:
                data = await (self._receive_within(source) if exact else source.receive())
            finally:
                self._waited += time.monotonic() - started
        except Exception as error:
            if exact and isinstance(error, TimeoutError):
                error = Lost("event timeout")
            self._failed(source, error)
        except BaseException:  # cancelled: what was read meanwhile may be lost
            self._cursor.close()
            raise
        else:
            self._received(data)

    def _receive_within(self, source: Any) -> Awaitable[bytes]:
        assert self._event_timeout is not None
        received: Awaitable[bytes] = source.receive_within(self._event_timeout - self._waited)
        return received

    async def _resume(self, loss: RatatoskrError) -> None:
        """Go on over another connection, or have the cursor say how it all ended."""
        assert self._resumption is not None
        try:
            await self._close_source()
            opened = await self._resumption.reopen(Refused(loss))
        except BaseException as error:
            self._cursor.close()
            raise_foreign(error)
        if opened is not None:
            self._cursor.renew()
            self.begin(opened)

    async def _drain(self) -> None:
        drain = getattr(self._source, "drain", None)
        if drain is not None:
            await drain()


class SyncStream(_Stream[SyncSource, CursorT]):
    """The read loop for sync code."""

    _opener: SyncOpener | None = None
    _resumption: SyncResumption | None = None

    def __enter__(self) -> Self:
        """Open the stream, if it is not open yet.

        Raises SseConnectFailed if there is none.
        """
        opener, self._opener = self._opener, None
        if opener is not None:
            try:
                opened = opener()
                if self._resumption is not None and isinstance(opened, Refused):
                    opened = self._resumption.reopen(opened) or opened
            except BaseException:
                self._cursor.close()
                raise
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
        self._opener = None
        if self._resumption is not None:
            self._resumption.close()
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
        if self._busy:
            raise RuntimeError(_BUSY)
        self._busy = True
        try:
            while True:
                item = self._cursor.take()
                if item is OVER:
                    if self._cursor.loss is not None:
                        self._resume(self._cursor.loss)
                        continue
                    raise StopIteration
                if item is not None:
                    if not isinstance(item, Comment):  # which is a sign of life, but no event
                        self._waited = 0.0
                    return item
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
        if self._event_timeout is not None and self._out_of_time():
            return
        started = time.monotonic()
        try:
            try:
                data = source.receive()
            finally:
                self._waited += time.monotonic() - started
        except Exception as error:
            self._failed(source, error)
        except BaseException:
            self._cursor.close()
            raise
        else:
            self._received(data)

    def _resume(self, loss: RatatoskrError) -> None:
        """Go on over another connection, or have the cursor say how it all ended."""
        assert self._resumption is not None
        try:
            self._close_source()
            opened = self._resumption.reopen(Refused(loss))
        except BaseException as error:
            self._cursor.close()
            raise_foreign(error)
        if opened is not None:
            self._cursor.renew()
            self.begin(opened)


def check_seconds(name: str, value: float | None) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds or None, not {type(value).__name__}")
    if not value > 0:
        raise ValueError(f"{name} must be more than 0 seconds, or None to wait for ever")
    return value
