"""``ratatoskr tui``: the terminal app."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ratatoskr_proto.dialects import TURN, Dialect

from ..._connector import TRIO, Connector
from ..connect import check_url, stream_options
from ..console import CommandError, is_terminal
from ..dialect_options import check_resumes, dialect_option, keys_option, read_keys
from ..options import record_option

if TYPE_CHECKING:
    from textual.app import App


@click.command(short_help="Talk to a chat server in the terminal.")
@click.argument("url", required=False)
@click.option(
    "--events", is_flag=True, help="Show the frames of any event stream, without a conversation."
)
@dialect_option
@keys_option
@click.option(
    "--history",
    type=click.IntRange(min=0),
    default=100_000,
    show_default=True,
    metavar="CHARS",
    help="How much of earlier messages and answers goes along with a message, in dialects whose "
    "servers do not remember them.",
)
@record_option
@stream_options
def tui(
    url: str | None,
    events: bool,
    dialect: Dialect[Any],
    data: str | None,
    history: int,
    record: str | None,
    connector: Connector,
    stream_options: dict[str, Any],
) -> int:
    """Talk to a chat server in the terminal; without URL, to one of its own.

    \b
    Examples:
      ratatoskr tui
      ratatoskr tui https://example.com/turns -H @secret-headers --reconnect
      ratatoskr tui --dialect openai-chat
      ratatoskr tui http://127.0.0.1:11434/v1/chat/completions --dialect openai-chat \\
          -d '{"model": "qwen3"}'
      ratatoskr tui --events https://example.com/stream

    F1 shows the keys. With --record the first turn is recorded to FILE, later ones to files with a
    number; F8 turns it on and off.
    """
    keys = read_keys(data)
    if url is not None:
        check_url(url)
    # Textual draws on stderr.
    if not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise CommandError(
            "the app needs a terminal as stdin, stdout and stderr; `ratatoskr turn` does without"
        )
    if os.environ.get("TERM") == "dumb":
        raise CommandError("the app needs a terminal that can do more than TERM=dumb says")
    if connector.transport == TRIO:
        raise CommandError("the app runs on asyncio; use --transport httpx or anyio")
    from ...tui import EventsApp, RatatoskrApp
    from ...tui.terminal_input import with_any_input

    reconnect = stream_options.pop("reconnect")
    app: App[None]
    if events:
        if url is None:
            raise click.UsageError("--events needs a URL")
        if record is not None or data is not None or dialect is not TURN:
            raise click.UsageError(
                "--events takes no --record, -d or --dialect; `tail` has the first two"
            )
        app = EventsApp(url, connector=connector, options=stream_options, reconnect=reconnect)
    else:
        check_resumes(dialect, reconnect=reconnect)
        app = RatatoskrApp(
            url,
            connector=connector,
            options=stream_options,
            reconnect=reconnect is not None,
            record=record,
            dialect=dialect,
            keys=keys,
            history=history,
        )
    app.driver_class = with_any_input(app.driver_class)
    app.run()
    return app.return_code or 0
