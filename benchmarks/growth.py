"""How cost grows: the time of one event with its size, and the memory that decoders hold.

The time is linear in the bytes, so the time a byte stays the same. Memory is counted by
tracemalloc: every byte that Python allocates.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from ratatoskr_proto import EventStreamDecoder, TurnDecoder

from .measuring import Cell, Spread
from .peers import OURS
from .workloads import KIB

MIB = 1024 * KIB
LIMIT = 1024 * MIB
LINE = b"data: twelve bytes\n"
ONE_LINE = "one data line"
MANY_LINES = "many data lines"
CROWD = 10_000


def one_line(size: int) -> Iterator[bytes]:
    """An event with one data line, in chunks of 1 KiB."""
    return chain([b"data: "], repeat(b"x" * KIB, size // KIB), [b"\n\n"])


def many_lines(number: int) -> Iterator[bytes]:
    """An event with this number of data lines, in chunks of about 1 KiB, cut within lines."""
    data = LINE * number + b"\n"
    return (data[start : start + KIB] for start in range(0, len(data), KIB))


def read(chunks: Iterable[bytes]) -> None:
    """Read a stream of one event."""
    receive = EventStreamDecoder(LIMIT).receive_data
    events = [event for chunk in chunks for event in receive(chunk)]
    assert len(events) == 1


def growth_cells(largest_mib: int, most_lines: int) -> list[Cell]:
    """One line of 1 MiB and on, doubling; 1000 data lines and on, ten times as many each."""
    cells = []
    mib = 1
    while mib <= largest_mib:
        cells.append(_cell(ONE_LINE, f"{mib} MiB", one_line, mib * MIB, mib * MIB))
        mib *= 2
    lines = 1000
    while lines <= most_lines:
        cells.append(_cell(MANY_LINES, f"{lines:,}", many_lines, lines, lines * len(LINE)))
        lines *= 10
    return cells


def _cell(
    shape: str, label: str, make: Callable[[int], Iterable[bytes]], argument: int, size: int
) -> Cell:
    return Cell({"shape": shape, "size": label}, 1, size, {OURS: lambda: read(make(argument))})


def nanoseconds_a_byte(cell: Cell) -> Spread:
    return Spread.of(each / cell.size * 1e9 for each in cell.times[OURS])


def against_smallest(cell: Cell, cells: list[Cell]) -> Spread:
    """The time per byte, divided by that of the smallest event of the shape in the same round."""
    smallest = next(each for each in cells if each.labels["shape"] == cell.labels["shape"])
    scale = smallest.size / cell.size
    pairs = zip(cell.times[OURS], smallest.times[OURS], strict=True)
    return Spread.of(own / other * scale for own, other in pairs)


@dataclass(frozen=True)
class Held:
    """``after`` is what is held at the end, ``peak`` the most until then, in bytes."""

    what: str
    after: int
    peak: int

    def as_json(self) -> dict[str, Any]:
        return {"what": self.what, "held": self.after, "peak": self.peak}


def measure(what: str, run: Callable[[], object], share: int = 1) -> Held:
    """Count what ``run`` allocates: all that lives while its result does, and the peak.

    Both are divided by ``share``.
    """
    gc.collect()
    tracemalloc.start()
    try:
        kept = run()
        gc.collect()
        after, peak = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return Held(what, after // share, peak // share)


def idle(make: Callable[[], Any]) -> Any:
    decoder = make()
    decoder.receive_data(b": hello\n\n")
    return decoder


def unfinished(mib: int) -> EventStreamDecoder:
    """A decoder that holds an unfinished event of this size."""
    decoder = EventStreamDecoder(2 * mib * MIB)
    chunk = b"x" * KIB
    decoder.receive_data(b"data: ")
    for _ in range(mib * KIB):
        decoder.receive_data(chunk)
    return decoder


def finished(mib: int) -> EventStreamDecoder:
    """A decoder that has handed out such an event, which the caller has dropped."""
    decoder = unfinished(mib)
    assert len(decoder.receive_data(b"\n\n")) == 1
    return decoder


def many_events(make: Callable[[], Any], number: int) -> Any:
    """A decoder that has handed out this number of events, 1000 to a chunk, all dropped since."""
    decoder = make()
    for start in range(0, number, 1000):
        chunk = b"".join(
            b'id: 42:%d\ndata: {"type":"text","text":"a"}\n\n' % seq
            for seq in range(start, start + 1000)
        )
        assert len(decoder.receive_data(chunk)) == 1000
    return decoder


def memory_calls(largest_mib: int, events: int) -> list[Callable[[], Held]]:
    """What is counted, one call each."""
    wire, turn = EventStreamDecoder, TurnDecoder
    # What is allocated once and kept by the interpreter belongs to no decoder.
    many_events(wire, 1000)
    many_events(turn, 1000)
    return [
        lambda: measure("an idle EventStreamDecoder", lambda: idle(wire)),
        lambda: measure("an idle TurnDecoder", lambda: idle(turn)),
        lambda: measure(
            f"each of {CROWD:,} idle decoders", lambda: [idle(wire) for _ in range(CROWD)], CROWD
        ),
        lambda: measure(
            f"an unfinished event of {largest_mib} MiB", lambda: unfinished(largest_mib)
        ),
        lambda: measure(f"an event of {largest_mib} MiB, read", lambda: finished(largest_mib)),
        lambda: measure(
            f"EventStreamDecoder after {events:,} events", lambda: many_events(wire, events)
        ),
        lambda: measure(f"TurnDecoder after {events:,} events", lambda: many_events(turn, events)),
    ]
