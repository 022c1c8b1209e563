"""What decoders hold, counted by tracemalloc: every byte that Python allocates."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ratatoskr_proto import EventStreamDecoder, TurnDecoder

from .workloads import KIB

MIB = 1024 * KIB


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
    """A decoder that holds an event of so many MiB that is not over yet."""
    decoder = EventStreamDecoder(2 * mib * MIB)
    chunk = b"x" * KIB
    decoder.receive_data(b"data: ")
    for _ in range(mib * KIB):
        decoder.receive_data(chunk)
    return decoder


def finished(mib: int) -> EventStreamDecoder:
    """One that has handed out such an event, which the caller has dropped."""
    decoder = unfinished(mib)
    assert len(decoder.receive_data(b"\n\n")) == 1
    return decoder


def many_events(make: Callable[[], Any], number: int) -> Any:
    """A decoder that has handed out so many events, 1000 to a chunk, which are dropped."""
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
    crowd = 10_000
    # What is allocated once and kept by the interpreter belongs to no decoder.
    many_events(wire, 1000)
    many_events(turn, 1000)
    return [
        lambda: measure("an idle EventStreamDecoder", lambda: idle(wire)),
        lambda: measure("an idle TurnDecoder", lambda: idle(turn)),
        lambda: measure(
            f"each of {crowd:,} idle decoders", lambda: [idle(wire) for _ in range(crowd)], crowd
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
