"""``ratatoskr tui``: the terminal app."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ..._connector import TRIO, Connector
from ..connect import stream_options
from ..console import CommandError, is_terminal
from ..options import record_option

if TYPE_CHECKING:
    from textual.app import App


@click.command(short_help="Talk to a chat server in the terminal.")
@click.argument("url", required=False)
@click.option(
    "--events", is_flag=True, help="Show the frames of any event stream, without a conversation."
)
@record_option
@stream_options
def tui(
    url: str | None,
    events: bool,
    record: str | None,
    connector: Connector,
    stream_options: dict[str, Any],
) -> int:
    """Talk to a chat server in the terminal; without URL, to one of its own.

    \b
    Examples:
      ratatoskr tui
      ratatoskr tui https://example.com/turns -H @secret-headers --reconnect
      ratatoskr tui --events https://example.com/stream

    F1 shows the keys. With --record the first turn is recorded to FILE, later ones to files with a
    number; F8 turns it on and off.
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise CommandError("the app needs a terminal; `ratatoskr turn` does without")
    if connector.transport == TRIO:
        raise CommandError("the app runs on asyncio; use --transport httpx or anyio")
    from ...tui import EventsApp, RatatoskrApp

    reconnect = stream_options.pop("reconnect")
    app: App[None]
    if events:
        if url is None or record is not None:
            raise click.UsageError("--events needs a URL, and takes no --record; `tail` records")
        app = EventsApp(url, connector=connector, options=stream_options, reconnect=reconnect)
    else:
        app = RatatoskrApp(
            url,
            connector=connector,
            options=stream_options,
            reconnect=reconnect is not None,
            record=record,
        )
    app.run()
    return app.return_code or 0
