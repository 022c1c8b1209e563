"""The turn layer: frames in, typed events and errors out.

A turn is one answer, on one connection. What its frames mean is up to a dialect; all else is here.
The rules, with the reason for each, are in docs/turn-protocol.md and docs/dialects.md.

Where a turn stands is looked up in the table of ``_states``. In a final state, what comes later is
discarded, and nothing of the stream is retained.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, overload

from . import _arguments
from ._decoder import FrameDecoder
from ._errors import (
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    RatatoskrError,
    SseConnectionDropped,
    TurnIdFlip,
)
from ._event_types import DEFAULT_EVENT_TYPES, EventTypes
from ._events import Done, E, Event, ServerError, Text, Unknown
from ._frames import Frame, ServerSentEvent, new_tuple
from ._sse_id import SseId, check_sse_id
from ._states import FINAL, TRANSITIONS, TurnInput, TurnState
from ._wire import DEFAULT_MAX_EVENT_BYTES
from .dialects import TURN, Complete, Dialect

TurnItem: TypeAlias = Event | RatatoskrError

T = TypeVar("T", bound=Event)

# Raised by a dialect as it reads a frame, these say that the frame is malformed.
_MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError)

_scan_once = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def _loads(text: str) -> Any:
    """``json.loads``, without its three calls in Python where nothing stands around the value."""
    try:
        value, end = _scan_once(text, 0)
    except StopIteration:
        value, end = None, -1
    return value if end == len(text) else json.loads(text)


class TurnDecoder(Generic[E]):
    """Decodes the one turn that a connection carries, without any I/O.

    Feed it bytes with ``receive_data``, or the frames of another parser with ``receive_sse``, and
    say when they end with ``receive_eof``. Use a new decoder for each connection.

    ``dialect`` (Dialect) says what the frames mean. ``loads`` (callable) reads JSON and raises
    ValueError or RecursionError for what it cannot read. ``max_event_bytes`` (int >= 1) limits one
    event, in bytes.

    Only with the dialect ``TURN``: ``resume_from`` (SseId or None) is the id of the last event seen
    on an earlier connection, and events up to it, which a server may send again, are dropped.
    ``event_types`` (EventTypes) says which JSON becomes which event.
    """

    @overload
    def __init__(
        self: TurnDecoder[Text | Done | ServerError | Unknown],
        resume_from: SseId | None = ...,
        *,
        loads: Callable[[str], Any] = ...,
        max_event_bytes: int = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: TurnDecoder[T | Unknown],
        resume_from: SseId | None = ...,
        event_types: EventTypes[T] = ...,
        loads: Callable[[str], Any] = ...,
        max_event_bytes: int = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: TurnDecoder[T],
        resume_from: SseId | None = ...,
        event_types: EventTypes[Any] = ...,
        loads: Callable[[str], Any] = ...,
        max_event_bytes: int = ...,
        *,
        dialect: Dialect[T],
    ) -> None: ...

    def __init__(
        self,
        resume_from: SseId | None = None,
        event_types: EventTypes[Any] = DEFAULT_EVENT_TYPES,
        loads: Callable[[str], Any] = json.loads,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        *,
        dialect: Dialect[Any] = TURN,
    ) -> None:
        """Raises TypeError or ValueError for an argument that is not as described above."""
        if resume_from is not None:
            check_sse_id("resume_from", resume_from)
        if not isinstance(event_types, EventTypes):
            raise TypeError(
                f"event_types must be an EventTypes, not {type(event_types).__name__}; "
                f"DEFAULT_EVENT_TYPES.with_types(...) makes one"
            )
        _arguments.function("loads", loads)
        if not isinstance(dialect, Dialect):
            raise TypeError(
                f"dialect must be a Dialect, not {type(dialect).__name__}; "
                f"ratatoskr_proto.dialects has some, such as DIALECTS['openai-chat']"
            )
        if not dialect.numbered:
            if resume_from is not None:
                raise ValueError("resume_from needs ids, which only the dialect TURN has")
            if event_types != DEFAULT_EVENT_TYPES:
                raise ValueError("event_types is for the dialect TURN; other dialects build events")
        elif event_types != DEFAULT_EVENT_TYPES:
            dialect = type(TURN)(event_types)
        self._dialect = dialect
        self._read = dialect.read
        self._longest_end_mark = max(map(len, dialect.end_marks), default=-1)
        self._loads = _loads if loads is json.loads else loads
        self._state = TurnState.STREAMING
        self._last_sse_id = resume_from
        self._turn_id: int | None = None
        self._id_prefix = ""  # how the ids of the turn begin, once it is known
        # Events up to this place are replays; None once the first event beyond it has come.
        self._replay_end: int | None = None
        if resume_from is not None:
            self._fix_turn(resume_from.turn_id)
            self._replay_end = resume_from.seq
        self._count = 0  # of the frames so far, in a dialect that does not number them
        self._completion: Complete | None = None
        self._retry_ms: int | None = None
        # None in a final state, so that nothing of the stream is retained.
        self._wire: FrameDecoder | None = FrameDecoder(max_event_bytes, dialect.flush_unfinished)
        self._fed_with = ""

    __reduce_ex__ = FrameDecoder.__reduce_ex__

    @property
    def state(self) -> TurnState:
        """Where the turn stands (TurnState)."""
        return self._state

    @property
    def last_sse_id(self) -> SseId | None:
        """The id of the last event that came out, ``resume_from`` until then."""
        return self._last_sse_id

    @property
    def turn_id(self) -> int | None:
        """The number of the turn: that of ``resume_from``, or of the first event that came out."""
        return self._turn_id

    @property
    def retry_ms(self) -> int | None:
        """The last valid ``retry:`` of the stream in milliseconds, or None."""
        return self._retry_ms

    @property
    def pending(self) -> bool:
        """Whether bytes of an unfinished event are held."""
        return self._wire is not None and self._wire.pending

    @property
    def over(self) -> bool:
        """Whether nothing more will come out: in the states ``DONE`` and ``FAILED``."""
        return self._state in FINAL

    def receive_data(self, chunk: bytes | bytearray | memoryview) -> list[E | RatatoskrError]:
        """Take the next bytes and return what they complete, in order: events, and at most one
        error, which is the last item. Once the turn is over, all input is discarded.

        No bytes make it raise. Raises TypeError if ``chunk`` is not bytes-like, RuntimeError after
        ``receive_sse()``; and lets through any exception that ``loads``, an event class or a
        dialect was not expected to raise: the turn has failed, and events of this call are lost.
        """
        data = chunk if type(chunk) is bytes else _arguments.chunk(chunk)
        if self._wire is None or not data:
            return []
        if self._fed_with != "receive_data":
            self._check_feeding("receive_data")
        frames = self._wire.receive_data(data)
        items: list[Any] = []
        if frames:
            error = self._read_frames(frames, items)
            if error is not None:
                self._fail(error, items)
        return items

    def receive_sse(self, sse: Any) -> list[E | RatatoskrError]:
        """Take one frame that another parser has dispatched, in place of its bytes.

        ``sse`` is any object with attributes ``event``, ``data`` and ``id``, each a str or None,
        which counts as ``""``; the events of httpx-sse and httpx2 are such. ``id`` must be the
        stream's last event id, as in the standard. Returns and raises what ``receive_data``
        does.
        """
        fields: list[str] = []
        for name in ServerSentEvent._fields:
            value = getattr(sse, name, False)
            if value is not None and not isinstance(value, str):
                raise TypeError(
                    f"receive_sse() takes an object whose event, data and id are str or None; "
                    f"{name} of this {type(sse).__name__} is not"
                )
            fields.append(value or "")
        if self.over:
            return []
        self._check_feeding("receive_sse")
        event, data, id = fields
        items: list[Any] = []
        error = self._read_frames([(event or "message", data, id)], items)
        if error is not None:
            self._fail(error, items)
        return items

    def receive_eof(self, reason: str = "end of stream") -> list[E | RatatoskrError]:
        """Say that the stream has ended, for whatever ``reason`` (str); docs/errors.md has a list.

        Returns ``[]`` if the turn was over. Else the last item is ``Done`` if the server had said
        that the answer is complete, or ``SseConnectionDropped``, whose reason also says if an
        unfinished event was lost. Before it stand the events of the last frame if it only lacked
        its line ends, in a dialect that reads such a frame. Raises TypeError if ``reason`` is not a
        str, and lets through the exceptions that ``receive_data`` does.
        """
        _arguments.text("reason", reason)
        if self._wire is None:
            return []
        items: list[Any] = []
        lost = self._wire.pending
        if lost and self._dialect.flush_unfinished and reason == "end of stream":
            lost = self._flush(self._wire, items)
            if self.over:
                return items
        completion = self._completion
        if completion is not None and (
            completion.certain or (reason == "end of stream" and not lost)
        ):
            self._finish(Done(sse_id=SseId(0, self._count), body={}), items)
            return items
        self._end(TurnInput.EOF)
        if lost:
            reason += "; unfinished event lost"
        items.append(SseConnectionDropped(self._last_sse_id, reason))
        return items

    def _flush(self, wire: FrameDecoder, items: list[Any]) -> bool:
        """Read the unfinished frame if it is a whole one; return whether an event is lost.

        Only a frame whose data is an end mark, or JSON that the dialect can read, is known to be
        whole. Half a frame is not the server's fault, so it is never called malformed.
        """
        begun = wire.begun
        frames = wire.receive_eof()
        if not any(type(frame) is tuple for frame in frames):
            return begun
        return self._read_frames(frames, items) is not None

    def _check_feeding(self, method: str) -> None:
        if self._fed_with not in ("", method):
            raise RuntimeError(
                f"{method}() was called after {self._fed_with}(): feed a decoder with one of them"
            )
        self._fed_with = method

    def _read_frames(
        self, frames: Sequence[Frame | EventTooLarge | int], items: list[Any]
    ) -> RatatoskrError | None:
        """Read frames, one after the other, up to the end of the turn, and put out the events;
        return the error that ends the turn, if any.

        The rules are those of docs/turn-protocol.md and docs/dialects.md, in their order.
        """
        loads, read, numbered = self._loads, self._read, self._dialect.numbered
        prefix, replay_end, count = self._id_prefix, self._replay_end, self._count
        end_marks, longest_end_mark = self._dialect.end_marks, self._longest_end_mark
        try:
            for frame in frames:
                if type(frame) is not tuple:  # one test for nearly all frames
                    if isinstance(frame, EventTooLarge):
                        return frame
                    assert isinstance(frame, int)
                    self._retry_ms = frame
                    continue
                event, data, id = frame
                # Exactly empty data says nothing, so not even its id is looked at. This is no
                # truthiness check of something stripped: white space is data.
                if data == "":
                    continue
                if not numbered:
                    count += 1
                    sse_id = new_tuple(SseId, (0, count))
                    if len(data) <= longest_end_mark and data in end_marks:
                        self._finish(Done(sse_id=sse_id, body={}), items)
                        return None
                elif (
                    len(seq := id.removeprefix(prefix)) < len(id)  # quicker than to parse it
                    and len(seq) < 20
                    and seq.isdigit()
                    and seq.isascii()
                ):
                    sse_id = new_tuple(SseId, (self._turn_id, int(seq)))
                else:
                    try:
                        sse_id = SseId.parse(id)
                    except ValueError:
                        return MalformedSseId(id)
                    if self._turn_id is not None and sse_id.turn_id != self._turn_id:
                        return TurnIdFlip(self._turn_id, sse_id.turn_id)
                try:
                    body = loads(data)
                except (ValueError, RecursionError):  # the latter for deep nesting
                    return MalformedSseData(data)
                try:
                    found = read(sse_id, event, body)
                except _MALFORMED:
                    return MalformedEnvelope(data)
                if found is None:
                    continue
                if type(found) is not list and not isinstance(found, Sequence):
                    raise TypeError(_wrong_result(self._dialect, body, found))
                for item in found:
                    if type(item) is Text and item.sse_id is sse_id:
                        pass  # by far the most common, and never the last
                    elif type(item) is Complete:
                        self._receive_complete(item)
                        continue
                    elif not isinstance(item, Event) or not (
                        isinstance(item.sse_id, SseId) and item.sse_id == sse_id
                    ):
                        raise TypeError(_wrong_result(self._dialect, body, item))
                    elif item.terminal:
                        self._finish(item, items)
                        return None
                    if replay_end is not None:  # until the first event that the caller has not seen
                        if sse_id.seq <= replay_end:
                            continue
                        replay_end = self._replay_end = None
                    items.append(item)
                    self._last_sse_id = sse_id
                    if self._turn_id is None:
                        self._fix_turn(sse_id.turn_id)
                        prefix = self._id_prefix
        except BaseException:  # of the caller's own code, see receive_data
            self._end(TurnInput.ERROR)
            raise
        self._count = count
        if items:
            self._state = TRANSITIONS[self._state, TurnInput.EVENT]
        return None

    def _fix_turn(self, turn_id: int) -> None:
        self._turn_id = turn_id
        self._id_prefix = f"{turn_id}:"

    def _receive_complete(self, new: Complete) -> None:
        """Note that the answer is complete. What was said with certainty, or as a reason, stays."""
        old = self._completion
        if old is not None:
            reason = old.stop_reason if new.stop_reason is None else new.stop_reason
            new = Complete(reason, old.certain or new.certain)
        self._completion = new

    def _finish(self, event: Event, items: list[Any]) -> None:
        """Put out a terminal event, with the reason that the server gave for the end."""
        completion = self._completion
        if isinstance(event, Done) and event.stop_reason is None and completion is not None:
            event = dataclasses.replace(event, stop_reason=completion.stop_reason)
        items.append(event)
        self._last_sse_id = event.sse_id
        self._turn_id = event.sse_id.turn_id
        self._end(TurnInput.TERMINAL)

    def _fail(self, error: RatatoskrError, items: list[Any]) -> None:
        """Put out an error, which ends the turn."""
        items.append(error)
        self._end(TurnInput.ERROR)

    def _end(self, happening: TurnInput) -> None:
        """Enter the final state that this leads to, and let go of the stream."""
        self._state = TRANSITIONS[self._state, happening]
        self._wire = None


def _wrong_result(dialect: Dialect[Any], body: Any, result: Any) -> str:
    """Say who returned something other than an event with the id that it was given."""
    if isinstance(dialect, type(TURN)):
        return (
            f"{dialect.event_types[body['type']].__name__}.from_body() must return an event with "
            f"the sse_id that it was given, not {result!r:.100}"
        )
    return (
        f"{type(dialect).__name__}.read() must return a sequence of events with the sse_id that it "
        f"was given and of Complete, or None, not {result!r:.100}"
    )
