"""One run: what is to be measured, and measuring it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from .growth import growth_cells, memory_calls
from .layers import all_loads, typed_cells, wire_cell
from .measuring import run_rounds
from .peers import PEERS, Reader, load_peers
from .report import Results
from .transports import transport_cells
from .workloads import CHUNKINGS, KIB, WORKLOADS, Workload, recorded

LAYERS = ("wire", "typed", "transports", "growth", "memory")
TYPED_PEERS = ("httpx-sse", "launchdarkly-eventsource")
TYPED_CHUNKINGS = ("one", "1k", "64k")
TOO_LARGE_A_BYTE = 16 * KIB  # bytes of an event that would take a quick run too long byte by byte


@dataclass(frozen=True)
class Plan:
    """What is to be measured, and how much of it."""

    layers: tuple[str, ...]
    workloads: tuple[str, ...]
    files: dict[str, tuple[bytes, ...]]  # the frames of each
    chunkings: tuple[str, ...]
    peers: tuple[str, ...]
    rounds: int
    quick: bool
    scale: float

    def size(self) -> int:
        """The bytes of a stream, of which a chunking may take less."""
        return max(1, int((64 if self.quick else 256) * KIB * self.scale))

    def transport_events(self) -> int:
        return max(1, int((500 if self.quick else 2000) * self.scale))

    def growth(self) -> tuple[int, int]:
        """The largest event in MiB, and the most data lines."""
        if self.scale < 0.1:
            return 2, 1000
        return (16, 100_000) if self.quick else (64, 1_000_000)

    def memory(self) -> tuple[int, int]:
        """The large event in MiB, and the number of events."""
        if self.scale < 0.1:
            return 1, 1000
        return (16, 100_000) if self.quick else (64, 1_000_000)


# Says what is being done, of how many steps the next part has, and gives what to call for each.
Progress = Callable[[str, int], Callable[[], object]]


def run(plan: Plan, progress: Progress) -> Results:
    """Measure it all. The wire, typed events and growth are rounds of one and the same run."""
    loaded, missing = load_peers(plan.peers)
    versions = {name: PEERS[name].version() for name in loaded}
    results = Results(plan.rounds, plan.quick, versions, missing)
    _make_cells(plan, loaded, results, progress)
    both = results.wire + results.typed
    if both:
        run_rounds(both, plan.rounds, progress("wire and typed", len(both) * (plan.rounds + 1)))
    if "transports" in plan.layers:
        _run_transports(plan, results, progress)
    if "growth" in plan.layers:
        results.growth = growth_cells(*plan.growth())
        steps = len(results.growth) * (plan.rounds + 1)
        run_rounds(results.growth, plan.rounds, progress("growth", steps), slow=3600.0)
    if "memory" in plan.layers:
        calls = memory_calls(*plan.memory())
        advance = progress("memory", len(calls))
        for call in calls:
            results.memory.append(call())
            advance()
    return results


def _make_cells(
    plan: Plan, loaded: dict[str, Reader], results: Results, progress: Progress
) -> None:
    if not {"wire", "typed"} & set(plan.layers):
        return
    loads = all_loads()
    typed_peers = {name: peer for name, peer in loaded.items() if name in TYPED_PEERS}
    makers: list[Callable[[int], Workload]] = [WORKLOADS[name] for name in plan.workloads]
    makers += [partial(recorded, name, frames) for name, frames in plan.files.items()]
    advance = progress("comparing events", len(makers) * len(plan.chunkings))
    for make in makers:
        for name in plan.chunkings:
            chunking = CHUNKINGS[name]
            workload = make(int(plan.size() * chunking.amount))
            if plan.quick and len(workload.frames[0]) > TOO_LARGE_A_BYTE and chunking.size == 1:
                results.notes.append(f"{workload.name}, {chunking.name}: left out of a quick run")
                advance()
                continue
            if "wire" in plan.layers:
                results.wire.append(wire_cell(workload, chunking, loaded))
            if "typed" in plan.layers and name in TYPED_CHUNKINGS:
                cells = typed_cells(workload, chunking, typed_peers, loads)
                results.typed += cells
                if not cells:
                    results.notes.append(f"{workload.name}, {chunking.name}: no answer, wire only")
            advance()


def _run_transports(plan: Plan, results: Results, progress: Progress) -> None:
    try:
        with transport_cells(plan.transport_events()) as cells:
            steps = len(cells) * (plan.rounds + 1)
            run_rounds(cells, plan.rounds, progress("transports", steps), slow=60.0)
            results.transports = cells
    except ImportError as error:
        results.notes.append(f"transports: not measured, {error}")
