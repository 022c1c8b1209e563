"""``ratatoskr tui``: the terminal app."""

from __future__ import annotations

import sys

import click

from ..console import CommandError, is_terminal
from ..option_values import read_headers


@click.command(short_help="Talk to a chat server in the terminal.")
@click.argument("url", required=False)
@click.option(
    "-H",
    "--header",
    multiple=True,
    metavar="'Name: value'|@FILE",
    help="A header to send, or a file with one on each line. May be given more than once.",
)
@click.option(
    "--reconnect",
    is_flag=True,
    help="When the connection is lost, connect again and go on. F4 turns it on and off.",
)
def tui(url: str | None, header: tuple[str, ...], reconnect: bool) -> int:
    """Talk to a chat server in the terminal; without URL, to one of its own.

    \b
    Examples:
      ratatoskr tui
      ratatoskr tui https://example.com/turns -H @secret-headers --reconnect

    F1 shows the keys.
    """
    headers = read_headers(header)
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise CommandError("the app needs a terminal; `ratatoskr turn` does without")
    from ...tui import RatatoskrApp

    RatatoskrApp(url, headers=headers, reconnect=reconnect).run()
    return 0
