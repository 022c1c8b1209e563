"""``ratatoskr tail``: any event stream."""

from __future__ import annotations

import functools
from typing import Any

import click

from ..._connector import Connector
from ..._shown.recorder import recording_to
from ..connect import show_stream, stream_options
from ..options import record_option
from ..show_events import EventsPrinter


@click.command(short_help="Show any event stream as it comes.")
@click.argument("url")
@click.option(
    "--last-event-id", default="", metavar="ID", help="Resume the stream after this event."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print each frame, comment and retry as JSON."
)
@click.option("--summary", is_flag=True, help="At the end, print figures: frames, bytes, rate.")
@record_option
@stream_options
def tail(
    url: str,
    last_event_id: str,
    as_json: bool,
    summary: bool,
    record: str | None,
    connector: Connector,
    stream_options: dict[str, Any],
) -> int:
    """Show any event stream as it comes: frames, ids, comments and the retry time.

    The output is an event stream again, with escapes for what could command the terminal.

    \b
    Examples:
      ratatoskr tail https://example.com/stream
      ratatoskr tail https://example.com/stream --json --last-event-id 7 | jq -r .data
      ratatoskr tail https://example.com/stream --reconnect

    It ends with the stream, or with Ctrl-C. With --reconnect it does as a browser: it reconnects
    after the end of the stream too, until the server answers with the status 204.
    """
    with recording_to(record) as recorder:
        printer = EventsPrinter(
            last_event_id=last_event_id, as_json=as_json, summary=summary, recorder=recorder
        )
        options = stream_options | {"last_event_id": last_event_id, "comments": True}
        main = functools.partial(show_stream, connector, printer, "stream_events", url, **options)
        return connector.run(main)
