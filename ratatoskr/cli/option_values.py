"""Reading the values of options that may be in a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from .._shown.encoding import decoded
from .._shown.pretty_json import strict_loads
from .console import CommandError, write_stderr


def read_headers(options: Iterable[str]) -> list[tuple[str, str]]:
    """Read the values of ``--header``: each ``Name: value``, or ``@FILE`` with such lines, or
    ``@-`` for stdin.

    Raises CommandError for an invalid header, which may hold a secret and is not repeated, and for
    a file that cannot be read.
    """
    return [pair for each in options for pair in _read_header(each)]


def read_body(option: str) -> bytes:
    """Read the value of ``--data``: the text itself, or ``@FILE``, or ``@-`` for stdin.

    Raises CommandError for a file that cannot be read.
    """
    if not option.startswith("@"):
        return option.encode("utf-8", "surrogateescape")  # the bytes that were typed
    return _read_file(option[1:], "the data")


def request_body(body: bytes, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the options for a request with this body: JSON, unless a header says otherwise.

    Raises CommandError for a body that should be JSON and is not.
    """
    if any(name.lower() == "content-type" for name, _ in headers):
        return {"content": body}
    check_json(body)
    return {"content": body, "headers": [("Content-Type", "application/json")]}


def check_json(body: bytes) -> Any:
    """Return the JSON value of a body. Raises CommandError if it is not JSON."""
    try:
        return strict_loads(decoded(body))
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at line {error.lineno}, column {error.colno}"
    except ValueError as value_error:
        reason = str(value_error)
    except RecursionError:
        reason = "it is nested too deep"
    raise CommandError(f"the data must be JSON: {reason}")


def _read_header(text: str) -> list[tuple[str, str]]:
    if not text.startswith("@"):
        return [_split_header(text, "--header")]
    path = text[1:]
    try:
        lines = decoded(_read_file(path, "the headers")).splitlines()
    except ValueError as error:
        raise CommandError(f"cannot read the headers in {path!r}: {error}") from None
    return [
        _split_header(line, f"line {number} of {path!r}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def _split_header(text: str, where: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise CommandError(f"{where}: a header is written 'Name: value'")
    return name.strip(), value.strip()


def _read_file(path: str, what: str) -> bytes:
    try:
        if path == "-":
            if sys.stdin is None:
                raise CommandError(f"cannot read {what} from stdin: it is closed")
            if sys.stdin.isatty():
                write_stderr(f"ratatoskr: reading {what} from the terminal; Ctrl-D ends it")
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        reason = error.strerror
    except ValueError:
        reason = "it is not a path"  # but has a null character
    raise CommandError(f"cannot read {what} in {path!r}: {reason}")
