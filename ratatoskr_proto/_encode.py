"""The way back: events and comments to the bytes of a ``text/event-stream``.

What ``EventStreamDecoder`` reads of it is what went in. Nothing is removed in silence, and no byte
of an argument can begin a field of its own. See docs/wire.md.
"""

from __future__ import annotations

import re

from ._wire import MAX_RETRY_DIGITS

# As the standard ends lines, and not as str.splitlines() does.
_LINE_END = re.compile(r"\r\n|\r|\n")
_RETRY_END = 10**MAX_RETRY_DIGITS


def encode_event(
    data: str,
    *,
    event: str | None = None,
    id: str | None = None,
    retry_ms: int | None = None,
) -> bytes:
    """Return the bytes of one event, with the blank line that ends it.

    ``data`` (str) may have lines, ended by CRLF, CR or LF; they are decoded with LF between them.
    ``event`` (str) is the type of the event and ``id`` (str) the id of the stream from here on,
    ``""`` to clear it; ``retry_ms`` (int >= 0) is the time to wait before reconnecting, in
    milliseconds. None leaves a field out.

    Raises TypeError for what is not a str, and ValueError for what no line can carry: CR or LF in
    ``event``; CR, LF or NUL in ``id``; a lone surrogate anywhere; a ``retry_ms`` that is not such
    a number, or has more than 4300 digits.
    """
    lines = []
    if event is not None:
        lines.append("event: " + _one_line("event", event, "\r\n"))
    if id is not None:
        lines.append("id: " + _one_line("id", id, "\r\n\0"))
    if retry_ms is not None:
        if not isinstance(retry_ms, int) or isinstance(retry_ms, bool):
            raise ValueError(f"retry_ms must be an int, not {type(retry_ms).__name__}")
        if not 0 <= retry_ms < _RETRY_END:
            raise ValueError(f"retry_ms must be at least 0 and below 10**{MAX_RETRY_DIGITS}")
        lines.append(f"retry: {int(retry_ms)}")
    lines += [f"data: {line}" for line in _LINE_END.split(_text("data", data))]
    return _join(*lines, "")


def encode_comment(text: str) -> bytes:
    """Return the bytes of a comment: one line for each line of ``text`` (str).

    Readers ignore it, but its bytes show that the connection lives. Raises TypeError if ``text`` is
    not a str, ValueError for a lone surrogate.
    """
    return _join(*[f": {line}" for line in _LINE_END.split(_text("text", text))])


def _join(*lines: str) -> bytes:
    return "".join([f"{line}\n" for line in lines]).encode()


def _one_line(name: str, value: str, forbidden: str) -> str:
    for character in forbidden:
        if character in _text(name, value):
            raise ValueError(f"{name} must not contain {character!r}; it is one line of the stream")
    return value


def _text(name: str, value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{name} must not contain a lone surrogate; UTF-8 cannot carry it")
    return value
