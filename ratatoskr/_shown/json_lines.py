"""Events and frames as JSON Lines: ASCII, one object a line, whatever the server sent."""

from __future__ import annotations

import functools
import json
import math
from typing import Any

from ratatoskr_proto import Comment, Event, ServerSentEvent

_MAX_RAW = 200

_dumps = functools.partial(json.dumps, allow_nan=False)


class _Envelope(dict[str, Any]):
    """The body of an event that remembers its text."""

    text: str


def loads(text: str) -> Any:
    """The ``loads`` for decoders whose events ``event_line`` will print: ``json.loads``, and the
    body keeps its text, for where it cannot be written again.
    """
    body = json.loads(text)
    if isinstance(body, dict):
        body = _Envelope(body)
        body.text = text
    return body


def event_line(event: Event) -> str:
    """``{"type", "sse_id", "body"}`` and the fields of the event itself, such as ``text``; or
    ``{"type", "sse_id", "raw"}`` with the first 200 characters of the data if its nesting cannot be
    written: a reader of JSON may go deeper than a writer.

    ``NaN``, ``Infinity`` and numbers too large for a float, which Python reads and JSON does not
    have, become strings of what the server wrote.
    """
    line = {"type": event.type, "sse_id": str(event.sse_id)}
    text = getattr(event.body, "text", "")
    names: tuple[str, ...] = event.__match_args__
    fields = {name: getattr(event, name) for name in names}
    try:
        try:
            return _dumps(line | {"body": event.body} | fields)
        except ValueError:
            body = json.loads(text, parse_constant=str, parse_float=_float_or_text)
            return _dumps(line | {"body": body} | fields)
    except (ValueError, RecursionError):
        return _dumps(line | {"raw": text[:_MAX_RAW]})


def _float_or_text(text: str) -> float | str:
    number = float(text)
    return text if math.isinf(number) else number


def frame_line(frame: ServerSentEvent | Comment) -> str:
    """``{"event", "data", "id"}`` of a frame, ``{"comment"}`` of a comment."""
    if isinstance(frame, Comment):
        return _dumps({"comment": frame.text})
    return _dumps({"event": frame.event, "data": frame.data, "id": frame.id})
