"""Between the bytes of a body and whoever iterates over a stream: no I/O.

A cursor knows what has been handed out and, once a stream is over or broken, that it is. So an
iterator is only: take the next item; if there is none, read more.
"""

from __future__ import annotations

import copy
import logging
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, NoReturn, TypeVar

from ratatoskr_proto import (
    Comment,
    Event,
    EventStreamDecoder,
    RatatoskrError,
    ServerSentEvent,
    SseConnectionDropped,
    SseId,
    TurnDecoder,
    TurnState,
)

from ._body import BodyDecoder
from ._labels import error_label

logger = logging.getLogger("ratatoskr_transports")
logger.addHandler(logging.NullHandler())

D = TypeVar("D", TurnDecoder, EventStreamDecoder)


class _Over:
    """The only value of its kind: the stream is over, and well."""


OVER: Final = _Over()


def raise_error(error: RatatoskrError) -> None:
    """Raise an error of ours with nothing behind it: a foreign exception may hold a payload."""
    try:
        raise error from None
    finally:
        error.__context__ = None


def raise_foreign(error: BaseException) -> NoReturn:
    """Raise an exception that is none of ours, or another one if it would look like a clean end."""
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        name = type(error).__name__
        raise RuntimeError(f"{name} was raised where it does not end a stream") from error
    raise error


class Cursor(Generic[D]):
    """Takes the body of a stream, in pieces, and hands out its items one at a time."""

    def __init__(self, decoder: D) -> None:
        self._decoder: D = decoder
        self._body = BodyDecoder(decoder)
        self._items: Iterator[Any] = iter(())
        self._error: RatatoskrError | None = None
        self._over = False
        self._ended = False

    def begin(self, content_encoding: str) -> None:
        """Say how the body is coded."""
        tap = self._body.tap
        self._body = BodyDecoder(self._decoder, content_encoding)
        self._body.tap = tap

    def tap(self, receive: Callable[[bytes], object]) -> None:
        """Have each piece of the body handed to ``receive`` before it is decoded."""
        self._body.tap = receive

    @property
    def retry_ms(self) -> int | None:
        """The last valid ``retry:`` in milliseconds."""
        return self._decoder.retry_ms

    def take(self) -> Any:
        """Return the next item, None if more bytes are needed, OVER after the last one.

        Raises a fresh copy of the error that ended the stream, each time.
        """
        if self._error is not None:
            raise_error(copy.copy(self._error))
        if self._over:
            return OVER
        try:
            item = next(self._items, None)
        except zlib.error:
            self.receive_eof("protocol")
            item = next(self._items, None)
        except BaseException as error:  # a bug in the caller's loads or event class
            self.close()
            raise_foreign(error)
        if item is None:
            if not self._ended:
                return None
            self._over = True
            return OVER
        if isinstance(item, RatatoskrError):
            self.fail(item)
            raise_error(copy.copy(item))
        self._hand_out(item)
        return item

    def receive_data(self, data: bytes) -> None:
        """Take the next bytes of the body."""
        try:
            self._items = self._body.items(data)
        except BaseException as error:  # a bug in the caller's loads or event class
            self.close()
            raise_foreign(error)

    def receive_eof(self, reason: str) -> None:
        """Take the end of the body and the reason for it."""
        self._ended = True
        self._items = iter(self._body.finish(reason))

    def fail(self, error: RatatoskrError) -> None:
        """End the stream with this error, and log its label, once."""
        logger.warning(error_label(error))
        self._error = error
        self._items = iter(())

    def close(self) -> None:
        """Break a stream that is not over: it must never look as if it had come to its end."""
        if not self._over and self._error is None:
            self._error = SseConnectionDropped(self._resume_point(), "closed")
            self._items = iter(())

    def _hand_out(self, item: Any) -> None:
        """Note what the caller is given. Each kind of stream has its own."""

    def _resume_point(self) -> SseId | None:
        return None


class TurnCursor(Cursor[TurnDecoder]):
    """Hands out the events of a turn and tells where it stands for the caller."""

    def __init__(self, decoder: TurnDecoder) -> None:
        super().__init__(decoder)
        self.last_sse_id = decoder.last_sse_id
        self._done = False

    @property
    def turn_id(self) -> int | None:
        """The number of the turn, as far as it was handed out."""
        return None if self.last_sse_id is None else self.last_sse_id.turn_id

    @property
    def state(self) -> TurnState:
        """Where the turn stands, as far as it was handed out."""
        if self._done:
            return TurnState.DONE
        return TurnState.STREAMING if self._error is None else TurnState.FAILED

    def _hand_out(self, item: Event) -> None:
        self.last_sse_id = item.sse_id
        self._done = self._over = item.terminal

    def _resume_point(self) -> SseId | None:
        return self.last_sse_id


class EventCursor(Cursor[EventStreamDecoder]):
    """Hands out the events, and comments if asked for, of any event stream."""

    def __init__(self, decoder: EventStreamDecoder) -> None:
        super().__init__(decoder)
        self._last_event_id = decoder.last_event_id

    @property
    def last_event_id(self) -> str:
        """The last event id, as far as the stream was handed out."""
        return self._last_event_id

    def take(self) -> Any:
        """As the base has it. An id may also come without an event, once all before is out."""
        item = super().take()
        if item is None:
            self._last_event_id = self._decoder.last_event_id
        return item

    def _hand_out(self, item: ServerSentEvent | Comment) -> None:
        if isinstance(item, ServerSentEvent):
            self._last_event_id = item.id
