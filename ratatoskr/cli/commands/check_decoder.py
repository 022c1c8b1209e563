"""``ratatoskr check-decoder``: any decoder of event streams against the standard."""

from __future__ import annotations

import importlib
import json
import operator
import sys
from typing import Any

import click

from ratatoskr_proto import testing

from ..._shown.visible import printable
from ..console import write_stderr, write_stdout, write_stdout_json
from ..options import ABOVE_0

_FAILED = 1
_YEAR = 365 * 24 * 3600.0
_PIPE_WIDTH = 200


@click.command(short_help="Check any decoder against the standard.")
@click.argument("target", metavar="MODULE:FACTORY")
@click.option("--prompt", is_flag=True, help="Events must come with the chunk that completes them.")
@click.option("--json", "as_json", is_flag=True, help="Print each check as a line of JSON.")
@click.option(
    "--timeout",
    type=ABOVE_0,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up when one call of the decoder takes longer than this, and show where it hangs.",
)
def check_decoder(target: str, prompt: bool, as_json: bool, timeout: float) -> int:
    """Check any decoder of event streams against the WHATWG HTML standard.

    FACTORY, in MODULE, returns a new decoder each time it is called: an object with
    receive_data(bytes) and receive_eof(), each of which returns the events that are complete.
    An event has the attributes event, data and id, or is a tuple of the three. MODULE is looked
    for in the current directory too.

    It exits with 0 if the decoder passed, with 1 if it failed or hung, with 2 if it cannot be
    loaded.

    \b
    Examples:
      ratatoskr check-decoder ratatoskr_proto:EventStreamDecoder --prompt
      ratatoskr check-decoder my_parser:Decoder --json | jq -r 'select(.passed|not).check'
    """
    factory = _load(target)
    try:
        report = testing.check_decoder(factory, prompt=prompt, timeout=min(timeout, _YEAR))
    except TypeError as error:
        raise click.UsageError(str(error)) from None
    except TimeoutError as error:
        write_stderr(f"ratatoskr: {printable(str(error))}")
        return _FAILED
    except SystemExit:  # whose exit code would be ours
        write_stderr("ratatoskr: the decoder ended the process, by a SystemExit")
        return _FAILED
    if as_json:
        write_stdout_json(_json_lines(report))
    else:
        write_stdout(_table(report))
    return 0 if report.passed else _FAILED


def _load(target: str) -> Any:
    name, colon, path = target.partition(":")
    if not (name and colon and path):
        raise click.UsageError(f"{target!r} is not MODULE:FACTORY, such as my_parser:Decoder")
    # As with `python -m`; it stays, since the module may import others later.
    sys.path.insert(0, "")
    try:
        return operator.attrgetter(path)(importlib.import_module(name))
    except (Exception, SystemExit) as error:  # a module may raise anything
        raise click.UsageError(f"cannot load {target}: {type(error).__name__}: {error}") from None


def _json_lines(report: testing.Report) -> str:
    failures = {failure.check: failure for failure in report}
    lines = []
    for check in report.checks:
        line: dict[str, Any] = {"check": check.name, "passed": check.passed, "clause": check.clause}
        failure = failures.get(check.name)
        if failure is not None:
            # As Python writes bytes, which JSON cannot.
            line |= {
                "input": repr(failure.data),
                "chunks": [repr(chunk) for chunk in failure.chunks],
                "expected": failure.expected,
                "came": failure.came,
            }
        lines.append(json.dumps(line) + "\n")
    return "".join(lines)


def _table(report: testing.Report) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    inputs = {failure.check: repr(failure.data) for failure in report if failure.chunks}
    table = Table("result", "check", "smallest input")
    for check in report.checks:
        result = Text("passed", "green") if check.passed else Text("failed", "bold red")
        table.add_row(result, Text(check.name), Text(inputs.get(check.name, "")))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_PIPE_WIDTH)
    with console.capture() as captured:
        console.print(table)
    return f"{captured.get()}\n{report}\n"
