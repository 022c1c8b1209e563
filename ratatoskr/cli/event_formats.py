"""How ``ratatoskr tail`` writes a stream to stdout: as an event stream again, or as JSON Lines.

The ``seconds`` of a frame are those since the request, None if they are not wanted.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

from ratatoskr_proto import Comment, ServerSentEvent

from .._shown.json_lines import JsonLines
from .._shown.pretty_json import pretty, strict_loads
from .._shown.visible import visible
from .console import write_stdout, write_stdout_json


class EventFormat(Protocol):
    """Writes each item of a stream."""

    def write_frame(
        self, frame: ServerSentEvent, seconds: float | None, *, new_id: bool
    ) -> None: ...

    def write_comment(self, comment: Comment) -> None: ...

    def write_retry(self, retry_ms: int) -> None: ...

    def write_id(self, id: str) -> None:
        """Write an id that came without a frame."""


class EventsAsText:
    """An event stream again, with escapes for what could command a terminal.

    With ``indented``, data that is JSON is indented, and can be in colours.
    """

    def __init__(self, *, indented: bool = False, colour: bool = False) -> None:
        self._indented = indented
        self._colour = colour

    def write_frame(self, frame: ServerSentEvent, seconds: float | None, *, new_id: bool) -> None:
        fields = [f": t={seconds}\n"] if seconds is not None else []
        if frame.event != "message":
            fields.append(f"event: {visible(frame.event)}\n")
        if new_id:
            fields.append(f"id: {visible(frame.id)}\n")
        fields += [f"data: {line}\n" for line in self._data(frame.data).split("\n")]
        write_stdout("".join(fields) + "\n")

    def write_comment(self, comment: Comment) -> None:
        write_stdout(f": {visible(comment.text)}\n")

    def write_retry(self, retry_ms: int) -> None:
        write_stdout(f"retry: {_digits(retry_ms)}\n")

    def write_id(self, id: str) -> None:
        write_stdout(f"id: {visible(id)}\n\n")

    def _data(self, data: str) -> str:
        if self._indented:
            try:
                strict_loads(data)
                return pretty(data, colour=self._colour)
            except (ValueError, RecursionError):
                pass
        return visible(data)


class EventsAsJson:
    """A line of JSON for each frame, comment, retry time, and id without a frame."""

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines

    def write_frame(self, frame: ServerSentEvent, seconds: float | None, *, new_id: bool) -> None:
        write_stdout_json(self._lines.frame(frame, seconds))

    def write_comment(self, comment: Comment) -> None:
        write_stdout_json(self._lines.frame(comment))

    def write_retry(self, retry_ms: int) -> None:
        write_stdout_json(f'{{"retry": {_digits(retry_ms)}}}\n')

    def write_id(self, id: str) -> None:
        write_stdout_json(self._lines.object({"id": id}))


def _digits(number: int) -> str:
    return format(Decimal(number), "f")  # for str() it may have too many
