"""Where the time of a stream over a transport goes: whose code it was, by a profile of each reader.

    python -m benchmarks.breakdown

A profiler makes small functions look dearer than they are, so take the shares for what they are.
"""

from __future__ import annotations

import cProfile
import pstats
from collections import Counter
from collections.abc import Callable

import click

from .transports import transport_cells

LAYERS = {
    "ratatoskr_proto": "decoder",
    "ratatoskr_transports": "transport",
    "h11": "h11",
    "httpcore": "httpcore",
    "httpx": "httpx",
    "httpx_sse": "httpx-sse",
    "anyio": "anyio",
    "trio": "trio",
    "asyncio": "asyncio",
    "json": "json",
}


def layer_of(file: str, function: str) -> str:
    """Whose code a function is, by the folder of its file."""
    for part in reversed(file.replace("\\", "/").split("/")):
        if part in LAYERS:
            return LAYERS[part]
    if file == "~":
        return f"built in: {function}" if _waits(function) else "built in"
    return "other"


def _waits(function: str) -> bool:
    return "select" in function or "poll" in function


def shares(run: Callable[[], object]) -> Counter[str]:
    """The seconds that each layer took. What is built in counts for who called it."""
    profile = cProfile.Profile()
    profile.runcall(run)
    spent: Counter[str] = Counter()
    rows = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    for (file, _, function), (_, _, own, _, callers) in rows.items():
        if file != "~" or _waits(function):
            spent[layer_of(file, function)] += own
            continue
        for (caller_file, _, caller), caller_row in callers.items():
            spent[layer_of(caller_file, caller)] += caller_row[2]
    return spent


@click.command()
@click.option("--events", type=click.IntRange(1), default=3000, show_default=True)
def main(events: int) -> None:
    """Print the shares of each reader."""
    with transport_cells(events) as cells:
        for cell in cells:
            for name, read in cell.readers.items():
                read()
                spent = shares(read)
                total = sum(spent.values())
                parts = ", ".join(
                    f"{layer} {own / total:.0%}" for layer, own in spent.most_common(7)
                )
                click.echo(f"{cell.labels['path']}, {name}: {parts}")


if __name__ == "__main__":
    main()
