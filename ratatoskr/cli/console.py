"""Writing to stdout and stderr, as every command does.

Text from a server goes through ``visible`` first.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import sys
from typing import TextIO

import click

from .._shown.labels import ExitCode


class CommandError(click.ClickException):
    """Something outside the program failed, such as a file; its message is one line."""

    exit_code = ExitCode.USAGE


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a standard stream is open and is a terminal."""
    return stream is not None and stream.isatty()


def outputs_meet() -> bool:
    """Whether stdout and stderr go to the same place, such as a terminal or ``2>&1``."""
    try:
        out, err = (os.fstat(stream.fileno()) for stream in (sys.stdout, sys.stderr))
    except (OSError, AttributeError):  # one of them is closed, or is not a file
        return False
    return os.path.samestat(out, err)


def colour_wanted(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colours that the user has not switched off."""
    unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return is_terminal(stream) and not unwanted


def write_stdout(text: str) -> None:
    """Write to stdout at once, with escapes for characters that its encoding does not have."""
    _write_stdout(text, "backslashreplace")


def write_stdout_json(text: str) -> None:
    """As ``write_stdout``, with the escapes of JSON, and unchanged if it is ASCII, whatever the
    encoding.
    """
    if not text.isascii():
        _write_stdout(text, "ratatoskr.json")
    elif text:
        if sys.stdout is None:
            raise BrokenPipeError
        sys.stdout.buffer.write(text.encode("ascii"))
        sys.stdout.buffer.flush()


def _write_stdout(text: str, errors: str) -> None:
    if text:
        if sys.stdout is None:
            raise BrokenPipeError
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors=errors, newline="\n")
        sys.stdout.write(text)
        sys.stdout.flush()


def _json_errors(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error("ratatoskr.json", _json_errors)


def write_stderr(line: str, end: str = "\n") -> None:
    """Write a line to stderr; without a reader there, the exit code still says how it ended."""
    if sys.stderr is not None:
        try:
            print(line, end=end, file=sys.stderr, flush=True)
        except OSError:
            discard_output(sys.stderr)


def discard_output(stream: TextIO | None) -> None:
    """Point a stream at the null device, so that flushing it at exit does not fail again."""
    if stream is not None:
        with contextlib.suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
