"""The table that tells which JSON becomes which event. See docs/turn-protocol.md."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, overload

from ._events import Done, E, Event, ServerError, Text, fields_of

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
    ``DEFAULT_EVENT_TYPES`` and add to it with ``with_types``, or from nothing.

    ``E`` is the union of the classes.
    """

    def __init__(self, *classes: type[E]) -> None:
        """Raises the same errors as ``with_types``."""
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

        Raises TypeError for anything that is not a dataclass derived from ``Event``, has no class
        attribute ``type``, or has a field whose annotation ``Event.from_body`` cannot check.
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
        fields_of(cls)


DEFAULT_EVENT_TYPES: EventTypes[Text | Done | ServerError] = EventTypes(Text, Done, ServerError)
