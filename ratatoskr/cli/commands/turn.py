"""``ratatoskr turn``: one turn of a chat server."""

from __future__ import annotations

import functools
from typing import Any

import click

from ratatoskr_proto.dialects import Dialect

from ..._connector import Connector
from ..._requests import Said, request_body
from ..._shown.json_lines import JsonLines, loads
from ..._shown.recorder import recording_to
from ..connect import show_stream, stream_options
from ..dialect_options import check_resumes, dialect_option, keys_option, read_keys
from ..options import UNICODE_NEEDS_JSON, record_option, unicode_option
from ..show_turn import ExplainingPrinter


@click.command(short_help="Show one turn of a chat server.")
@click.argument("url")
@click.option("-m", "--message", metavar="TEXT", help="Start a turn with this message.")
@click.option("--resume", metavar="ID", help="Resume a turn after this id, such as 93:1077.")
@dialect_option
@keys_option
@click.option("--reasoning", is_flag=True, help="Show the model's thinking on stderr too.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON.")
@unicode_option
@record_option
@stream_options
def turn(
    url: str,
    message: str | None,
    resume: str | None,
    dialect: Dialect[Any],
    data: str | None,
    reasoning: bool,
    as_json: bool,
    unicode: bool,
    record: str | None,
    connector: Connector,
    stream_options: dict[str, Any],
) -> int:
    """Stream one turn: its text to stdout, everything else as labels to stderr.

    With -m the message is sent to URL in the form of the dialect, such as {"message": TEXT}; -d
    without -m is the whole request. With --resume a turn that was lost is resumed after the event
    with that id.

    \b
    Examples:
      ratatoskr turn http://127.0.0.1:8000/turns -m "Hello"
      ratatoskr turn http://127.0.0.1:8000/turns --resume 93:1077 --json
      ratatoskr turn http://127.0.0.1:8000/turns -m Hi --reconnect
      ratatoskr turn https://example.com/turns -m Hi -H @secret-headers --record turn.jsonl
      ratatoskr turn http://127.0.0.1:11434/v1/chat/completions \\
          --dialect openai-chat -m Hi -d '{"model": "qwen3"}'

    When the connection drops, the label says the id to resume after. With --reconnect that is done
    for you: the message is not sent twice, and nothing is shown twice.
    """
    check_resumes(dialect, resume=resume, reconnect=stream_options["reconnect"])
    if (message is None and data is None) == (resume is None):
        if not dialect.numbered:
            raise click.UsageError("give a message with -m, or a request with -d")
        raise click.UsageError("give a message with -m, or an id with --resume, and not both")
    if unicode and not as_json:
        raise click.UsageError(UNICODE_NEEDS_JSON)
    lines = JsonLines(unicode=unicode) if as_json else None
    options = stream_options | {"loads": loads}
    body = keys = read_keys(data)
    if message is not None:
        body = request_body(dialect.name, [Said("user", message)], keys)
    with recording_to(record) as recorder:
        printer = ExplainingPrinter(
            dialect.name, lines=lines, reasoning=reasoning, recorder=recorder
        )
        start = functools.partial(show_stream, connector, printer, **options)
        if resume is not None:
            return connector.run(functools.partial(start, "reconnect_turn", url, resume))
        start = functools.partial(start, dialect=dialect)
        return connector.run(functools.partial(start, "stream_turn", url, json=body))
