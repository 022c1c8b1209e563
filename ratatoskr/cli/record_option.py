"""The ``--record`` option."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from .._shown.recording import Recorder
from .console import CommandError

record_option = click.option(
    "--record", metavar="FILE", help="Write a recording, for `decode` and `serve --replay`."
)


@contextlib.contextmanager
def recording_to(path: str | None) -> Iterator[Recorder | None]:
    """Give the recorder that writes to a file, as things come. Raises CommandError if it cannot."""
    if path is None:
        yield None
        return
    try:
        file = open(path, "w", encoding="ascii")  # noqa: SIM115
    except OSError as error:
        raise _unwritable(path, error) from None

    def write(lines: str) -> None:
        try:
            file.write(lines)
            file.flush()
        except OSError as error:
            raise _unwritable(path, error) from None

    try:
        yield Recorder(write)
    finally:
        with contextlib.suppress(OSError):  # all was flushed, or its failure said
            file.close()


def _unwritable(path: str, error: OSError) -> CommandError:
    return CommandError(f"cannot write {path!r}: {error.strerror}")
