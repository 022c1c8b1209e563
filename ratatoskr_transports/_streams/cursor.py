"""Between the bytes of a body and whoever iterates over a stream: no I/O.

A cursor knows what has been handed out, and whether the stream is over or broken. So an iterator
only has to take the next item; if there is none, decode the next piece of the body; and if there is
no piece either, read more.
"""

from __future__ import annotations

import copy
import logging
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, NoReturn, TypeAlias, TypeVar

from ratatoskr_proto import (
    Comment,
    Event,
    EventStreamDecoder,
    EventTooLarge,
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

PIECE = 64 * 1024  # bytes of a body that are decoded in one go

D = TypeVar("D", TurnDecoder, EventStreamDecoder | ChangesDecoder)
Changed: TypeAlias = Callable[[str, int | None], object]


class _Over:
    """The type of ``OVER``: the stream has ended without an error."""


OVER: Final = _Over()


def raise_error(error: RatatoskrError) -> None:
    """Raise an error of ours without a cause or a context: these may hold a payload."""
    try:
        raise error from None
    finally:
        error.__context__ = None


def raise_foreign(error: BaseException) -> NoReturn:
    """Raise somebody else's exception, or another one if it would look like a clean end."""
    if isinstance(error, (StopIteration, StopAsyncIteration)):
        name = type(error).__name__
        raise RuntimeError(f"{name} was raised where it does not end a stream") from error
    raise error


class Cursor(ABC, Generic[D]):
    """Takes the body of a stream, in pieces, and hands out its items one at a time.

    ``ready`` holds the items that neither end the stream nor need a look. Whoever takes one from it
    must set ``last``, which is the last event that was handed out.

    If it is ``resumable``, a lost connection is not an error yet: ``take`` returns OVER and
    ``loss`` says how it was lost, until ``resume``, ``fail`` or ``end`` is called.
    """

    def __init__(self, decoder: D) -> None:
        self.resumable = False
        self.needs_id = False
        self.loss: RatatoskrError | None = None
        self.last: Any = None
        self.ready: Iterator[Any] = iter(())
        self._others: Iterator[Any] = iter(())  # the items after those that are ready
        self._decoder: D = decoder
        self._retry_ms: int | None = None  # of the connections before
        self._content_encoding = ""
        self._body: BodyDecoder[Any] = BodyDecoder(decoder)
        self._plain = True  # whether the body has no coding to undo
        self._pieces: Iterator[bytes] = iter(())  # of what was read, but is not decoded yet
        self._started = False
        self._ended = False
        self._over = False
        self._error: RatatoskrError | None = None
        self._noted = self._position()

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
    def last_event_id_to_send(self) -> str | None:
        """What to send as ``Last-Event-ID`` to resume here, None if that is impossible."""

    def has_progressed(self) -> bool:
        """Whether something new has been handed out since this was asked before."""
        noted, self._noted = self._noted, self._position()
        # Events are compared by identity: one that is equal to the one before is new as well.
        return noted[0] is not self._noted[0] or noted[1] != self._noted[1]

    def take(self) -> Any:
        """Return the next item, None if more of the body is needed, OVER at the end.

        Raises a fresh copy of the error that ended the stream, each time.
        """
        if self._error is not None:
            self.raise_if_broken()
        for item in self.ready:
            self.last = item
            return item
        for item in self._others:
            if isinstance(item, RatatoskrError):
                if self.resumable:
                    self.loss = item
                    return OVER
                self.fail(item)
                self.raise_if_broken()
            if self._hand_out(item):
                return item
            self.raise_if_broken()  # the caller's code may have closed the stream
        if self._ended and not self._over:
            if self.resumable:
                self.loss = SseConnectionDropped(self._resume_point(), "end of stream")
                return OVER
            self.end()
        return OVER if self._over else None

    def raise_if_broken(self) -> None:
        """Raise a fresh copy of the error that ended the stream, if one did."""
        if self._error is not None:
            raise_error(copy.copy(self._error))

    def start_body(self, content_encoding: str) -> None:
        """Say how the body of a connection is coded."""
        self._content_encoding = content_encoding
        tap = self._body.tap
        self._body = BodyDecoder(self._decoder, content_encoding)
        self._body.tap = tap
        self._plain = self._body.plain

    def receive_data(self, data: bytes) -> bytes | None:
        """Take the next bytes of the body and return the first piece of them, as ``next_piece``."""
        self._started = True
        if self._plain and len(data) <= PIECE:
            return data
        self._pieces = self._cut(data)
        return self.next_piece()

    def _cut(self, data: bytes) -> Iterator[bytes]:
        for piece in self._body.pieces(data):
            for start in range(0, len(piece), PIECE):
                yield piece[start : start + PIECE]

    def next_piece(self) -> bytes | None:
        """Return the next bytes to be decoded, at most ``PIECE``; None if more must be read."""
        try:
            return next(self._pieces, None)
        except zlib.error:
            self.receive_eof("protocol")
            return b""

    def decode(self, piece: bytes) -> None:
        """Decode a piece of the body."""
        try:
            self._put(self._body.decode(piece))
        except BaseException as error:  # a bug in the caller's loads, event class or tap
            self.close()
            raise_foreign(error)
        if self._error is not None:  # closed meanwhile
            self._drop_items()

    def receive_eof(self, reason: str) -> None:
        """Take the end of the body and the reason for it."""
        self._drop_items()
        self._ended = True
        try:
            self._others = iter(self._finish(reason))
        except BaseException as error:  # as above
            self.close()
            raise_foreign(error)

    def resume(self) -> None:
        """Get ready for another connection, which resumes after what was handed out."""
        self._retry_ms = self.retry_ms
        self._decoder = self._next_decoder()
        self._drop_items()
        self._ended = False
        self.loss = None

    def end(self) -> None:
        """End the stream without an error."""
        self.loss = None
        self._over = True

    def fail(self, error: RatatoskrError) -> None:
        """End the stream with this error, unless it has one, and log its label, once."""
        if self._error is None:
            logger.warning(error_label(error))
            self._break(error)

    def close(self) -> None:
        """Break a stream that is not over: it must never look as if it had come to its end."""
        if not self._over and self._error is None:
            self._break(SseConnectionDropped(self._resume_point(), "closed"))

    def _break(self, error: RatatoskrError) -> None:
        self._error = error
        self._drop_items()

    def _drop_items(self) -> None:
        self.ready = self._others = self._pieces = iter(())

    @abstractmethod
    def _position(self) -> tuple[Any, Any]:
        """The last event, and the id if that can change without one."""

    @abstractmethod
    def _put(self, items: Sequence[Any]) -> None:
        """Take the items of a piece: into ``ready`` what needs no look, else into ``_others``."""

    def _finish(self, reason: str) -> list[Any]:
        """End the decoder and return the last items, a loss among them."""
        return self._body.finish(reason)

    @abstractmethod
    def _hand_out(self, item: Any) -> bool:
        """Note what the caller is given; return False if it is not for the caller."""

    @abstractmethod
    def _next_decoder(self) -> D:
        """The decoder of a connection that resumes after what was handed out."""

    @abstractmethod
    def _resume_point(self) -> SseId | None:
        """The id of an ``SseConnectionDropped``."""


class TurnCursor(Cursor[TurnDecoder]):
    """Hands out the events of a turn and tells where it stands for the caller.

    ``make_decoder`` makes the decoder of each connection, which resumes after an id, if any.
    """

    def __init__(
        self, make_decoder: Callable[[SseId | None], TurnDecoder], resume_from: SseId | None
    ) -> None:
        super().__init__(make_decoder(resume_from))
        self._make_decoder = make_decoder
        self._resume_from = resume_from

    @property
    def last_sse_id(self) -> SseId | None:
        """The id of the last event, as far as the turn was handed out."""
        event: Event | None = self.last
        return self._resume_from if event is None else event.sse_id

    @property
    def last_event_id_to_send(self) -> str | None:
        """The id of the last event; without an id, no server could tell which turn is meant."""
        return None if self.last_sse_id is None else str(self.last_sse_id)

    @property
    def turn_id(self) -> int | None:
        """The number of the turn, as far as it was handed out."""
        return None if self.last_sse_id is None else self.last_sse_id.turn_id

    @property
    def state(self) -> TurnState:
        """Where the turn stands, as far as it was handed out."""
        if self._over:
            return TurnState.DONE
        return TurnState.STREAMING if self._error is None else TurnState.FAILED

    def _position(self) -> tuple[Any, Any]:
        return self.last, None

    def _put(self, items: Sequence[Any]) -> None:
        # Only the last item can be the terminal event or an error.
        if len(items) > 1:
            self.ready = iter(items[:-1])
            items = items[-1:]
        self._others = iter(items)

    def _hand_out(self, item: Event) -> bool:
        self.last = item
        self._over = item.terminal
        return True

    def _next_decoder(self) -> TurnDecoder:
        return self._make_decoder(self.last_sse_id)

    def _resume_point(self) -> SseId | None:
        return self.last_sse_id


class EventCursor(Cursor[EventStreamDecoder | ChangesDecoder]):
    """Hands out the events, and comments if asked for, of any event stream.

    ``make_decoder`` makes the decoder of each connection, which starts with a last event id. If it
    ``needs_id``, the stream can be resumed only once an id has come.
    """

    def __init__(
        self, make_decoder: Callable[[str], EventStreamDecoder], last_event_id: str, comments: bool
    ) -> None:
        # The last event id, and the event after which it came without one of its own.
        self._first_id = self._bare_id = (None, last_event_id)
        super().__init__(make_decoder(last_event_id))
        self.ended_mid_event = False
        self._make_decoder = make_decoder
        self._comments = comments
        self._changed: Changed | None = None

    @property
    def last_event_id(self) -> str:
        """The last event id, as far as the stream was handed out."""
        after, last_event_id = self._bare_id
        return last_event_id if after is self.last else str(self.last.id)

    @property
    def last_event_id_to_send(self) -> str | None:
        """The last event id; with the empty one the stream is asked for from its start."""
        if self.needs_id and (self._position() == self._first_id or not self.last_event_id):
            return None
        return self.last_event_id

    def watch(self, changed: Changed) -> None:
        """Have ``changed`` called wherever the id or the retry time changes without an event."""
        if self._started:
            raise RuntimeError("watch() must be called before the first item is asked for")
        self._changed = changed
        self._decoder = self._next_decoder()
        self.start_body(self._content_encoding)

    def take(self) -> Any:
        """As in ``Cursor``. An id may also come without an event, once all before is out."""
        item = super().take()
        out = item is None or item is OVER
        if out and self._decoder.last_event_id != self.last_event_id:
            self._bare_id = (self.last, self._decoder.last_event_id)
        return item

    def resume(self) -> None:
        """As in ``Cursor``."""
        super().resume()
        self.ended_mid_event = False

    def _position(self) -> tuple[Any, Any]:
        return self.last, self.last_event_id

    def _put(self, items: Sequence[Any]) -> None:
        if self._comments or self._changed is not None or EventTooLarge in map(type, items):
            self._others = iter(items)
        else:
            self.ready = iter(items)

    def _finish(self, reason: str) -> list[Any]:
        pending = self._decoder.pending
        items = super()._finish(reason)
        self.ended_mid_event = pending and not any(type(each) is ServerSentEvent for each in items)
        return items

    def _hand_out(self, item: ServerSentEvent | Comment | Change) -> bool:
        if isinstance(item, ServerSentEvent):
            self.last = item
        elif isinstance(item, Change):
            self._bare_id = (self.last, item.last_event_id)
            assert self._changed is not None
            try:
                self._changed(*item)
            except BaseException as error:
                self.close()
                raise_foreign(error)
            return False
        return True

    def _next_decoder(self) -> EventStreamDecoder | ChangesDecoder:
        decoder = self._make_decoder(self.last_event_id)
        return decoder if self._changed is None else ChangesDecoder(decoder, self.retry_ms)

    def _resume_point(self) -> SseId | None:
        return None
