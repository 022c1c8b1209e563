"""The way back: events and comments to the bytes of a ``text/event-stream``.

``EventStreamDecoder`` reads the same events from these bytes. Nothing is silently removed, and no
byte of an argument can start a field of its own. See docs/wire.md.
"""

from __future__ import annotations

import re

from . import _arguments
from ._frames import Comment, ServerSentEvent
from ._wire import MAX_RETRY_DIGITS

# As the standard ends lines, and not as str.splitlines() does.
_LINE_END = re.compile(r"\r\n|\r|\n")
_RETRY_END = 10**MAX_RETRY_DIGITS


def encode(item: ServerSentEvent | Comment, last_event_id: str = "") -> bytes:
    """Return the bytes of an item of a decoder, so that a proxy is one line.

    ``last_event_id`` (str) is the id that the reader has; the id of an event is written if it
    differs, and so a stream without ids stays one. Raises TypeError for any other item, and
    ValueError as ``encode_event`` does.
    """
    _text("last_event_id", last_event_id)
    if isinstance(item, Comment):
        return encode_comment(item.text)
    if not isinstance(item, ServerSentEvent):
        raise TypeError(f"encode() takes a ServerSentEvent or a Comment, not {type(item).__name__}")
    event = None if item.event == "message" else item.event
    return encode_event(item.data, event=event, id=None if item.id == last_event_id else item.id)


def encode_event(
    data: str | None,
    *,
    event: str | None = None,
    id: str | None = None,
    retry_ms: int | None = None,
) -> bytes:
    """Return the bytes of one event, with the blank line that ends it.

    ``data`` (str) may have lines, ended by CRLF, CR or LF; they are decoded with LF between them.
    ``event`` (str) is the type of the event and ``id`` (str) the id of the stream from here on,
    ``""`` to clear it; ``retry_ms`` (int >= 0) is the time to wait before reconnecting, in
    milliseconds. None leaves a field out. Without ``data`` there is no event, and the block carries
    the id or the retry time alone.

    Raises TypeError for arguments of another type, and ValueError for those that no line can carry:
    CR or LF in ``event``; CR, LF or NUL in ``id``; a lone surrogate anywhere; a ``retry_ms`` that
    is not an int >= 0 of at most 4300 digits; a block without data, id and retry time.
    """
    if data is None and id is None and retry_ms is None:
        raise ValueError("a block without data must have an id or a retry_ms")
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
    if data is not None:
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
    _arguments.text(name, value)
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise ValueError(f"{name} must not contain a lone surrogate; UTF-8 cannot carry it")
    return value
