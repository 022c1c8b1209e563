"""Type variables for the events of a turn, with defaults that only type checkers know."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["DialectEvent", "OwnEvent", "TurnEvent"]

if TYPE_CHECKING:
    from typing import Never

    from typing_extensions import TypeVar  # never at run time

    from ratatoskr_proto import Done, Event, ServerError, Text, Unknown

    # The events of a stream: those of its dialect, and those of the caller's own event types.
    TurnEvent = TypeVar("TurnEvent", bound=Event, default=Text | Done | ServerError | Unknown)
    DialectEvent = TypeVar("DialectEvent", bound=Event, default=Text | Done | ServerError | Unknown)
    OwnEvent = TypeVar("OwnEvent", bound=Event, default=Never)
else:  # before Python 3.13 a TypeVar has no default
    from typing import TypeVar

    TurnEvent = TypeVar("TurnEvent")
    DialectEvent = TypeVar("DialectEvent")
    OwnEvent = TypeVar("OwnEvent")
