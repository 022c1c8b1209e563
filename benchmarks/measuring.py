"""Rounds: each reader of each cell once a round, so that a busy machine hits all of them alike.

A cell is one stream, cut in one way, and its readers. Within a cell the readers follow each other
at once, and only times of one round are ever divided by each other. A figure is the median of those
ratios, its spread their quartiles. Cells and readers come in another order each round, random but
the same in every run: in a fixed order, one reader always pays for what another left in memory.

The clock is ``time.process_time``, the CPU time of this process: all that is measured with it runs
in one thread, and other processes affect it less than wall time. The first round warms up and
does not count; a reader that needs more than ``SLOW`` seconds there is stopped, named, and not run
again. The garbage collector runs, as in any program; what was there before is frozen, so that
nobody pays for the modules of others.
"""

from __future__ import annotations

import contextlib
import gc
import random
import signal
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

FAILED = "failed"
SLOW = 1.0  # seconds


class TooSlow(Exception):
    """A reader was stopped."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlow out of the block when its time is up, where signals can do that.

    For the main thread. The timer is one of real time: one of CPU time would make the kernel count
    CPU time in ticks for a while, and so spoil the clock that we measure with.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise TooSlow(f"stopped after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Spread:
    """A median with the quartiles around it."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        known = sorted(values)
        if len(known) == 1:
            return cls(known[0], known[0], known[0])
        low, median, high = statistics.quantiles(known, n=4, method="inclusive")
        return cls(low, median, high)

    def as_json(self) -> list[float]:
        return [round(self.low, 4), round(self.median, 4), round(self.high, 4)]


@dataclass
class Cell:
    """Who reads what. ``readers`` maps names to calls that read the whole stream once."""

    labels: dict[str, str]
    events: int
    size: int
    readers: dict[str, Callable[[], object]]
    times: dict[str, list[float]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # what is to be said of a reader

    def runnable(self) -> list[str]:
        """The readers that have not failed."""
        return [name for name in self.readers if not self.notes.get(name, "").startswith(FAILED)]

    def ratio(self, reader: str, base: str) -> Spread | None:
        """How many times the time of ``base`` a reader took; None if one of them has no time."""
        ours, theirs = self.times.get(reader), self.times.get(base)
        if not ours or not theirs:
            return None
        return Spread.of(own / other for own, other in zip(ours, theirs, strict=True))

    def microseconds(self, reader: str) -> Spread | None:
        """The time that an event took."""
        times = self.times.get(reader)
        return Spread.of(each / self.events * 1e6 for each in times) if times else None

    def as_json(self, base: str) -> dict[str, Any]:
        """The cell for the file: of each reader its time an event, and its ratio to ``base``."""
        readers: dict[str, Any] = {}
        for name in self.readers:
            row: dict[str, Any] = {}
            microseconds, ratio = self.microseconds(name), self.ratio(name, base)
            if microseconds is not None:
                row["microseconds_an_event"] = microseconds.as_json()
                row["rounds"] = len(self.times[name])
            if ratio is not None:
                row[f"times_{base}"] = ratio.as_json()
            if name in self.notes:
                row["note"] = self.notes[name]
            readers[name] = row
        return {**self.labels, "events": self.events, "bytes": self.size, "readers": readers}


def run_rounds(
    cells: Sequence[Cell],
    rounds: int,
    advance: Callable[[], object] = lambda: None,
    clock: Callable[[], float] = time.process_time,
    slow: float = SLOW,
) -> None:
    """Fill in the times of all cells. A reader that raises gets a note and no times.

    ``advance`` is called after each cell of each round, the warm-up included.
    """
    gc.collect()
    gc.freeze()
    for cell in cells:
        for name in cell.runnable():
            try:
                with time_limit(slow):
                    cell.readers[name]()
            except Exception as error:  # of another library, whatever it may be
                cell.notes[name] = describe(error)
        advance()
    chance = random.Random(len(cells))
    for _ in range(rounds):
        for cell in chance.sample(cells, len(cells)):
            names = cell.runnable()
            for name in chance.sample(names, len(names)):
                read = cell.readers[name]
                start = clock()
                read()
                cell.times.setdefault(name, []).append(clock() - start)
            advance()
    gc.unfreeze()


def describe(error: Exception) -> str:
    """The note on a reader that raised."""
    if isinstance(error, TooSlow):
        return f"{FAILED}, {error}"
    return f"{FAILED}: {type(error).__name__}: {error}"[:120]
