"""``ratatoskr tui``: the terminal app."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..._connector import TRIO, Connector
from ..connect import stream_options
from ..console import CommandError, is_terminal
from ..options import record_option


@click.command(short_help="Talk to a chat server in the terminal.")
@click.argument("url", required=False)
@record_option
@stream_options
def tui(
    url: str | None,
    record: str | None,
    connector: Connector,
    stream_options: dict[str, Any],
) -> int:
    """Talk to a chat server in the terminal; without URL, to one of its own.

    \b
    Examples:
      ratatoskr tui
      ratatoskr tui https://example.com/turns -H @secret-headers --reconnect

    F1 shows the keys. With --record the first turn is recorded to FILE, later ones to files with a
    number; F8 turns it on and off.
    """
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise CommandError("the app needs a terminal; `ratatoskr turn` does without")
    if connector.transport == TRIO:
        raise CommandError("the app runs on asyncio; use --transport httpx or anyio")
    from ...tui import RatatoskrApp

    reconnect = stream_options.pop("reconnect")
    app = RatatoskrApp(
        url,
        connector=connector,
        options=stream_options,
        reconnect=reconnect is not None,
        record=record,
    )
    app.run()
    return app.return_code or 0
