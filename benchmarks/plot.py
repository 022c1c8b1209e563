"""The plot: ratios at the wire and the growth, as an SVG that is the same for the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .growth import nanoseconds_a_byte
from .measuring import Cell
from .peers import OURS
from .report import Results

OUR_COLOUR = "#b5471b"


def plot(results: Results, file: Path) -> None:
    """Write the plot. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "ratatoskr",
            "svg.fonttype": "none",
            "font.size": 9,
            "axes.grid": True,
            "axes.grid.axis": "y",
        }
    )
    from matplotlib import pyplot

    panels = [bool(results.wire), bool(results.growth)]
    if not any(panels):
        raise ValueError("there is nothing to plot: no wire layer and no growth was measured")
    figure, axes = pyplot.subplots(
        sum(panels), 1, figsize=(9, 4.5 * sum(panels)), layout="constrained", squeeze=False
    )
    rest = list(axes[:, 0])
    if results.wire:
        _plot_wire(rest.pop(0), results.wire)
    if results.growth:
        _plot_growth(rest.pop(0), results.growth)
    figure.savefig(file, format="svg", metadata={"Date": None})
    pyplot.close(figure)


def _plot_wire(axes: Any, cells: list[Cell]) -> None:
    """A row of dots a cell: the time of each reader, ours being 1."""
    names = [name for name in cells[0].readers if name != OURS]
    for number, name in enumerate(names):
        points = [
            (position, ratio.median)
            for position, cell in enumerate(cells)
            if (ratio := cell.ratio(name, OURS)) is not None
        ]
        marker = "osD^v<>P"[number % 8]
        axes.plot(*zip(*points, strict=True), marker, label=name, alpha=0.8, markersize=5)
    axes.axhline(1, color=OUR_COLOUR, linewidth=2, label=OURS)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    labels = [f"{cell.labels['workload']}, {cell.labels['chunking']}" for cell in cells]
    axes.set_xticks(range(len(cells)), labels, rotation=90, fontsize=7)
    axes.set_ylabel("time of a peer, ours being 1")
    axes.set_title("Wire: above the line, we are faster")
    axes.legend(fontsize=7, ncols=3)


def _plot_growth(axes: Any, cells: list[Cell]) -> None:
    for shape in dict.fromkeys(cell.labels["shape"] for cell in cells):
        own = [cell for cell in cells if cell.labels["shape"] == shape]
        spreads = [nanoseconds_a_byte(cell) for cell in own]
        sizes = [cell.size / 2**20 for cell in own]
        (line,) = axes.plot(sizes, [each.median for each in spreads], "o-", label=shape)
        lows, highs = [each.low for each in spreads], [each.high for each in spreads]
        axes.fill_between(sizes, lows, highs, alpha=0.2, color=line.get_color())
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("size of the one event, MiB")
    axes.set_ylabel("ns a byte")
    axes.set_title("Growth: one event in chunks of 1 KiB")
    axes.legend()
