"""The typed events, and the table that tells which JSON becomes which.

See docs/turn-protocol.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

from . import _typing
from ._fields import Field, read_fields, readable_fields
from ._sse_id import SseId


@dataclass(frozen=True)
class Event:
    """Base of the events of a stream.

    ``sse_id`` (SseId) says where the event stands, ``body`` (dict) is the whole JSON object the
    server sent, so nothing it said is lost. ``body`` takes part in ``==``, not in ``hash()`` or
    ``repr()``. ``type`` (str) is the ``"type"`` of the JSON object, ``terminal`` (bool) says
    whether the event is the last of its stream.

    A subclass adds a type of its own: a frozen dataclass with a class attribute ``type``, whose
    fields are read from the keys of the same names::

        @dataclass(frozen=True)
        class ToolCall(Event):
            type = "tool_call"
            name: str                                           # the key must be there
            args: dict[str, Any] = field(default_factory=dict)  # with a default it may be missing
    """

    type: ClassVar[str]
    terminal: ClassVar[bool] = False
    _known_fields: ClassVar[tuple[Field, ...]]

    sse_id: SseId = field(kw_only=True)
    body: dict[str, Any] = field(kw_only=True, hash=False, repr=False)

    @classmethod
    def from_body(cls, sse_id: SseId, body: dict[str, Any]) -> Self:
        """Build the event from the JSON object ``body`` of the frame with the id ``sse_id``.

        Only the outer kind of a value is checked, as the field is annotated: ``str``, ``int`` (not
        bool), ``float`` (an int too), ``bool``, ``list``, ``dict``, ``Any``, or one of these or
        None. Raises ValueError for a missing or wrong value, TypeError for another annotation.

        A subclass may override it; ValueError, TypeError, KeyError, IndexError and AttributeError
        then mean that the body is malformed.
        """
        return cls(**read_fields(_fields_of(cls), body), sse_id=sse_id, body=body)


@dataclass(frozen=True)
class Text(Event):
    """A piece of the answer: ``{"type": "text", "text": "…"}``."""

    type = "text"
    text: str


def new_text(text: str, sse_id: SseId, body: dict[str, Any]) -> Text:
    """Build a ``Text``, by far the most common event, as its generated ``__init__`` does, which
    takes three times as long.
    """
    event = object.__new__(Text)
    fields = event.__dict__
    fields["sse_id"] = sse_id
    fields["body"] = body
    fields["text"] = text
    return event


@dataclass(frozen=True)
class Reasoning(Event):
    """A piece of the model's thinking, in dialects that show it."""

    type = "reasoning"
    text: str


@dataclass(frozen=True)
class Done(Event):
    """The answer is complete: ``{"type": "done", …}``. Terminal.

    ``stop_reason`` (str or None) says why it ended, in the server's word, if the server said so.
    """

    type = "done"
    terminal = True
    stop_reason: str | None = None

    @classmethod
    def from_body(cls, sse_id: SseId, body: dict[str, Any]) -> Self:
        """As ``Event.from_body``, but a ``stop_reason`` that is no string counts as None."""
        if cls is not Done:
            return super().from_body(sse_id, body)
        reason = body.get("stop_reason")
        return cls(reason if isinstance(reason, str) else None, sse_id=sse_id, body=body)


@dataclass(frozen=True)
class ServerError(Event):
    """The server gave up: ``{"type": "error", "message": "…", …}``. Terminal."""

    type = "error"
    terminal = True
    message: str


@dataclass(frozen=True)
class Unknown(Event):
    """An event of a type that nobody here knows; all it says is in ``body``."""

    type: str  # type: ignore[misc]  # here, and only here, each instance has its own


#: The events that a decoder puts out, as a union.
E = _typing.TypeVar("E", bound=Event, default=Event, covariant=True)

A = TypeVar("A", bound=Event)
B = TypeVar("B", bound=Event)
C = TypeVar("C", bound=Event)
D = TypeVar("D", bound=Event)
F = TypeVar("F", bound=Event)
G = TypeVar("G", bound=Event)
H = TypeVar("H", bound=Event)
I = TypeVar("I", bound=Event)  # noqa: E741


class EventTypes(Mapping[str, type[Event]], Generic[E]):
    """Which event class a ``"type"`` becomes: a read-only mapping, hashable. Start from
    ``DEFAULT_EVENT_TYPES`` and add to it with ``with_types``, or from none.

    ``E`` is the union of the classes.
    """

    def __init__(self, *classes: type[E]) -> None:
        """Raises what ``with_types`` does."""
        for cls in classes:
            _check_event_class(cls)
        self._classes = {cls.type: cls for cls in classes}

    def __getitem__(self, type_name: str) -> type[E]:
        return self._classes[type_name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __hash__(self) -> int:
        return hash(frozenset(self._classes.items()))

    def __repr__(self) -> str:
        return f"<EventTypes {', '.join(self)}>"

    @overload
    def with_types(self) -> EventTypes[E]: ...
    @overload
    def with_types(self, a: type[A], /) -> EventTypes[E | A]: ...
    @overload
    def with_types(self, a: type[A], b: type[B], /) -> EventTypes[E | A | B]: ...
    @overload
    def with_types(self, a: type[A], b: type[B], c: type[C], /) -> EventTypes[E | A | B | C]: ...
    @overload
    def with_types(
        self, a: type[A], b: type[B], c: type[C], d: type[D], /
    ) -> EventTypes[E | A | B | C | D]: ...
    @overload
    def with_types(
        self, a: type[A], b: type[B], c: type[C], d: type[D], f: type[F], /
    ) -> EventTypes[E | A | B | C | D | F]: ...
    @overload
    def with_types(
        self, a: type[A], b: type[B], c: type[C], d: type[D], f: type[F], g: type[G], /
    ) -> EventTypes[E | A | B | C | D | F | G]: ...
    @overload
    def with_types(
        self, a: type[A], b: type[B], c: type[C], d: type[D], f: type[F], g: type[G], h: type[H], /
    ) -> EventTypes[E | A | B | C | D | F | G | H]: ...
    @overload
    def with_types(
        self,
        a: type[A],
        b: type[B],
        c: type[C],
        d: type[D],
        f: type[F],
        g: type[G],
        h: type[H],
        i: type[I],
        /,
    ) -> EventTypes[E | A | B | C | D | F | G | H | I]: ...
    @overload
    def with_types(self, *classes: type[Event]) -> EventTypes[Event]: ...

    def with_types(self, *classes: type[Event]) -> EventTypes[Any]:
        """Return a new table with these classes added; a later one replaces an earlier one of the
        same type.

        Raises TypeError for what is not a dataclass derived from ``Event``, has no class attribute
        ``type``, or has a field whose annotation ``Event.from_body`` cannot check.
        """
        return EventTypes(*self._classes.values(), *classes)


def _check_event_class(cls: type[Event]) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Event)):
        raise TypeError(f"an event type is a class derived from Event, not {cls!r}")
    if not isinstance(getattr(cls, "type", None), str):
        raise TypeError(f'{cls.__name__} needs a class attribute such as type = "tool_call"')
    if not inspect.ismethod(cls.from_body):
        raise TypeError(f"{cls.__name__}.from_body must be a class method")
    for base in cls.__mro__:
        annotations = inspect.get_annotations(base).values()
        has_fields = any("ClassVar" not in str(annotation) for annotation in annotations)
        if has_fields and "__dataclass_fields__" not in vars(base):
            raise TypeError(f"{base.__name__} must be decorated with @dataclass(frozen=True)")
    if cls.from_body.__func__ is Event.from_body.__func__:  # type: ignore[attr-defined]
        _fields_of(cls)


def _fields_of(cls: type[Event]) -> tuple[Field, ...]:
    """The fields that an event class is built with, but for those of ``Event`` itself.

    Kept on the class once they are worked out. Raises TypeError for one that cannot be checked.
    """
    known: tuple[Field, ...] | None = cls.__dict__.get("_known_fields")
    if known is None:
        known = tuple(readable_fields(cls, leave_out=("sse_id", "body")))
        cls._known_fields = known
    return known


DEFAULT_EVENT_TYPES: EventTypes[Text | Done | ServerError] = EventTypes(Text, Done, ServerError)
