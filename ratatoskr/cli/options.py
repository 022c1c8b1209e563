"""Options, and types of options, that more than one command takes."""

from __future__ import annotations

import math
from typing import Any

import click
from click.shell_completion import CompletionItem

from ratatoskr_proto import DEFAULT_MAX_EVENT_BYTES


class Number(click.FloatRange):
    """A number in a range. NaN is refused; its comparisons would let it pass any range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class FileName(click.types.StringParamType):
    """The name of a file, which a shell completes. Opening the file says what is wrong with it."""

    name = "file"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


ABOVE_0 = Number(min=0, min_open=True)

max_event_bytes_option = click.option(
    "--max-event-bytes",
    type=click.IntRange(min=1),
    default=DEFAULT_MAX_EVENT_BYTES,
    show_default=True,
    metavar="N",
    help="An event of more bytes than this is an error.",
)

record_option = click.option(
    "--record",
    type=FileName(),
    metavar="FILE",
    help="Write a recording, for `decode` and `serve --replay`.",
)

UNICODE_NEEDS_JSON = "--unicode needs --json; other output is not limited to ASCII"

unicode_option = click.option(
    "--unicode", is_flag=True, help="Write characters beyond ASCII in JSON as they are."
)

pretty_option = click.option(
    "--pretty", is_flag=True, help="Indent JSON, and colour it on a terminal."
)
