"""Events and frames as JSON Lines: one object a line, whatever the server sent."""

from __future__ import annotations

import contextlib
import json
import math
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

from ratatoskr_proto import Comment, Event, ServerSentEvent, Text

from .pretty_json import pretty, strict_loads
from .visible import json_visible

_MAX_RAW = 200


class _Envelope(dict[str, Any]):
    """The body of an event that remembers its text."""

    __slots__ = ("text",)

    text: str


class _OddEnvelope(_Envelope):
    """An envelope whose text is not strictly JSON, or only without the white space around it."""

    __slots__ = ()


def loads(text: str) -> Any:
    """The ``loads`` for decoders whose events become lines: ``json.loads``, and the body keeps its
    text, so that it need not be written again, or can be shown where that is not possible.
    """
    kind = _Envelope
    try:
        body, end = _scan(text, 0)
    except (ValueError, StopIteration):
        body, end = None, -1
    if end != len(text):
        body = json.loads(text)
        kind = _OddEnvelope
    if type(body) is dict:
        body = kind(body)
        body.text = text
    return body


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError
    return number


def _no_constant(name: str) -> None:
    raise ValueError


# What json.loads does, except for the white space, with half of the overhead.
_decoder: Any = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)
_scan = _decoder.scan_once  # which the stubs do not know


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
        self._is_plain = not unicode and not indented
        self._indented = indented
        self._colour = colour

    def event(self, event: Event, seconds: float | None = None) -> str:
        """Return ``{"type", "sse_id", "body"}`` and the fields of the event itself, such as
        ``text``; or ``{"type", "sse_id", "raw"}`` with the first 200 characters of the data if its
        nesting cannot be written: a reader of JSON may go deeper than a writer.

        ``NaN``, ``Infinity`` and numbers too large for a float, which Python reads and JSON does
        not have, become strings of what the server wrote. ``seconds`` is the time ``t``, if any.
        """
        body = event.body
        if type(body) is _Envelope and self._is_plain:
            text = body.text
            if text.isascii() and text.isprintable():
                # The text of the body is a line already: nearly all that `decode` ever writes.
                turn_id, seq = event.sse_id
                fields = f'"sse_id": "{turn_id}:{seq}", "body": {text}{self._fields(event)}'
                time = "" if seconds is None else f', "t": {seconds}'
                return f'{{"type": {_quoted(event.type)}, {fields}{time}}}\n'
        line: dict[str, Any] = {"type": event.type, "sse_id": str(event.sse_id), "body": body}
        names: tuple[str, ...] = event.__match_args__
        line |= {name: getattr(event, name) for name in names}
        if seconds is not None:
            line["t"] = seconds
        text = getattr(body, "text", "")
        try:
            try:
                return self._line(line)
            except ValueError:
                line["body"] = json.loads(text, parse_constant=str, parse_float=_float_or_text)
                return self._line(line)
        except (ValueError, RecursionError):
            raw = {"type": event.type, "sse_id": str(event.sse_id), "raw": text[:_MAX_RAW]}
            return self._line(raw)

    def _fields(self, event: Event) -> str:
        """The fields of an event itself, as they stand in its line."""
        if type(event) is Text:
            return f', "text": {_quoted(event.text)}'
        names: tuple[str, ...] = event.__match_args__
        shown = [(name, self._encode(getattr(event, name))) for name in names if name != "type"]
        return "".join([f', "{name}": {value}' for name, value in shown])

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
