"""What the command says of a bad end beside its label."""

from __future__ import annotations

from typing import Any

from ratatoskr_proto import Event, RatatoskrError, SseConnectFailed

_MAX_TYPE = 200  # characters of a media type


def hint(ending: Event | RatatoskrError, stream: Any) -> str:
    """Return a line for stderr, ``""`` if there is nothing to add. ``stream`` is what ended."""
    if isinstance(ending, SseConnectFailed) and ending.reason.word == "content-type":
        came = stream.headers.get("content-type", "")[:_MAX_TYPE]
        media_type = f"the media type is {came!r}" if came else "there is no media type"
        return f"ratatoskr: {media_type}; --any-type reads it anyway"
    return ""
