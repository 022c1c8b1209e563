"""Between the bytes of a body and whoever iterates over a stream: no I/O.

A cursor knows what has been handed out and, once a stream is over or broken, that it is. So an
iterator is only: take the next item; if there is none, read more.
"""

from __future__ import annotations

import copy
import logging
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, NoReturn, TypeAlias, TypeVar

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

from .._http.body import BodyDecoder
from .changes import Change, ChangesDecoder
from .labels import error_label

logger = logging.getLogger("ratatoskr_transports")
logger.addHandler(logging.NullHandler())

D = TypeVar("D", TurnDecoder, EventStreamDecoder | ChangesDecoder)
Changed: TypeAlias = Callable[[str, int | None], object]


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


class Cursor(ABC, Generic[D]):
    """Takes the body of a stream, in pieces, and hands out its items one at a time.

    If it is ``resumable``, a connection that is lost is no error yet: ``take`` returns OVER and
    ``loss`` says how it was lost, until ``renew``, ``fail`` or ``end`` says what comes of it.
    """

    def __init__(self, decoder: D) -> None:
        self.resumable = False
        self.loss: RatatoskrError | None = None
        self._decoder: D = decoder
        self._retry_ms: int | None = None  # of the connections before
        self._content_encoding = ""
        self._body: BodyDecoder[Any] = BodyDecoder(decoder)
        self._started = False
        self._items: Iterator[Any] = iter(())
        self._error: RatatoskrError | None = None
        self._over = False
        self._ended = False

    def begin(self, content_encoding: str) -> None:
        """Say how the body of a new connection is coded."""
        self._content_encoding = content_encoding
        tap = self._body.tap
        self._body = BodyDecoder(self._decoder, content_encoding)
        self._body.tap = tap

    def tap(self, receive: Callable[[bytes], object]) -> None:
        """Have each piece of the body handed to ``receive`` before it is decoded."""
        self._body.tap = receive

    @property
    def retry_ms(self) -> int | None:
        """The last valid ``retry:`` in milliseconds."""
        retry_ms = self._decoder.retry_ms
        return self._retry_ms if retry_ms is None else retry_ms

    @property
    @abstractmethod
    def place(self) -> object:
        """Where the stream stands: another object once something new has been handed out."""

    @property
    @abstractmethod
    def last_event_id_to_send(self) -> str | None:
        """What to send as ``Last-Event-ID`` to go on from here, None if there is no way to."""

    def take(self) -> Any:
        """Return the next item, None if more bytes are needed, OVER when no more will come of them.

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
            if self.resumable:
                return self._lose(SseConnectionDropped(self._resume_point(), "end of stream"))
            self.end()
            return OVER
        if isinstance(item, RatatoskrError):
            if self.resumable:
                return self._lose(item)
            self.fail(item)
            raise_error(copy.copy(item))
        self._hand_out(item)
        return item

    def receive_data(self, data: bytes) -> None:
        """Take the next bytes of the body."""
        self._started = True
        try:
            self._items = self._body.items(data)
        except BaseException as error:  # a bug in the caller's loads or event class
            self.close()
            raise_foreign(error)

    def receive_eof(self, reason: str) -> None:
        """Take the end of the body and the reason for it."""
        self._ended = True
        self._items = iter(self._body.finish(reason))

    def _lose(self, error: RatatoskrError) -> _Over:
        self.loss = error
        return OVER

    def renew(self) -> None:
        """Get ready for another connection, which goes on behind what was handed out."""
        self._retry_ms = self.retry_ms
        self._decoder = self._next_decoder()
        self._items = iter(())
        self._ended = False
        self.loss = None

    def end(self) -> None:
        """End the stream, and well."""
        self.loss = None
        self._over = True

    def fail(self, error: RatatoskrError) -> None:
        """End the stream with this error, unless it has one, and log its label, once."""
        if self._error is None:
            logger.warning(error_label(error))
            self._error = error
            self._items = iter(())

    def close(self) -> None:
        """Break a stream that is not over: it must never look as if it had come to its end."""
        if not self._over and self._error is None:
            self._error = SseConnectionDropped(self._resume_point(), "closed")
            self._items = iter(())

    @abstractmethod
    def _hand_out(self, item: Any) -> None:
        """Note what the caller is given."""

    @abstractmethod
    def _next_decoder(self) -> D:
        """The decoder of a connection that goes on behind what was handed out."""

    def _resume_point(self) -> SseId | None:
        return None


class TurnCursor(Cursor[TurnDecoder]):
    """Hands out the events of a turn and tells where it stands for the caller.

    ``make_decoder`` makes the decoder of each connection, which goes on behind an id, if any.
    """

    def __init__(
        self, make_decoder: Callable[[SseId | None], TurnDecoder], resume_from: SseId | None
    ) -> None:
        super().__init__(make_decoder(resume_from))
        self.last_sse_id = resume_from
        self._make_decoder = make_decoder
        self._done = False

    @property
    def place(self) -> object:
        """The id of the last event, which is another object for each."""
        return self.last_sse_id

    @property
    def last_event_id_to_send(self) -> str | None:
        """The id of the last event; without one nobody could say which turn is meant."""
        return None if self.last_sse_id is None else str(self.last_sse_id)

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

    def _next_decoder(self) -> TurnDecoder:
        return self._make_decoder(self.last_sse_id)


class EventCursor(Cursor[EventStreamDecoder | ChangesDecoder]):
    """Hands out the events, and comments if asked for, of any event stream.

    ``make_decoder`` makes the decoder of each connection, which starts with a last event id.
    """

    def __init__(
        self, make_decoder: Callable[[str], EventStreamDecoder], last_event_id: str
    ) -> None:
        super().__init__(make_decoder(last_event_id))
        self._make_decoder = make_decoder
        self._changed: Changed | None = None
        # The last event that was handed out, or one that stands for an id without an event.
        self._last = ServerSentEvent("", "", last_event_id)

    @property
    def last_event_id(self) -> str:
        """The last event id, as far as the stream was handed out."""
        return self._last.id

    @property
    def place(self) -> object:
        """The last event."""
        return self._last

    @property
    def last_event_id_to_send(self) -> str:
        """The last event id; without one the stream is asked for from its start."""
        return self.last_event_id

    def watch(self, changed: Changed) -> None:
        """Have ``changed`` called wherever the id or the retry time changes without an event."""
        if self._started:
            raise RuntimeError("watch() must be called before the first item is asked for")
        self._changed = changed
        self._decoder = self._next_decoder()
        self.begin(self._content_encoding)

    def take(self) -> Any:
        """As the base has it. An id may also come without an event, once all before is out."""
        item = super().take()
        while isinstance(item, Change):
            item = super().take()
        if item is None and self._decoder.last_event_id != self._last.id:
            self._last = ServerSentEvent("", "", self._decoder.last_event_id)
        return item

    def _hand_out(self, item: ServerSentEvent | Comment | Change) -> None:
        if isinstance(item, ServerSentEvent):
            self._last = item
        elif isinstance(item, Change):
            if item.last_event_id != self._last.id:
                self._last = ServerSentEvent("", "", item.last_event_id)
            assert self._changed is not None
            try:
                self._changed(*item)
            except BaseException as error:
                self.close()
                raise_foreign(error)

    def _next_decoder(self) -> EventStreamDecoder | ChangesDecoder:
        decoder = self._make_decoder(self.last_event_id)
        return decoder if self._changed is None else ChangesDecoder(decoder, self.retry_ms)
