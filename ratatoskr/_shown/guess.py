"""Guesses the dialect of a stream from its first bytes, for users who named another one."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ratatoskr_proto import Event, EventStreamDecoder, ServerSentEvent, SseId, Unknown

_MAX_START = 64 * 1024
_ANTHROPIC_TYPES = (
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
)


class DialectGuess:
    """Keeps the first bytes of a stream, and whether it was understood in the dialect ``named``."""

    def __init__(self, named: str) -> None:
        self._named = named
        self._start = b""
        self._understood = False

    def receive(self, data: bytes) -> None:
        """Take bytes of the body; only the first ones are kept."""
        if len(self._start) < _MAX_START:
            self._start += data[: _MAX_START - len(self._start)]

    def note(self, events: Iterable[Event]) -> None:
        """Take events that were read: any but those of unknown types show that it is understood."""
        self._understood = self._understood or any(
            not isinstance(event, Unknown) for event in events
        )

    def other_dialect(self) -> str | None:
        """Return the name of the other dialect that the stream seems to be in, ``""`` for an event
        stream in none of them. None if it was understood, is in the dialect named after all, or has
        no frame with data.
        """
        if self._understood:
            return None
        decoder = EventStreamDecoder(flush_unfinished=True)
        items = [*decoder.receive_data(self._start), *decoder.receive_eof()]
        frames = [item for item in items if isinstance(item, ServerSentEvent) and item.data]
        guesses = [guess for frame in frames if (guess := _guess(frame))]
        if guesses:
            return guesses[0] if guesses[0] != self._named else None
        return "" if frames else None


def _guess(frame: ServerSentEvent) -> str:
    if _is_sse_id(frame.id):
        return "turn"
    if frame.data == "[DONE]":
        return "openai-chat"
    try:
        body: Any = json.loads(frame.data)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    kind = body.get("type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return "openai-responses"
        if kind in _ANTHROPIC_TYPES:
            return "anthropic"
    if isinstance(body.get("choices"), list):
        return "openai-chat"
    if "candidates" in body or "promptFeedback" in body:
        return "gemini"
    return ""


def _is_sse_id(text: str) -> bool:
    try:
        SseId.parse(text)
    except ValueError:
        return False
    return True
