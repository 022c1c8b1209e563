"""The command line: ``python -m benchmarks --help``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from .peers import PEERS
from .report import Results, Table, as_json, as_markdown, headline, remarks, tables
from .running import LAYERS, Plan, run
from .workloads import CHUNKINGS, WORKLOADS, frames_of

Command = TypeVar("Command", bound=Callable[..., Any])

WIDTH = 200  # of tables that go into a file
FEW_ROUNDS = 11


def show(results: Results) -> None:
    """Print the tables and the remarks."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    console.print(headline(results), markup=False)
    for table in tables(results):
        console.print()
        console.print(_rich(table, console.is_terminal))
        for line in table.below:
            console.print(line, markup=False)
    console.print()
    if results.rounds < FEW_ROUNDS:
        console.print(f"Only {results.rounds} rounds: the figures are a first try.", markup=False)
    for line in remarks(results):
        console.print(line, markup=False)


def _rich(table: Table, bold: bool) -> RichTable:
    """The table for a console; where nothing can be bold, the asterisks stay."""
    shown = RichTable(title=table.title, title_justify="left")
    for number, column in enumerate(table.columns):
        shown.add_column(column, justify="right" if number else "left", no_wrap=not number)
    for row in table.rows:
        shown.add_row(
            *(
                Text(cell.strip("*"), "bold") if bold and cell.startswith("**") else Text(cell)
                for cell in row
            )
        )
    return shown


def measure(plan: Plan) -> Results:
    """Run, with a progress bar if anyone sees it."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:

        def progress(what: str, steps: int) -> Callable[[], object]:
            task = bar.add_task(what, total=steps)
            return lambda: bar.advance(task)

        return run(plan, progress)


def _choice(option: str, names: tuple[str, ...], what: str) -> Callable[[Command], Command]:
    return click.option(
        f"--{option}",
        f"{option}s",
        type=click.Choice(names),
        multiple=True,
        help=f"{what}; may be given several times.  [default: all]",
    )


def _file(option: str, what: str) -> Callable[[Command], Command]:
    path = click.Path(dir_okay=False, writable=True, path_type=Path)
    return click.option(f"--{option}", f"{option}_file", type=path, metavar="FILE", help=what)


@click.command()
@_choice("layer", LAYERS, "What to measure")
@_choice("workload", tuple(WORKLOADS), "The streams that are read")
@click.option(
    "--file",
    "files",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    multiple=True,
    help="A recorded stream, or a recording of `ratatoskr turn --record`, to read as well; alone, "
    "if no workload is given.",
)
@_choice("chunking", tuple(CHUNKINGS), "How they are cut")
@_choice("peer", tuple(PEERS), "What to measure against")
@click.option("--rounds", type=click.IntRange(1), help="[default: 15; quick: 11]")
@click.option("--quick", is_flag=True, help="Smaller streams, in about a minute.")
@click.option(
    "--scale", type=click.FloatRange(0, min_open=True), default=1.0, help="How much of each stream."
)
@_file("json", "Write the results as JSON.")
@_file("markdown", "Write the tables as Markdown.")
@_file("plot", "Write a plot as SVG; needs matplotlib.")
def main(
    layers: tuple[str, ...],
    workloads: tuple[str, ...],
    files: tuple[Path, ...],
    chunkings: tuple[str, ...],
    peers: tuple[str, ...],
    rounds: int | None,
    quick: bool,
    scale: float,
    json_file: Path | None,
    markdown_file: Path | None,
    plot_file: Path | None,
) -> None:
    """Measure the decoder and others. See docs/performance.md for what the figures mean."""
    try:
        recorded = {path.name: frames_of(path) for path in files}
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    plan = Plan(
        layers or LAYERS,
        workloads or (() if files else tuple(WORKLOADS)),
        recorded,
        chunkings or tuple(CHUNKINGS),
        peers or tuple(PEERS),
        rounds or (FEW_ROUNDS if quick else 15),
        quick,
        scale,
    )
    results = measure(plan)
    show(results)
    if json_file is not None:
        text = json.dumps(as_json(results), indent=1, ensure_ascii=False)
        json_file.write_text(text + "\n", encoding="utf-8")
    if markdown_file is not None:
        markdown_file.write_text(as_markdown(results), encoding="utf-8")
    if plot_file is not None:
        from .plot import plot

        try:
            plot(results, plot_file)
        except (ImportError, ValueError) as error:
            raise click.ClickException(f"no plot: {error}") from None


if __name__ == "__main__":
    main()
