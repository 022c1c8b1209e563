"""The states of a turn, as data: every change of state is a row of ``TRANSITIONS``.

docs/turn-states.svg is drawn from it.
"""

from __future__ import annotations

import enum


class TurnState(enum.Enum):
    """Where a turn stands."""

    STREAMING = "streaming"  #: events may come
    DONE = "done"  #: the terminal event has come out
    FAILED = "failed"  #: an error has come out

    __hash__ = object.__hash__  # that of Enum is Python code, and slow to look states up by


class TurnInput(enum.Enum):
    """What can happen to a turn."""

    EVENT = "event"  #: an event that is not terminal
    TERMINAL = "terminal"  #: an event that is
    ERROR = "error"  #: a frame that breaks the protocol, or the caller's own code failing on one
    EOF = "eof"  #: the end of the stream, before the answer was complete

    __hash__ = object.__hash__


TRANSITIONS: dict[tuple[TurnState, TurnInput], TurnState] = {
    (TurnState.STREAMING, TurnInput.EVENT): TurnState.STREAMING,
    (TurnState.STREAMING, TurnInput.TERMINAL): TurnState.DONE,
    (TurnState.STREAMING, TurnInput.ERROR): TurnState.FAILED,
    (TurnState.STREAMING, TurnInput.EOF): TurnState.FAILED,
}
#: A state without a row is final.
FINAL = frozenset(TurnState) - {state for state, _ in TRANSITIONS}
