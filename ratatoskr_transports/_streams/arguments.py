"""Checks of arguments that several modules share."""

from __future__ import annotations

import inspect
from typing import Any


def check_seconds(name: str, value: float | None) -> float | None:
    """Return a time limit in seconds, None for none. Raises TypeError or ValueError."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds or None, not {type(value).__name__}")
    if not value > 0:
        raise ValueError(f"{name} must be more than 0 seconds, or None to wait for ever")
    return value


def check_plain_function(name: str, value: Any) -> None:
    """Raise TypeError unless ``value`` can be called and gives its result without an ``await``."""
    if not callable(value):
        raise TypeError(f"{name} must be a plain function, not {type(value).__name__}")
    if any(inspect.iscoroutinefunction(each) for each in (value, type(value).__call__)):
        raise TypeError(f"{name} must be a plain function, not an async one")
