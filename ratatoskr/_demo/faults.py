"""The faults that the demo server can inject into an answer, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ratatoskr_proto import SseId, encode_event

from .connection import BodyEnd
from .encoders import Encoder, Frame

HUGE_BYTES = 17 * 1024 * 1024  # above the default limit of an event
EMPTY_EVERY = 10
SLOW_SECONDS = 0.2

_LARGEST = 10**9


class NamedFault(NamedTuple):
    """A fault as the help shows it: ``does`` (str) says what happens.

    ``dialects`` are those where it exists, None for all. ``values`` are the numbers that it takes,
    if it takes one; the help shows it as ``value``. ``anywhere`` says that it happens at no frame
    in particular. ``alias`` is its older name.
    """

    name: str
    does: str
    values: range | None = None
    value: str = ""
    dialects: tuple[str, ...] | None = None
    anywhere: bool = False
    alias: str = ""

    @property
    def shown(self) -> str:
        """How the fault is written in a request."""
        return f"{self.name}={self.value}" if self.value else self.name


# The most harmful ones come first.
FAULTS = (
    NamedFault("ends-early", "the body ends cleanly, in mid-answer", alias="no-done"),
    NamedFault("cut-at-frame", "the connection ends in mid-answer, after a whole frame"),
    NamedFault("cut-in-frame", "the connection ends in the middle of a frame", alias="cut-chunk"),
    NamedFault("reset", "the connection is reset"),
    NamedFault("stall", "silence for ever"),
    NamedFault("error", "the server gives up the answer, with an error in the stream"),
    NamedFault(
        "no-end-mark",
        "the whole answer, but not the frame that ends it",
        dialects=("openai-chat", "anthropic"),
        anywhere=True,
    ),
    NamedFault("bad-json", "a frame whose data is not JSON"),
    NamedFault("empty", "an id and no data, at that frame and every tenth one"),
    NamedFault("keepalive", "a keep-alive between two frames"),
    NamedFault(
        "status",
        "that status in place of a stream; 429 and 503 with Retry-After: 1",
        range(200, 600),
        "503",
        anywhere=True,
    ),
    NamedFault("html", "a web page in place of a stream", anywhere=True),
    NamedFault("bad-id", "a frame whose id is not <turn>:<seq>", dialects=("turn",)),
    NamedFault("flip", "a frame of another turn", dialects=("turn",)),
    NamedFault("huge", "an event of 17 MiB"),
    NamedFault("slow", "a frame every 0.2 seconds", anywhere=True),
    NamedFault(
        "drop-every",
        "the connection is reset after every N frames",
        range(1, _LARGEST + 1),
        "N",
        anywhere=True,
    ),
)
_BY_NAME = {fault.name: fault for fault in FAULTS} | {
    fault.alias: fault for fault in FAULTS if fault.alias
}
FAULT_WORDS = {*_BY_NAME, "at", "times", "id"}  # what may stand before the "=" in a fault


class Faults:
    """A set of faults, and where and how often they happen.

    ``at`` (int | None) is the number of the frame at which faults of a single frame happen, None
    for the middle of the answer. ``times`` (int) is the number of requests that they happen to, 0
    for all.
    """

    def __init__(self, specs: str | Iterable[str] = (), at: int | None = None) -> None:
        """``specs`` are faults as ``--fault`` takes them: ``NAME``, ``NAME=NUMBER``, ``at=N``,
        ``times=N``, ``id=WORD``, or several with commas between them, and spaces if you like, as in
        any header; a str is one of them.

        Raises ValueError for an unknown fault, a number out of its range, or ``times`` alone.
        """
        self.at = at
        self.times = 0
        self._numbers: dict[str, int] = {}
        for spec in [specs] if isinstance(specs, str) else specs:
            for each in spec.split(","):
                self._add(each.strip(" \t"))
        if self.times and not self._numbers:
            raise ValueError(f"times={self.times} needs a fault, as in stall,times={self.times}")

    def _add(self, spec: str) -> None:
        name, equals, value = spec.partition("=")
        if name == "at":
            self.at = number(name, value)
        elif name == "times":
            self.times = number(name, value)
        elif name == "id":
            pass  # it only tells one value of a header from another
        else:
            fault = _BY_NAME.get(name)
            if fault is None:
                raise ValueError(f"there is no fault {name!r}; {_listed(FAULTS)}")
            if fault.values is None and equals:
                raise ValueError(f"the fault {name} takes no number")
            allowed = fault.values
            self._numbers[fault.name] = number(name, value, allowed) if allowed else 1

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def __or__(self, other: Faults) -> Faults:
        both = Faults(at=self.at if other.at is None else other.at)
        both._numbers = self._numbers | other._numbers
        return both

    def number(self, name: str) -> int:
        """The number of a fault that takes one, 0 if it is not in the set."""
        return self._numbers.get(name, 0)

    @property
    def happen_at_a_frame(self) -> bool:
        """Whether ``at`` makes a difference to one of the faults."""
        return any(not _BY_NAME[name].anywhere for name in self._numbers)

    def check_dialect(self, dialect: str) -> None:
        """Raises ValueError if one of the faults does not exist in this dialect."""
        here = [fault for fault in FAULTS if fault.dialects is None or dialect in fault.dialects]
        names = {fault.name for fault in here}
        for name in self._numbers:
            if name not in names:
                raise ValueError(f"{dialect} has no fault {name!r}; {_listed(here)}")

    def check_replay(self) -> None:
        """Raises ValueError if one of the faults cannot happen to a recording."""
        if not self._numbers.keys() <= {"status", "html"}:
            raise ValueError("a recording is sent as it is; only status and html can be asked for")

    def write(self, frame: Frame, seq: int, at: int, last: int, encoder: Encoder) -> bytes:
        """The bytes that go out for the frame with the number ``seq``.

        ``at`` is the number of the frame at which faults happen, ``last`` that of the last one;
        ``encoder`` writes what is sent in place of a frame.
        """
        if "no-end-mark" in self and seq == last:
            return b""
        if "empty" in self and (seq == at or seq % EMPTY_EVERY == 0) and seq != last:
            if frame.id:  # a turn can do without a piece of text
                frame = frame._replace(data="")
            else:  # in other dialects the frame itself may be needed
                frame = frame._replace(before=encode_event("", id=str(seq)))
        if seq == at:
            frame = self._changed(frame, encoder)
        return frame.encode()

    def _changed(self, frame: Frame, encoder: Encoder) -> Frame:
        """The frame that goes out in place of the one at which faults happen."""
        if "keepalive" in self:
            frame = frame._replace(before=frame.before + encoder.keep_alive)
        if "bad-json" in self:
            return frame._replace(data="not-json")
        if "bad-id" in self:
            return frame._replace(id="not-an-id")
        if "flip" in self:
            id = SseId.parse(frame.id or "")
            return frame._replace(id=str(id._replace(turn_id=id.turn_id + 1)))
        if "error" in self:
            return encoder.error("out of mead")[-1]._replace(id=frame.id)
        if "huge" in self:
            return encoder.text("x" * HUGE_BYTES)[-1]._replace(id=frame.id)
        return frame

    def end_before(self, seq: int, at: int, sent: int) -> BodyEnd | None:
        """How the body ends before a frame, after ``sent`` others; None if it continues."""
        if "drop-every" in self and sent and sent % self.number("drop-every") == 0:
            return BodyEnd.RESET
        if seq == at:
            for name, end in _ENDS.items():
                if name in self:
                    return end
        return None


_ENDS = {
    "ends-early": BodyEnd.WHOLE,
    "cut-at-frame": BodyEnd.CUT,
    "cut-in-frame": BodyEnd.CUT,
    "reset": BodyEnd.RESET,
    "stall": BodyEnd.STALL,
}


def number(name: str, value: str, allowed: range = range(1, _LARGEST + 1)) -> int:
    """The number that ``value`` (str) writes. Raises ValueError if it is not in ``allowed``."""
    if value.isascii() and value.isdigit() and len(value) <= 10 and int(value) in allowed:
        return int(value)
    raise ValueError(f"{name}=N takes a number from {allowed[0]} to {allowed[-1]}")


def _listed(faults: Iterable[NamedFault]) -> str:
    return f"the faults are {', '.join(fault.name for fault in faults)}"
