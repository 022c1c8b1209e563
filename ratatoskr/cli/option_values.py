"""Reading the values of options that may be in a file."""

from __future__ import annotations

from collections.abc import Iterable

from .._shown.encoding import encoding_error
from .console import CommandError


def read_headers(options: Iterable[str]) -> list[tuple[str, str]]:
    """Read the values of ``--header``: each ``Name: value``, or ``@FILE`` with such lines.

    Raises CommandError for an invalid header, which may hold a secret and is not repeated, and for
    a file that cannot be read.
    """
    return [pair for each in options for pair in _read_header(each)]


def _read_header(text: str) -> list[tuple[str, str]]:
    if not text.startswith("@"):
        return [_split_header(text, "--header")]
    path = text[1:]
    return [
        _split_header(line, f"line {number} of {path!r}")
        for number, line in enumerate(_read_file(path, "the headers").splitlines(), 1)
        if line.strip()
    ]


def _split_header(text: str, where: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise CommandError(f"{where}: a header is written 'Name: value'")
    return name.strip(), value.strip()


def _read_file(path: str, what: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read()
        error = encoding_error(content)
        if error is None:
            return content.decode()
    except OSError as os_error:
        error = os_error.strerror
    except ValueError as value_error:  # of the content, or a null character in the path
        error = "it is not UTF-8" if isinstance(value_error, UnicodeError) else "it is no path"
    raise CommandError(f"cannot read {what} in {path!r}: {error}") from None
