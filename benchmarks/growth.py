"""How the time of one event grows with its size: linear, so the time a byte stays the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat

from ratatoskr_proto import EventStreamDecoder

from .measuring import Cell, Spread
from .peers import OURS
from .workloads import KIB

MIB = 1024 * KIB
LIMIT = 1024 * MIB
LINE = b"data: twelve bytes\n"
ONE_LINE = "one data line"
MANY_LINES = "many data lines"


def one_line(size: int) -> Iterator[bytes]:
    """An event with one data line, in chunks of 1 KiB."""
    return chain([b"data: "], repeat(b"x" * KIB, size // KIB), [b"\n\n"])


def many_lines(number: int) -> Iterator[bytes]:
    """An event with so many data lines, in chunks of about 1 KiB, cut within lines."""
    data = LINE * number + b"\n"
    return (data[start : start + KIB] for start in range(0, len(data), KIB))


def read(make_chunks: Callable[[int], Iterable[bytes]], size: int) -> None:
    receive = EventStreamDecoder(LIMIT).receive_data
    events = [event for chunk in make_chunks(size) for event in receive(chunk)]
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
    return Cell({"shape": shape, "size": label}, 1, size, {OURS: lambda: read(make, argument)})


def nanoseconds_a_byte(cell: Cell) -> Spread:
    return Spread.of(each / cell.size * 1e9 for each in cell.times[OURS])


def against_smallest(cell: Cell, cells: list[Cell]) -> Spread:
    """The time a byte, against that of the smallest event of the shape, within each round."""
    smallest = next(each for each in cells if each.labels["shape"] == cell.labels["shape"])
    scale = smallest.size / cell.size
    pairs = zip(cell.times[OURS], smallest.times[OURS], strict=True)
    return Spread.of(own / other * scale for own, other in pairs)
