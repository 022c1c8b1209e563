"""The faults that the demo server injects into a turn, by name."""

from __future__ import annotations

import enum
from typing import NamedTuple

from ratatoskr_proto import encode_event

from .mimir import envelope

HUGE_BYTES = 17 * 1024 * 1024  # above the default limit of an event
EMPTY_EVERY = 10
SLOW_SECONDS = 0.2


class End(enum.Enum):
    """How the body of a response ends."""

    CLEAN = "end of stream"
    RESET = "reset"
    CUT = "cut body"
    STALL = "stall"


class Fault(NamedTuple):
    """What a name stands for in the help."""

    name: str
    does: str
    takes_number: bool = False


FAULTS = (
    Fault("empty", "every tenth frame has an id and no data"),
    Fault("bad-json", "a frame whose data is not JSON"),
    Fault("bad-id", "a frame whose id is not <turn>:<seq>"),
    Fault("flip", "a frame of another turn"),
    Fault("no-done", "the body ends well, but without a terminal event"),
    Fault("error", "the server gives the turn up with an error event"),
    Fault("stall", "silence for ever"),
    Fault("reset", "the connection is reset"),
    Fault("cut-chunk", "the connection ends inside the header of a chunk"),
    Fault("slow", "a frame each 0.2 seconds"),
    Fault("huge", "an event of 17 MiB"),
    Fault("html", "a web page in place of a stream"),
    Fault("status", "status=503: that status in place of a stream", takes_number=True),
    Fault("drop-every", "drop-every=N: the connection is reset after each N frames", True),
)
_BY_NAME = {fault.name: fault for fault in FAULTS}


class Faults:
    """A set of faults, and the place at which those that have one happen.

    ``at`` is the place of the frame, None for the middle of the turn.
    """

    def __init__(self, specs: tuple[str, ...] = (), at: int | None = None) -> None:
        """``specs`` are names of faults, or ``name=number``. Raises ValueError for what is none."""
        self._numbers = dict(_parse(spec) for spec in specs)
        self.at = at

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def __or__(self, other: Faults) -> Faults:
        both = Faults(at=self.at if other.at is None else other.at)
        both._numbers = self._numbers | other._numbers
        return both

    def number(self, name: str) -> int:
        """The number of a fault that takes one, 0 if it is not in the set."""
        return self._numbers.get(name, 0)

    def instead_of(self, turn: int, seq: int, place: int, last: int, chunk: bytes) -> bytes:
        """The bytes in place of a frame; ``place`` is where the faults happen, ``last`` the place
        of the terminal event.
        """
        if "empty" in self and seq % EMPTY_EVERY == 0 and seq != last:
            return encode_event("", id=f"{turn}:{seq}")
        if seq != place:
            return chunk
        text = envelope("text", text="?")
        if "bad-json" in self:
            return encode_event("not-json", id=f"{turn}:{seq}")
        if "bad-id" in self:
            return encode_event(text, id="not-an-id")
        if "flip" in self:
            return encode_event(text, id=f"{turn + 1}:{seq}")
        if "error" in self:
            return encode_event(envelope("error", message="out of mead"), id=f"{turn}:{seq}")
        if "huge" in self:
            return encode_event(envelope("text", text="x" * HUGE_BYTES), id=f"{turn}:{seq}")
        return chunk

    def end_at(self, seq: int, place: int, last: int, sent: int) -> End | None:
        """How the body ends before this frame, of which ``sent`` have gone out; None: it goes on.

        ``place`` is where the faults happen, ``last`` the place of the terminal event.
        """
        if "drop-every" in self and sent and sent % self.number("drop-every") == 0:
            return End.RESET
        if "no-done" in self and seq == last:
            return End.CLEAN
        if seq == place:
            for name, end in (("stall", End.STALL), ("reset", End.RESET), ("cut-chunk", End.CUT)):
                if name in self:
                    return end
        return None


def _parse(spec: str) -> tuple[str, int]:
    name, equals, number = spec.partition("=")
    fault = _BY_NAME.get(name)
    if fault is None:
        raise ValueError(f"there is no fault {name!r}; there are {', '.join(_BY_NAME)}")
    if not fault.takes_number:
        if equals:
            raise ValueError(f"the fault {name} takes no number")
        return name, 1
    smallest, largest = (200, 599) if name == "status" else (1, 10**9)
    is_number = number.isascii() and number.isdigit() and len(number) <= 10
    if not (is_number and smallest <= int(number) <= largest):
        raise ValueError(f"the fault {name} is written {name}=N, N from {smallest} to {largest}")
    return name, int(number)
