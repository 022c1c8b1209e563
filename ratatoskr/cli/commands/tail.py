"""``ratatoskr tail``: any event stream."""

from __future__ import annotations

import functools
import sys
from typing import Any

import click

from ..._connector import Connector
from ..._shown.json_lines import JsonLines
from ..._shown.recorder import recording_to
from ..connect import check_url, show_stream, stream_options
from ..console import colour_wanted
from ..event_formats import EventsAsJson, EventsAsText
from ..option_values import read_body, request_body
from ..options import ABOVE_0, UNICODE_NEEDS_JSON, pretty_option, record_option, unicode_option
from ..show_events import EventsPrinter


@click.command(short_help="Show any event stream as it comes.")
@click.argument("url")
@click.option(
    "-X", "--method", metavar="NAME", help="The method of the request: GET, or POST with -d."
)
@click.option(
    "-d",
    "--data",
    metavar="JSON|@FILE|@-",
    help="Send this body, or one in a file or on stdin: JSON, unless -H gives a Content-Type.",
)
@click.option(
    "--last-event-id", default="", metavar="ID", help="Resume the stream after this event."
)
@click.option(
    "--resume-url",
    metavar="URL",
    help="With --reconnect: resume with a GET to this URL, whatever the first method was.",
)
@click.option("--max-time", type=ABOVE_0, metavar="SECONDS", help="Stop after this long.")
@click.option(
    "--event",
    "only",
    multiple=True,
    metavar="NAME",
    help="Show only the frames with this event name. May be given more than once.",
)
@click.option("--times", is_flag=True, help="Show the seconds since the request with each frame.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print each frame, comment and retry as JSON."
)
@unicode_option
@pretty_option
@click.option("-i", "--include", "head", is_flag=True, help="Show the status and the headers too.")
@click.option("--summary", is_flag=True, help="At the end, print figures: frames, bytes, times.")
@record_option
@stream_options
def tail(
    url: str,
    method: str | None,
    data: str | None,
    last_event_id: str,
    resume_url: str | None,
    max_time: float | None,
    only: tuple[str, ...],
    times: bool,
    as_json: bool,
    unicode: bool,
    pretty: bool,
    head: bool,
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
      ratatoskr tail https://example.com/chat -d '{"prompt": "Hi"}' --pretty --times

    It ends with the stream, or with Ctrl-C. With --reconnect it behaves like a browser: it
    reconnects after the end of the stream too, until the server answers with the status 204.
    """
    if unicode and not as_json:
        raise click.UsageError(UNICODE_NEEDS_JSON)
    if stream_options["reconnect"] is None and resume_url is not None:
        raise click.UsageError("--resume-url needs --reconnect")
    if resume_url is not None:
        check_url(resume_url, "the URL to resume at")
    if method is None:
        method = "GET" if data is None else "POST"
    if stream_options["reconnect"] is not None and resume_url is None and method.upper() != "GET":
        raise click.UsageError(
            "--reconnect never sends such a request again; say with --resume-url where to resume"
        )
    options: dict[str, Any] = {
        "resume_url": resume_url,
        "last_event_id": last_event_id,
        "comments": True,
        "method": method,
    }
    if data is not None:
        options |= request_body(read_body(data), connector.headers)
    colour = pretty and colour_wanted(sys.stdout)
    with recording_to(record) as recorder:
        printer = EventsPrinter(
            EventsAsJson(JsonLines(unicode=unicode, indented=pretty, colour=colour))
            if as_json
            else EventsAsText(indented=pretty, colour=colour),
            last_event_id=last_event_id,
            only=only,
            times=times,
            head=head,
            summary=summary,
            max_time=max_time,
            recorder=recorder,
        )
        main = functools.partial(
            show_stream, connector, printer, "stream_events", url, **stream_options, **options
        )
        return connector.run(main)
