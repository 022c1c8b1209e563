"""Hints about a bad end, each on a line of its own."""

from __future__ import annotations

from typing import Any

from ratatoskr_proto import Event, ProtocolError, RatatoskrError, SseConnectFailed

from .._shown.guess import DialectGuess

_MAX_TYPE = 200  # characters of a media type


def media_type_hint(ending: Event | RatatoskrError, stream: Any) -> str:
    """Return a line that says which media type came in place of that of a stream, or ``""``."""
    if not isinstance(ending, SseConnectFailed) or ending.reason.word != "content-type":
        return ""
    came = stream.headers.get("content-type", "")[:_MAX_TYPE]
    media_type = f"the media type is {came!r}" if came else "there is no media type"
    return f"ratatoskr: {media_type}; --any-type reads it anyway"


def dialect_hint(ending: Event | RatatoskrError, guess: DialectGuess) -> str:
    """Return a line that says which other dialect a stream seems to be in, or ``""``."""
    if not isinstance(ending, RatatoskrError) or isinstance(ending, SseConnectFailed):
        return ""
    other = guess.other_dialect()
    if other:
        return f"ratatoskr: this looks like {other}; try --dialect {other}"
    if other == "" and isinstance(ending, ProtocolError):
        return "ratatoskr: this looks like some other event stream; try: ratatoskr tail"
    return ""
