"""The figures to reach, and what came out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .growth import ONE_LINE, against_smallest
from .layers import FLOOR
from .measuring import Cell, Spread
from .peers import OURS, PEERS
from .workloads import CHUNKINGS

WIRE = {"one": 0.9, "1k": 1.0, "64k": 1.25, "1": 1.0}
WIRE_WORKLOADS = ("tokens", "model chunks", "crlf")
# Workload, chunking, and how many times the floor it may be.
FLOOR_AT_MOST = [
    ("tokens", "one", 2.9),
    ("tokens", "1k", 2.2),
    ("tokens", "64k", 2.2),
    ("model chunks", "64k", 1.6),
]
PEER = "httpx-sse + json.loads"
PEER_AT_LEAST = [("tokens", "one", 1.5), ("tokens", "1k", 1.7), ("tokens", "64k", 1.7)]
GROWTH_AT_MOST = 1.5


@dataclass(frozen=True)
class Target:
    """A figure to reach: ``wanted`` is a maximum or a minimum for the median of ``got``."""

    layer: str
    workload: str
    chunking: str
    against: str
    wanted: float
    at_most: bool
    got: Spread

    @property
    def met(self) -> bool:
        median = self.got.median
        return median <= self.wanted if self.at_most else median >= self.wanted

    def __str__(self) -> str:
        sign = "<=" if self.at_most else ">="
        return (
            f"{self.layer}, {self.workload}, {self.chunking}, against {self.against}: "
            f"{self.got.median:.2f}, wanted {sign} {self.wanted}"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "layer": self.layer,
            "workload": self.workload,
            "chunking": self.chunking,
            "against": self.against,
            "wanted": self.wanted,
            "at_most": self.at_most,
            "got": self.got.as_json(),
            "met": self.met,
        }


def fastest_peer(cell: Cell) -> str | None:
    """The peer with the least median ratio to ours, with other events or not."""
    ratios = {
        name: ratio.median
        for name in cell.readers
        if name in PEERS and (ratio := cell.ratio(name, OURS)) is not None
    }
    return min(ratios, key=ratios.__getitem__) if ratios else None


def _find(cells: list[Cell], workload: str, chunking: str) -> Cell | None:
    labels = {"workload": workload, "chunking": CHUNKINGS[chunking].name}
    return next((cell for cell in cells if cell.labels == labels), None)


def targets(wire: list[Cell], typed: list[Cell], growth: list[Cell]) -> Iterator[Target]:
    """The targets for which there are figures."""
    for workload in WIRE_WORKLOADS:
        for chunking, wanted in WIRE.items():
            cell = _find(wire, workload, chunking)
            peer = fastest_peer(cell) if cell else None
            if cell and peer and (ratio := cell.ratio(peer, OURS)):
                name = CHUNKINGS[chunking].name
                yield Target("wire", workload, name, peer, wanted, False, ratio)
    for workload, chunking, wanted in FLOOR_AT_MOST:
        cell = _find(typed, workload, chunking)
        if cell and (ratio := cell.ratio(OURS, FLOOR)):
            yield Target("typed", workload, CHUNKINGS[chunking].name, FLOOR, wanted, True, ratio)
    for workload, chunking, wanted in PEER_AT_LEAST:
        cell = _find(typed, workload, chunking)
        if cell and (ratio := cell.ratio(PEER, OURS) if PEER in cell.readers else None):
            yield Target("typed", workload, CHUNKINGS[chunking].name, PEER, wanted, False, ratio)
    lines = [cell for cell in growth if cell.labels["shape"] == ONE_LINE]
    if len(lines) > 1:
        spread = against_smallest(lines[-1], growth)
        yield Target(
            "growth", ONE_LINE, lines[-1].labels["size"], "1 MiB", GROWTH_AT_MOST, True, spread
        )
