"""The typed events. See docs/turn-protocol.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from ._fields import Field, read_fields, readable_fields
from ._sse_id import SseId
from ._typing import TypeVar

_new_object = object.__new__


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
        return cls(**read_fields(fields_of(cls), body), sse_id=sse_id, body=body)


@dataclass(frozen=True)
class Text(Event):
    """A piece of the answer: ``{"type": "text", "text": "…"}``."""

    type = "text"
    text: str


def new_text(text: str, sse_id: SseId, body: dict[str, Any]) -> Text:
    """Build a ``Text``, by far the most common event, as its generated ``__init__`` does, which
    takes three times as long.
    """
    event = _new_object(Text)
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

    ``stop_reason`` (str or None) says why it ended, in the server's words, if the server said so.
    """

    type = "done"
    terminal = True
    stop_reason: str | None = None

    @classmethod
    def from_body(cls, sse_id: SseId, body: dict[str, Any]) -> Self:
        """As ``Event.from_body``, but a ``stop_reason`` that is not a string counts as None."""
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
    """An event of an unknown type; everything that it says is in ``body``."""

    type: str  # type: ignore[misc]  # here, and only here, each instance has its own


def fields_of(cls: type[Event]) -> tuple[Field, ...]:
    """The fields that the constructor of an event class takes, except those of ``Event`` itself.

    They are worked out once and kept on the class. Raises TypeError for one that cannot be checked.
    """
    known: tuple[Field, ...] | None = cls.__dict__.get("_known_fields")
    if known is None:
        known = tuple(readable_fields(cls, leave_out=("sse_id", "body")))
        cls._known_fields = known
    return known


#: The events that a decoder puts out, as a union.
E = TypeVar("E", bound=Event, default=Event, covariant=True)  # pyright: ignore[reportGeneralTypeIssues]
