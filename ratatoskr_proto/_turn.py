"""The turn layer: frames in, typed events and errors out.

The protocol, with the reason for each rule, is described in docs/turn-protocol.md. Its states are
data, and all there is to know of them is in ``TRANSITIONS``:

- While ``STREAMING``, each frame is judged by ``_judge``, rule by rule.
- ``DONE`` and ``FAILED`` are final. What comes later is discarded and nothing is retained.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from typing import Any, TypeAlias

from ._errors import (
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    RatatoskrError,
    SseConnectionDropped,
    TurnIdFlip,
)
from ._events import DEFAULT_EVENT_TYPES, Event, EventTypes, Text, Unknown, new_text
from ._sse_id import SseId
from ._wire import DEFAULT_MAX_EVENT_BYTES, EventStreamDecoder, ServerSentEvent, as_bytes


class TurnState(enum.Enum):
    """Where a turn stands."""

    STREAMING = "streaming"  #: events may come
    DONE = "done"  #: the terminal event has come out
    FAILED = "failed"  #: an error has come out


class TurnInput(enum.Enum):
    """What can happen to a turn."""

    EVENT = "event"  #: an event that is not terminal
    TERMINAL = "terminal"  #: an event that is
    ERROR = "error"  #: a frame that breaks the protocol, or the caller's own code failing on one
    EOF = "eof"  #: the end of the stream


# A state without a row is final.
TRANSITIONS: dict[tuple[TurnState, TurnInput], TurnState] = {
    (TurnState.STREAMING, TurnInput.EVENT): TurnState.STREAMING,
    (TurnState.STREAMING, TurnInput.TERMINAL): TurnState.DONE,
    (TurnState.STREAMING, TurnInput.ERROR): TurnState.FAILED,
    (TurnState.STREAMING, TurnInput.EOF): TurnState.FAILED,
}

TurnItem: TypeAlias = Event | RatatoskrError


_new_tuple = tuple.__new__  # a NamedTuple's own __new__ is a Python call, three times as slow
_scan_once = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def _loads(text: str) -> Any:
    """``json.loads``, without its three calls in Python where nothing stands around the value."""
    try:
        value, end = _scan_once(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else json.loads(text)


class TurnDecoder:
    """Decodes the one turn that a connection carries, without any I/O.

    Feed it bytes with ``receive_data``, or the frames of another parser with ``receive_sse``, and
    say when they end with ``receive_eof``. Use a new decoder for each connection.

    ``resume_from`` (SseId or None) is the id of the last event seen on an earlier connection:
    events up to it, which a server may send again, are dropped. ``event_types`` (EventTypes) says
    which JSON becomes which event. ``loads`` (callable) reads JSON and raises ValueError or
    RecursionError for what it cannot read. ``max_event_bytes`` (int >= 1) limits one event, in
    bytes.
    """

    def __init__(
        self,
        resume_from: SseId | None = None,
        event_types: EventTypes = DEFAULT_EVENT_TYPES,
        loads: Callable[[str], Any] = json.loads,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
    ) -> None:
        """Raises TypeError or ValueError for an argument that is not as described above."""
        if resume_from is not None and not isinstance(resume_from, SseId):
            raise TypeError(
                f"resume_from must be an SseId or None, not {type(resume_from).__name__}; "
                f"SseId.parse('42:3') makes one"
            )
        # Raises ValueError for numbers that no id can have.
        if resume_from is not None and SseId.parse(str(resume_from)) != resume_from:
            raise TypeError(f"resume_from must hold two ints, not {tuple(resume_from)!r}")
        if not isinstance(event_types, EventTypes):
            raise TypeError(
                f"event_types must be an EventTypes, not {type(event_types).__name__}; "
                f"DEFAULT_EVENT_TYPES.with_types(...) makes one"
            )
        if not callable(loads):
            raise TypeError(f"loads must be callable, not {type(loads).__name__}")
        self._event_types = event_types
        self._loads = _loads if loads is json.loads else loads
        self._state = TurnState.STREAMING
        self._last_sse_id = resume_from
        self._turn_id: int | None = None
        self._id_prefix = ""  # how the ids of the turn begin, once it is fixed
        if resume_from is not None:
            self._fix_turn(resume_from.turn_id)
        # Events up to this place are replays; None once the first event beyond it has come.
        self._replay_end = None if resume_from is None else resume_from.seq
        # None in a final state, so that nothing of the stream is retained.
        self._wire: _TurnWire | None = _TurnWire(max_event_bytes)
        self._retry_ms: int | None = None
        self._fed_with = ""
        self._items: list[TurnItem] = []

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
        return self._retry_ms if self._wire is None else self._wire.retry_ms

    @property
    def pending(self) -> bool:
        """Whether bytes of an unfinished event are held."""
        return self._wire is not None and self._wire.pending

    @property
    def over(self) -> bool:
        """Whether nothing more will come out: in the states ``DONE`` and ``FAILED``."""
        return self._wire is None

    def receive_data(self, chunk: bytes | bytearray | memoryview) -> list[TurnItem]:
        """Take the next bytes and return what they complete, in order: events, and at most one
        error, which is the last item. Once the turn is over, all input is discarded.

        No bytes make it raise. Raises TypeError if ``chunk`` is not bytes-like, RuntimeError after
        ``receive_sse()``; and lets through any exception that ``loads`` or an event class was not
        expected to raise: the turn has failed then, and events of this call are lost.
        """
        if type(chunk) is not bytes:
            chunk = as_bytes(chunk)
        if self._wire is None or not chunk:
            return []
        if self._fed_with != "receive_data":
            self._check_feeding("receive_data")
        self._wire._feed(chunk, self)
        items, self._items = self._items, []
        return items

    def receive_sse(self, sse: Any) -> list[TurnItem]:
        """Take one frame that another parser has dispatched, in place of its bytes.

        ``sse`` is any object with attributes ``data`` and ``id``, each a str or None, which counts
        as ``""``; the events of httpx-sse and httpx2 are such. ``id`` must be the stream's last
        event id, as the standard has it. Returns and raises what ``receive_data`` does.
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
        if self._wire is None:
            return []
        self._check_feeding("receive_sse")
        _, data, raw_id = fields
        self._receive(self._judge, data, raw_id)
        items, self._items = self._items, []
        return items

    def receive_eof(self, reason: str = "end of stream") -> list[TurnItem]:
        """Say that the stream has ended, for whatever ``reason`` (str); docs/errors.md has a list.

        Returns ``[]`` if the turn was over, else one ``SseConnectionDropped``, whose reason also
        says if an unfinished event was lost. Raises TypeError if ``reason`` is not a str.
        """
        if not isinstance(reason, str):
            raise TypeError(f"reason must be a str, not {type(reason).__name__}")
        if self._wire is None:
            return []
        if self.pending:
            reason += "; unfinished event lost"
        self._end(TurnInput.EOF)
        return [SseConnectionDropped(self._last_sse_id, reason)]

    def _check_feeding(self, method: str) -> None:
        if self._fed_with not in ("", method):
            raise RuntimeError(
                f"{method}() was called after {self._fed_with}(): feed a decoder with one of them"
            )
        self._fed_with = method

    def _receive(self, judge: Callable[..., TurnItem | None], *frame: Any) -> bool:
        """Put out what a frame becomes; return whether the turn is over."""
        try:
            item = judge(*frame)
        except BaseException:  # of the caller's own code, see receive_data
            self._end(TurnInput.ERROR)
            raise
        if item is None:
            return False
        if isinstance(item, RatatoskrError):
            return self._receive_error(item)
        self._items.append(item)
        self._last_sse_id = item.sse_id
        if self._turn_id is None:
            self._fix_turn(item.sse_id.turn_id)
        if item.terminal:
            self._end(TurnInput.TERMINAL)
        return item.terminal

    def _receive_error(self, error: RatatoskrError) -> bool:
        """Put out an error, which ends the turn."""
        self._items.append(error)
        self._end(TurnInput.ERROR)
        return True

    def _fix_turn(self, turn_id: int) -> None:
        self._turn_id = turn_id
        self._id_prefix = f"{turn_id}:"

    def _end(self, happening: TurnInput) -> None:
        """Go into the final state that this leads to, and let go of the stream."""
        assert self._wire is not None
        self._state = TRANSITIONS[self._state, happening]
        self._retry_ms = self._wire.retry_ms
        self._wire = None

    def _judge(self, data: str, raw_id: str) -> TurnItem | None:
        """Apply the rules of docs/turn-protocol.md, in their order, to one frame; None skips it."""
        # 1. A frame with exactly empty data says nothing, so not even its id is looked at. This is
        # no truthiness check of something stripped: white space is data.
        if data == "":
            return None
        # 2. The id, its own or the one before it, is "<turn>:<seq>".
        try:
            sse_id = SseId.parse(raw_id)
        except ValueError:
            return MalformedSseId(raw_id)
        # 3. One connection carries one turn.
        if self._turn_id is not None and sse_id.turn_id != self._turn_id:
            return TurnIdFlip(self._turn_id, sse_id.turn_id)
        return self._judge_data(data, sse_id)

    def _judge_data(self, data: str, sse_id: SseId) -> TurnItem | None:
        """As ``_judge``, from where the id is known to be of the turn and the data not empty."""
        # 4. The data is JSON. RecursionError, for deep nesting, is no ValueError.
        try:
            body = self._loads(data)
        except (ValueError, RecursionError):
            return MalformedSseData(data)
        return self._judge_body(data, sse_id, body)

    def _judge_body(self, data: str, sse_id: SseId, body: Any) -> TurnItem | None:
        """As ``_judge``, from where the data is known to be JSON: ``body``."""
        # 5. The JSON is an object with a string "type" and what that type needs.
        type_name = body.get("type") if isinstance(body, dict) else None
        if not isinstance(type_name, str):
            return MalformedEnvelope(data)
        event_class = self._event_types.get(type_name)
        if event_class is None:
            event: Event = Unknown(type_name, sse_id=sse_id, body=body)
        else:
            try:
                event = event_class.from_body(sse_id, body)
            except (ValueError, TypeError, KeyError):
                return MalformedEnvelope(data)
            if not isinstance(event, Event) or event.sse_id != sse_id:
                raise TypeError(
                    f"{event_class.__name__}.from_body() must return an event with the sse_id that "
                    f"it was given, not {event!r:.100}"
                )
        # 6. After a resume, what the caller has seen already is dropped, but never the end.
        if self._replay_end is not None:
            if sse_id.seq <= self._replay_end and not event.terminal:
                return None
            self._replay_end = None
        # 7. It comes out.
        return event


class _TurnWire(EventStreamDecoder):
    """The wire layer of a turn: hands each frame to the turn."""

    def _receive_text(self, text: str, out: TurnDecoder) -> bool:
        position = 0
        while True:
            position = self._receive_usual(text, position, out)
            if out._wire is None:
                return True
            if position >= len(text):
                return False
            # One block of any shape; no more, so that nothing counts behind the end of the turn.
            end = text.find("\n\n", position) + 1 or len(text)
            frames: list[Any] = []
            super()._receive_text(text[position:end], frames)
            for frame in frames:
                if out._receive(out._judge, frame.data, frame.id):
                    return True
            position = end + 1

    def _receive_usual(self, text: str, position: int, turn: TurnDecoder) -> int:
        """Read blocks as long as each is a line with an id of the turn and one with JSON, by far
        the most common shape; return where the first other one begins.

        The JSON is read where it stands in the text, and a piece of the answer becomes an event
        right here. That is the same as ``_judge`` and ``Text.from_body`` do, in half their time.
        """
        if not turn._id_prefix:
            return position
        start_of_id = f"id: {turn._id_prefix}"
        turn_id, last, seq = turn._turn_id, turn._last_sse_id, ""
        scans = turn._loads is _loads and turn._replay_end is None
        texts = turn._event_types.get("text") is Text
        append = turn._items.append
        while text.startswith(start_of_id, position):
            id_end = text.find("\n", position)
            data_end = text.find("\n", id_end + 1)
            number = text[position + len(start_of_id) : id_end]
            if not (
                text.startswith("data: ", id_end + 1)
                and (text.startswith("\n", data_end + 1) or data_end + 1 == len(text))
                and number.isdigit()
                and number.isascii()
                and len(number) < 20
            ):
                break
            position, seq = data_end + 2, number
            sse_id = _new_tuple(SseId, (turn_id, int(seq)))
            try:
                body, end = _scan_once(text, id_end + 7) if scans else (None, -1)
            except (StopIteration, ValueError, RecursionError):
                end = -1  # _judge_data will say what is wrong
            if (
                end == data_end
                and texts
                and type(body) is dict
                and body.get("type") == "text"
                and type(value := body.get("text")) is str
            ):
                append(new_text(sse_id, body, value))
                last = sse_id
                continue
            turn._last_sse_id = last
            data = text[id_end + 7 : data_end]
            if end == data_end:
                over = turn._receive(turn._judge_body, data, sse_id, body)
            else:
                over = data != "" and turn._receive(turn._judge_data, data, sse_id)
            if over:
                return position
            last = turn._last_sse_id
        if seq:
            turn._last_sse_id = last
            self._last_event_id = turn._id_prefix + seq
        return position

    def _dispatch_too_large(self, out: TurnDecoder) -> bool:
        return out._receive_error(EventTooLarge(self._max_event_bytes))
