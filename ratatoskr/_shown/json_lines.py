"""Events and frames as JSON Lines: ASCII, one object a line, whatever the server sent."""

from __future__ import annotations

import json
from typing import Any

from ratatoskr_proto import Comment, Event, ServerSentEvent

_MAX_RAW = 200


class _Envelope(dict[str, Any]):
    """The body of an event that remembers how it began on the wire."""

    raw: str


def loads(text: str) -> Any:
    """The ``loads`` for decoders whose events ``event_line`` will print: ``json.loads``, and what
    an event that is nested too deep to be written again is printed from.
    """
    body = json.loads(text)
    if isinstance(body, dict):
        body = _Envelope(body)
        body.raw = text[:_MAX_RAW]
    return body


def event_line(event: Event) -> str:
    """``{"type", "sse_id", "body"}``, or ``{"type", "sse_id", "raw"}`` with the first 200
    characters of the data if its nesting cannot be written: what a reader of JSON survives, a
    writer need not.
    """
    head = {"type": event.type, "sse_id": str(event.sse_id)}
    try:
        return json.dumps(head | {"body": event.body})
    except RecursionError:
        return json.dumps(head | {"raw": getattr(event.body, "raw", "")})


def frame_line(frame: ServerSentEvent | Comment) -> str:
    """``{"event", "data", "id"}`` of a frame, ``{"comment"}`` of a comment."""
    if isinstance(frame, Comment):
        return json.dumps({"comment": frame.text})
    return json.dumps({"event": frame.event, "data": frame.data, "id": frame.id})
