"""The options that name a dialect and add to its requests."""

from __future__ import annotations

from typing import Any

import click

from ratatoskr_proto.dialects import DIALECTS, TURN, Dialect

from .console import CommandError
from .option_values import check_json, read_body


class _DialectName(click.Choice[str]):
    """The name of a dialect, which becomes the dialect."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, Dialect):
            return value
        return DIALECTS[super().convert(value, param, ctx)]


dialect_option = click.option(
    "--dialect",
    type=_DialectName(list(DIALECTS)),
    default=TURN.name,
    show_default=True,
    help="What the frames of the server mean.",
)

keys_option = click.option(
    "-d",
    "--data",
    metavar="JSON|@FILE|@-",
    help="""Keys to add to the request, or to replace: an object such as '{"model": "qwen3"}', or
    one in a file or on stdin.""",
)


def read_keys(data: str | None) -> dict[str, Any]:
    """Return the keys that ``--data`` adds to a request. Raises CommandError if it is not an object
    of JSON.
    """
    keys = {} if data is None else check_json(read_body(data))
    if not isinstance(keys, dict):
        raise CommandError("""the data must be an object of JSON, such as {"model": "qwen3"}""")
    return keys


def check_resumes(dialect: Dialect[Any], **options: object) -> None:
    """Raises UsageError for an option that resumes answers, if given, in a dialect that cannot."""
    for name, value in options.items():
        if value is not None and not dialect.numbered:
            raise click.UsageError(f"--{name} is for turns; {dialect.name} cannot resume an answer")
