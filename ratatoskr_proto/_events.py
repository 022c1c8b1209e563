"""The typed events of a turn, and the table that tells which JSON becomes which.

See docs/turn-protocol.md.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

from ._sse_id import SseId


@dataclass(frozen=True)
class Event:
    """Base of the events of a turn.

    ``sse_id`` (SseId) says where the event stands, ``body`` (dict) is the whole JSON object the
    server sent, so nothing it said is lost. ``body`` takes part in ``==``, not in ``hash()`` or
    ``repr()``. ``type`` (str) is the ``"type"`` of the JSON object, ``terminal`` (bool) says
    whether the event ends its turn.

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
    _known_fields: ClassVar[tuple[_Field, ...]]

    sse_id: SseId = field(kw_only=True)
    body: dict[str, Any] = field(kw_only=True, hash=False, repr=False)

    @classmethod
    def from_body(cls, sse_id: SseId, body: dict[str, Any]) -> Self:
        """Build the event from the JSON object ``body`` of the frame with the id ``sse_id``.

        Only the outer kind of a value is checked, as the field is annotated: ``str``, ``int`` (not
        bool), ``float`` (an int too), ``bool``, ``list``, ``dict``, ``Any``, or one of these or
        None. Raises ValueError for a missing or wrong value, TypeError for another annotation.

        A subclass may override it; ValueError, TypeError and KeyError then mean that the body is
        malformed.
        """
        values: dict[str, Any] = {}
        for name, kinds, required in _readable_fields(cls):
            if name in body:
                value = body[name]
                if kinds and not _is_of(kinds, value):
                    wanted = " or ".join(kind.__name__ for kind in kinds)
                    raise ValueError(f"{name!r} must be {wanted}, not {type(value).__name__}")
                values[name] = value
            elif required:
                raise ValueError(f"the key {name!r} is missing")
        return cls(**values, sse_id=sse_id, body=body)


@dataclass(frozen=True)
class Text(Event):
    """A piece of the answer: ``{"type": "text", "text": "…"}``."""

    type = "text"
    text: str

    @classmethod
    def from_body(cls, sse_id: SseId, body: dict[str, Any]) -> Self:
        """As ``Event.from_body``; by far the most common event, so the shortest way to it."""
        text = body.get("text")
        if cls is not Text or not isinstance(text, str):
            return super().from_body(sse_id, body)
        # Only the class itself comes here.
        return typing.cast(Self, new_text(sse_id, body, text))


def new_text(sse_id: SseId, body: dict[str, Any], text: str) -> Text:
    """Build a ``Text`` as the generated ``__init__`` of a frozen dataclass does, in a third of its
    time.
    """
    event = object.__new__(Text)
    fields = event.__dict__
    fields["sse_id"] = sse_id
    fields["body"] = body
    fields["text"] = text
    return event


@dataclass(frozen=True)
class Done(Event):
    """The turn is complete: ``{"type": "done", …}``. Terminal."""

    type = "done"
    terminal = True


@dataclass(frozen=True)
class ServerError(Event):
    """The server gave the turn up: ``{"type": "error", "message": "…", …}``. Terminal."""

    type = "error"
    terminal = True
    message: str


@dataclass(frozen=True)
class Unknown(Event):
    """An event of a type that the table does not hold; all it says is in ``body``."""

    type: str  # type: ignore[misc]  # here, and only here, each instance has its own


class EventTypes(Mapping[str, type[Event]]):
    """Which event class a ``"type"`` becomes: a read-only mapping. Start from
    ``DEFAULT_EVENT_TYPES`` and add to it with ``with_types``, or from none.
    """

    def __init__(self, *classes: type[Event]) -> None:
        """Raises what ``with_types`` does."""
        for cls in classes:
            _check_event_class(cls)
        self._classes = {cls.type: cls for cls in classes}

    def __getitem__(self, type_name: str) -> type[Event]:
        return self._classes[type_name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __repr__(self) -> str:
        return f"<EventTypes {', '.join(self)}>"

    def with_types(self, *classes: type[Event]) -> EventTypes:
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
        _readable_fields(cls)


class _Field(NamedTuple):
    """What ``Event.from_body`` knows of a field: the kinds of value it takes, none for any, and
    whether its key must be there.
    """

    name: str
    kinds: tuple[type, ...]
    required: bool


def _readable_fields(cls: type[Event]) -> tuple[_Field, ...]:
    """The fields that an event class is built with, but for those of ``Event`` itself.

    Kept on the class once they are worked out. Raises TypeError for one that cannot be checked.
    """
    known: tuple[_Field, ...] | None = cls.__dict__.get("_known_fields")
    if known is None:
        known = tuple(_work_out_fields(cls))
        cls._known_fields = known
    return known


def _work_out_fields(cls: type[Event]) -> Iterator[_Field]:
    try:
        annotations = typing.get_type_hints(cls)
    except Exception as error:  # an annotation may be any text
        raise TypeError(
            f"the annotations of {cls.__name__} cannot be read: {error}; "
            f"name only what its module can see"
        ) from None
    for each in dataclasses.fields(cls):
        if each.init and each.name not in ("sse_id", "body"):
            required = (
                each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
            )
            try:
                kinds = _kinds(annotations[each.name])
            except TypeError:
                raise TypeError(
                    f"{cls.__name__}.{each.name} must be annotated as str, int, float, bool, list, "
                    f"dict, Any, or one of these | None, not {annotations[each.name]!r}"
                ) from None
            yield _Field(each.name, kinds, required)


def _kinds(annotation: Any) -> tuple[type, ...]:
    """The kinds of value that an annotation stands for, ``()`` for any. Raises TypeError."""
    if annotation is Any:
        return ()
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        first, *rest = sorted(typing.get_args(annotation), key=lambda arm: arm is type(None))
        if rest != [type(None)]:
            raise TypeError
        kinds = _kinds(first)
        return (*kinds, type(None)) if kinds else ()
    kind = typing.get_origin(annotation) or annotation
    if kind not in (str, int, float, bool, list, dict):
        raise TypeError
    return (kind,)


def _is_of(kinds: tuple[type, ...], value: object) -> bool:
    # In Python a bool is an int; in JSON it is not. In JSON an int is a number like any other.
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))


DEFAULT_EVENT_TYPES = EventTypes(Text, Done, ServerError)
