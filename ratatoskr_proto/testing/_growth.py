"""Whether a decoder's work grows with the stream: four times the bytes, four times the time.

A quadratic path costs sixteen times as much. The sizes go up until a run takes long enough to be
measured, so a slow decoder is measured at small ones. They go further up while the ratio is between
the two: a linear path may hide a quadratic one, but less and less.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ._report import Failure

Feed = Callable[[list[bytes]], object]

_CLAUSE = "none: a stream has no end, so what a byte costs must not depend on how many came before"
_SMALLEST, _USUAL, _LARGEST = 4 * 1024, 256 * 1024, 1024 * 1024
_LONG_ENOUGH = 0.2  # seconds
_LINEAR, _QUADRATIC = 6.0, 8.0
_ATTEMPTS = 4

# Time of this process alone, if its clock is fine enough.
_fine = time.get_clock_info("process_time").resolution < 1e-5
_clock = time.process_time if _fine else time.perf_counter


def _chunks(data: bytes, size: int = 64) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


SHAPES: dict[str, Callable[[int], list[bytes]]] = {
    "A long line costs in proportion to its length": (
        lambda size: _chunks(b"data: " + b"x" * size + b"\n\n")
    ),
    "Many data lines cost in proportion to their number": (
        lambda size: _chunks(b"data: a\n" * (size // 8) + b"\n")
    ),
    "Many events in a chunk cost in proportion to their number": (
        lambda size: [b"data: a\n\n" * (size // 9)]
    ),
}
CLAUSES = dict.fromkeys(SHAPES, _CLAUSE)


def check_growth(name: str, feed: Feed) -> Failure | None:
    """Feed a shape in sizes that go up, and return a failure if the cost goes up faster."""
    shape = SHAPES[name]
    size = _SMALLEST
    after = _seconds(feed, shape(size))
    while size < _LARGEST:
        small, size = size, 4 * size
        before, after = after, _seconds(feed, shape(size))
        if after < _LONG_ENOUGH and size < _USUAL:
            continue
        # One good ratio shows it; a bad one may be the machine, above all where it was quick.
        for _ in range(1 if after > _LONG_ENOUGH else _ATTEMPTS):
            before = min(before, _seconds(feed, shape(small)), _seconds(feed, shape(small)))
            after = min(after, _seconds(feed, shape(size)))
            if after < _LINEAR * before:
                return None
        if after > _QUADRATIC * before:
            return Failure(
                check=name,
                clause=_CLAUSE,
                data=b"",
                chunks=(),
                expected=f"{size} bytes take some 4 times as long as {small}",
                came=f"{after * 1000:.0f} ms after {before * 1000:.1f} ms",
            )
    return None


def _seconds(feed: Feed, chunks: list[bytes]) -> float:
    start = _clock()
    feed(chunks)
    return _clock() - start
