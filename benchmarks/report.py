"""Results as tables, in a terminal and as Markdown, and as JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ratatoskr_proto import EventStreamDecoder

from .growth import Held, against_smallest, nanoseconds_a_byte
from .layers import FLOOR, OURS_WITH_ORJSON
from .measuring import Cell, Spread
from .peers import OURS, PEERS
from .transports import BASES, TransportCell
from .workloads import KIB

OTHER, FAILED = "≠", "✗"
_LANGUAGE = {"c": "C", "python": "Python"}


@dataclass
class Results:
    """Everything that a run has measured. ``peers`` maps a peer to its version or why it is
    missing.
    """

    rounds: int
    quick: bool
    peers: dict[str, str]
    missing: dict[str, str]
    wire: list[Cell] = field(default_factory=list)
    typed: list[Cell] = field(default_factory=list)
    transports: list[TransportCell] = field(default_factory=list)
    growth: list[Cell] = field(default_factory=list)
    memory: list[Held] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Table:
    """A table as text; the first column is a name, all others are figures."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    below: list[str] = field(default_factory=list)

    def as_markdown(self) -> str:
        lines = [f"**{self.title}**", "", _markdown_row(self.columns)]
        lines.append(_markdown_row(["---"] + ["---:"] * (len(self.columns) - 1)))
        lines += map(_markdown_row, self.rows)
        for note in self.below:
            lines += ["", note]
        return "\n".join(lines) + "\n"


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def figure(spread: Spread | None) -> str:
    """A median and, small, the quartiles around it."""
    if spread is None:
        return FAILED
    return f"{spread.median:.2f} ({spread.low:.2f}–{spread.high:.2f})"


def short(value: float) -> str:
    """A number with three figures."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _microseconds(cell: Cell, name: str) -> str:
    spread = cell.microseconds(name)
    return short(spread.median) if spread else FAILED


def fastest_peer(cell: Cell) -> str | None:
    """The peer with the least median ratio to ours, with other events or not."""
    ratios = {
        name: ratio.median
        for name in cell.readers
        if name in PEERS and (ratio := cell.ratio(name, OURS)) is not None
    }
    return min(ratios, key=ratios.__getitem__) if ratios else None


def _wire(cells: list[Cell]) -> Table:
    peers = [name for name in cells[0].readers if name != OURS]
    table = Table(
        "Wire: the time of each peer, ours being 1 (more than 1: we are faster)",
        ["stream, chunks", "our µs an event", "fastest peer", *peers],
    )
    for cell in cells:
        fastest = fastest_peer(cell)
        row = [_stream(cell), _microseconds(cell, OURS)]
        row.append(figure(cell.ratio(fastest, OURS)) if fastest else "")
        for name in peers:
            ratio = cell.ratio(name, OURS)
            mark = OTHER if ratio is not None and name in cell.notes else ""
            text = f"{ratio.median:.2f}{mark}" if ratio else FAILED
            row.append(f"**{text}**" if name == fastest else text)
        table.rows.append(row)
    table.below.append(
        f"The fastest peer is bold. {OTHER}: it gave other events than the standard asks for. "
        f"{FAILED}: it failed or was stopped."
    )
    return table


def _stream(cell: Cell) -> str:
    return f"{cell.labels['workload']}, {cell.labels['chunking']}"


def _typed(cells: list[Cell]) -> Table:
    ours = [name for name in (OURS, OURS_WITH_ORJSON) if name in cells[0].readers]
    peers = [name for name in cells[0].readers if name not in (FLOOR, *ours)]
    table = Table(
        f"Typed events: ours in times the floor, {FLOOR}; then the time of others, ours being 1",
        ["stream, chunks", "our µs an event", *ours, *peers],
    )
    for cell in cells:
        row = [_stream(cell), _microseconds(cell, OURS)]
        row += [figure(cell.ratio(name, FLOOR)) for name in ours]
        row += [figure(cell.ratio(name, OURS)) if name in cell.readers else "" for name in peers]
        table.rows.append(row)
    return table


def _transports(cells: list[TransportCell]) -> Table:
    table = Table(
        "Transports over loopback: CPU time of the client, and how much faster than the peer",
        ["reader, path", "µs an event", "events/s", "times as fast", "as"],
    )
    for cell in cells:
        for name in cell.readers:
            rate = cell.events_a_second(name)
            row = [f"{name}, {cell.labels['path']}", _microseconds(cell, name)]
            row.append(f"{rate:,.0f}" if rate else FAILED)
            base = BASES.get(name)
            row += [figure(cell.ratio(base, name)), base] if base else ["", ""]
            table.rows.append(row)
    return table


def _growth(cells: list[Cell]) -> Table:
    table = Table(
        "Growth: one event in chunks of 1 KiB",
        ["event", "ns a byte", "times that of the smallest"],
    )
    for cell in cells:
        table.rows.append(
            [
                f"{cell.labels['shape']}, {cell.labels['size']}",
                short(nanoseconds_a_byte(cell).median),
                figure(against_smallest(cell, cells)),
            ]
        )
    return table


def _memory(rows: list[Held]) -> Table:
    table = Table("Memory, by tracemalloc", ["what", "held, KiB", "peak, KiB"])
    for row in rows:
        table.rows.append([row.what, f"{row.after / KIB:,.1f}", f"{row.peak / KIB:,.1f}"])
    return table


def tables(results: Results) -> Iterator[Table]:
    """The tables of all that was measured."""
    if results.wire:
        yield _wire(results.wire)
    if results.typed:
        yield _typed(results.typed)
    if results.transports:
        yield _transports(results.transports)
    if results.growth:
        yield _growth(results.growth)
    if results.memory:
        yield _memory(results.memory)


def remarks(results: Results) -> list[str]:
    """Who is missing, who failed and who gave other events, a line each."""
    lines = [f"{name}: not measured, {reason}" for name, reason in results.missing.items()]
    said: dict[tuple[str, str], list[str]] = {}
    for cell in (*results.wire, *results.typed, *results.transports):
        for name, note in cell.notes.items():
            said.setdefault((name, note.split(":")[0]), []).append(_case(cell, note))
    for (name, what), cases in said.items():
        more = f", and in {len(cases) - 1} more" if len(cases) > 1 else ""
        lines.append(f"{name}: {what} in {cases[0]}{more}")
    return [*lines, *results.notes]


def _case(cell: Cell, note: str) -> str:
    _, _, detail = note.partition(": ")
    where = ", ".join(cell.labels.values())
    return f"{where} ({detail})" if detail else where


def headline(results: Results) -> str:
    """What ran, where, how, and beside which peers."""
    peers = ", ".join(f"{name} {version}" for name, version in results.peers.items())
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} CPUs. Our wire layer is the one in "
        f"{_LANGUAGE[EventStreamDecoder.implementation]}. Medians of {results.rounds} rounds, "
        f"quartiles in brackets. Peers: {peers or 'none'}."
    )


def as_markdown(results: Results) -> str:
    parts = [headline(results) + "\n", *(table.as_markdown() for table in tables(results))]
    parts += [f"- {line}" for line in remarks(results)]
    return "\n".join(parts) + "\n"


def as_json(results: Results) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "our_wire_layer": EventStreamDecoder.implementation,
        "rounds": results.rounds,
        "quick": results.quick,
        "peers": results.peers,
        "missing": results.missing,
        "wire": [cell.as_json(OURS) for cell in results.wire],
        "typed": [cell.as_json(FLOOR) for cell in results.typed],
        "transports": [cell.as_json(OURS) for cell in results.transports],
        "growth": [
            {
                **cell.labels,
                "bytes": cell.size,
                "nanoseconds_a_byte": nanoseconds_a_byte(cell).as_json(),
                "times_smallest": against_smallest(cell, results.growth).as_json(),
            }
            for cell in results.growth
        ],
        "memory": [row.as_json() for row in results.memory],
        "remarks": remarks(results),
    }
