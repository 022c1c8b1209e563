"""Reads the fields of a dataclass from a JSON object: which there are, and which values fit."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple


class Field(NamedTuple):
    """A field: its name, the kinds of value that fit it (an empty tuple for any), and whether its
    key must be there.
    """

    name: str
    kinds: tuple[type, ...]
    required: bool


def readable_fields(cls: Any, leave_out: tuple[str, ...]) -> Iterator[Field]:
    """Yield the fields that the constructor of a dataclass takes, except those to leave out.

    Raises TypeError for an annotation that says nothing about JSON: it must be ``str``, ``int``,
    ``float``, ``bool``, ``list``, ``dict``, ``Any``, or one of these or None.
    """
    try:
        annotations = typing.get_type_hints(cls)
    except Exception as error:  # an annotation may be any text
        raise TypeError(
            f"the annotations of {cls.__name__} cannot be read: {error}; "
            f"name only what its module can see"
        ) from None
    for each in dataclasses.fields(cls):
        if each.init and each.name not in leave_out:
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
            yield Field(each.name, kinds, required)


def read_fields(fields: tuple[Field, ...], body: dict[str, Any]) -> dict[str, Any]:
    """Return the values of these fields, by name. Only the outer kind of a value is checked.

    Raises ValueError for a missing or wrong value.
    """
    values: dict[str, Any] = {}
    for name, kinds, required in fields:
        if name in body:
            value = body[name]
            if kinds and not _fits(kinds, value):
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise ValueError(f"{name!r} must be {wanted}, not {type(value).__name__}")
            values[name] = value
        elif required:
            raise ValueError(f"the key {name!r} is missing")
    return values


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


def _fits(kinds: tuple[type, ...], value: object) -> bool:
    # In Python a bool is an int; in JSON it is not. In JSON an int is a number like any other.
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))
