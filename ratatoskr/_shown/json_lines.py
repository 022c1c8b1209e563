"""Events and frames as JSON Lines: one object a line, whatever the server sent."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

from ratatoskr_proto import Comment, Event, ServerSentEvent

from .pretty_json import pretty, strict_loads
from .visible import json_visible

_MAX_RAW = 200


class _Envelope(dict[str, Any]):
    """The body of an event that remembers its text."""

    text: str


def loads(text: str) -> Any:
    """The ``loads`` for decoders whose events become lines: ``json.loads``, and the body keeps its
    text, for where it cannot be written again.
    """
    body = json.loads(text)
    if isinstance(body, dict):
        body = _Envelope(body)
        body.text = text
    return body


class JsonLines:
    """Writes JSON Lines: ASCII, or with ``unicode`` all characters but those that could command a
    terminal or hide in it. With ``indented``, an object takes several lines, for people to read,
    and can be in colours.
    """

    def __init__(
        self, *, unicode: bool = False, indented: bool = False, colour: bool = False
    ) -> None:
        self._encode = json.JSONEncoder(ensure_ascii=not unicode, allow_nan=False).encode
        self._unicode = unicode
        self._indented = indented
        self._colour = colour

    def event(self, event: Event, seconds: float | None = None) -> str:
        """Return ``{"type", "sse_id", "body"}`` and the fields of the event itself, such as
        ``text``; or ``{"type", "sse_id", "raw"}`` with the first 200 characters of the data if its
        nesting cannot be written: a reader of JSON may go deeper than a writer.

        ``NaN``, ``Infinity`` and numbers too large for a float, which Python reads and JSON does
        not have, become strings of what the server wrote. ``seconds`` is the time ``t``, if any.
        """
        line: dict[str, Any] = {"type": event.type, "sse_id": str(event.sse_id)}
        names: tuple[str, ...] = event.__match_args__
        fields: dict[str, Any] = {name: getattr(event, name) for name in names}
        if seconds is not None:
            fields["t"] = seconds
        text: str = getattr(event.body, "text", "")
        try:
            try:
                return self._line(line | {"body": event.body} | fields)
            except ValueError:
                body = json.loads(text, parse_constant=str, parse_float=_float_or_text)
                return self._line(line | {"body": body} | fields)
        except (ValueError, RecursionError):
            return self._line(line | {"raw": text[:_MAX_RAW]})

    def frame(self, frame: ServerSentEvent | Comment, seconds: float | None = None) -> str:
        """Return ``{"event", "data", "id"}`` of a frame, ``{"comment"}`` of a comment. Where lines
        are indented, data that is JSON is not put into a string.
        """
        if isinstance(frame, Comment):
            return self.object({"comment": frame.text})
        fields = {"event": frame.event, "data": frame.data, "id": frame.id}
        if self._indented:
            with contextlib.suppress(ValueError, RecursionError):
                return self.object(fields | {"data": strict_loads(frame.data)}, seconds)
        return self.object(fields, seconds)

    def object(self, fields: dict[str, Any], seconds: float | None = None) -> str:
        """Return a line with these fields, and the time ``t`` in seconds, if any."""
        return self._line(fields if seconds is None else fields | {"t": seconds})

    def _line(self, fields: dict[str, Any]) -> str:
        text = self._encode(fields)
        if self._indented:
            return pretty(text, colour=self._colour) + "\n"
        return (json_visible(text) if self._unicode else text) + "\n"


def _float_or_text(text: str) -> float | str:
    number = float(text)
    return text if math.isinf(number) else number
