"""Checks of arguments, in one place so that they all speak alike.

Each takes the name of an argument and what a caller gave for it, and returns the value. Raises
TypeError or ValueError, with a sentence that says what was wrong and what would be right.
"""

from __future__ import annotations

import math


def text(name: str, value: object) -> str:
    """Check for a str."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def integer(name: str, value: object, least: int | None = None) -> int:
    """Check for an int, and that it is not below ``least``."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if least is not None and value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return value


def flag(name: str, value: object) -> bool:
    """Check for True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def number(name: str, value: object) -> float:
    """Check for a number, int or float, that is finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an int that no float can hold
        finite = False
    if not finite:
        raise ValueError(f"{name} must be a finite number")
    return value


def function(name: str, value: object) -> None:
    """Check for anything that can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be callable, not {type(value).__name__}")


def binary(name: str, value: object) -> bytes:
    """Check for bytes, a bytearray or a memoryview, and return it as bytes."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name} must be bytes, not {type(value).__name__}")
    return bytes(value)


def chunk(value: object) -> bytes:
    """Check for a chunk of a stream, and return it as bytes of our own."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"receive_data() takes bytes, bytearray or memoryview, not {type(value).__name__}"
        )
    return bytes(value)
