"""``ratatoskr turn``: one turn of a chat server."""

from __future__ import annotations

import functools
from typing import Any

import click

from ..._connector import Connector
from ..._shown.json_lines import JsonLines, loads
from ..._shown.recorder import recording_to
from ..connect import show_stream, stream_options
from ..options import UNICODE_NEEDS_JSON, record_option, unicode_option
from ..show_turn import TurnPrinter


@click.command(short_help="Show one turn of a chat server.")
@click.argument("url")
@click.option("-m", "--message", metavar="TEXT", help="Start a turn with this message.")
@click.option("--resume", metavar="ID", help="Resume a turn after this id, such as 93:1077.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON.")
@unicode_option
@record_option
@stream_options
def turn(
    url: str,
    message: str | None,
    resume: str | None,
    as_json: bool,
    unicode: bool,
    record: str | None,
    connector: Connector,
    stream_options: dict[str, Any],
) -> int:
    """Stream one turn: its text to stdout, all else as labels to stderr.

    With -m the message is sent to URL as {"message": TEXT}; with --resume a turn that was lost is
    resumed after the event with that id.

    \b
    Examples:
      ratatoskr turn http://127.0.0.1:8000/turns -m "Hello"
      ratatoskr turn http://127.0.0.1:8000/turns --resume 93:1077 --json
      ratatoskr turn http://127.0.0.1:8000/turns -m Hi --reconnect
      ratatoskr turn https://example.com/turns -m Hi -H @secret-headers --record turn.jsonl

    When the connection drops, the label says the id to resume after. With --reconnect that is done
    for you: the message is not sent twice, and nothing is shown twice.
    """
    if (message is None) == (resume is None):
        raise click.UsageError("give a message with -m, or an id with --resume, and not both")
    if unicode and not as_json:
        raise click.UsageError(UNICODE_NEEDS_JSON)
    with recording_to(record) as recorder:
        lines = JsonLines(unicode=unicode) if as_json else None
        printer = TurnPrinter(lines=lines, recorder=recorder, explain=True)
        options = stream_options | {"loads": loads}
        start = functools.partial(show_stream, connector, printer, **options)
        if resume is not None:
            return connector.run(functools.partial(start, "reconnect_turn", url, resume))
        body = {"message": message}
        return connector.run(functools.partial(start, "stream_turn", url, json=body))
