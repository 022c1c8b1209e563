"""The frames of a stream as they came: what the raw view lists."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ratatoskr_proto import Comment, EventStreamDecoder, EventTooLarge, ServerSentEvent

from .._shown.visible import printable

MAX_FRAMES = 5_000
_MAX_DATA = 500
_MAX_WORD = 40
_MAX_LINE = 64 * 1024  # bytes of a line that are decoded at once


class Frame(NamedTuple):
    """One row: when it came, in seconds, its size in bytes, and what it was.

    ``counts`` says whether it gave an event; a reader of the answer never sees the others.
    """

    seconds: float
    size: int
    id: str
    what: str
    data: str
    counts: bool

    @property
    def text(self) -> str:
        row = f"{self.seconds:9.3f} {self.size:7} B  {self.id or '-':10}  {self.what}  {self.data}"
        return row.rstrip()


class FrameLog:
    """Keeps the newest frames of one stream, and counts them all."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.clear()

    def clear(self) -> None:
        """Start again, for another stream."""
        self.frames: deque[Frame] = deque(maxlen=MAX_FRAMES)
        self.added = 0  # rows so far, those that were dropped too
        self.events = self.comments = self.skipped = 0
        self._start = self._clock()
        self._reconnects = 0
        self._retry_ms: int | None = None
        self._connect("")

    @property
    def last_id(self) -> str:
        """The last event id that the server has set."""
        return self._decoder.last_event_id

    def receive(self, data: bytes, reconnects: int = 0) -> None:
        """Take the next bytes of the body, and how many reconnects there have been."""
        if reconnects != self._reconnects:
            self._reconnects = reconnects
            self.reconnect()
        # Line by line: the decoder says what an id is, not where it stood.
        for line in data.splitlines(keepends=True):
            self._receive_line(line)

    def reconnect(self) -> None:
        """The next bytes are from another connection, and do not continue those before."""
        self._connect(self.last_id)
        self.note("another connection")

    def note(self, line: str) -> None:
        """Add a row that is not a frame."""
        self._add("", line, "", counts=False)

    def summary(self) -> str:
        """A summary of what came, in numbers."""
        parts = [f"{self.events} events", f"{self.comments} comments", f"{self.skipped} skipped"]
        if self._retry_ms is not None:
            parts.append(f"retry {self._retry_ms} ms")
        if self.last_id:
            parts.append(f"last id {printable(self.last_id[:_MAX_WORD])}")
        return " · ".join(parts)

    def _connect(self, last_id: str) -> None:
        self._decoder = EventStreamDecoder(comments=True, last_event_id=last_id)
        self._size = 0
        self._known_id = last_id

    def _receive_line(self, line: bytes) -> None:
        self._size += len(line)
        for item in self._decoder.receive_data(line):
            self._add_item(item)
        if self._decoder.last_event_id != self._known_id:
            self._known_id = self._decoder.last_event_id
            self.skipped += 1
            self._add(self._known_id, "skipped: an id and no data", "", counts=False)
        if self._decoder.retry_ms not in (None, self._retry_ms):
            self._retry_ms = self._decoder.retry_ms
            self.note(f"retry: {self._retry_ms} ms")

    def _add_item(self, item: ServerSentEvent | Comment | EventTooLarge) -> None:
        match item:
            case ServerSentEvent(event, data, id):
                self._known_id = id
                if data:
                    self.events += 1
                    self._add(id, event[:_MAX_WORD], data, counts=True)
                else:
                    self.skipped += 1
                    self._add(id, "skipped: empty data", "", counts=False)
            case Comment(text):
                self.comments += 1
                self._add("", "comment", text, counts=False)
            case EventTooLarge(limit):
                self.skipped += 1
                self.note(f"skipped: an event of more than {limit} bytes")

    def _add(self, id: str, what: str, data: str, *, counts: bool) -> None:
        words = (printable(id[:_MAX_WORD]), printable(what), printable(data[:_MAX_DATA]))
        self.frames.append(Frame(self._clock() - self._start, self._size, *words, counts))
        self.added += 1
        self._size = 0
