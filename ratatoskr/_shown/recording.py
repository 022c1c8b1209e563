"""Recording streams, and reading what was recorded: a raw event stream, or a recording.

A recording is JSON Lines: ``{"ratatoskr_recording": 1, "content_type": …}``, then
``{"t": seconds, "data": base64}`` for each chunk, ``{"t": seconds, "reconnects": count}`` where
another connection begins, last ``{"end": reason}``. See docs/command-line.md.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator

_CHUNK = 64 * 1024
_MARK = b'{"ratatoskr_recording"'
_MAX_LINE = 16 * 1024 * 1024


class RecordingError(Exception):
    """A recording has a line that cannot be read; the message says which."""


class RecordedStream:
    """Iterates over the chunks of a recorded stream, in constant memory; None is where another
    connection begins, so what is unfinished before it never gets finished.

    ``read(n)`` returns up to ``n`` bytes as soon as there are any, ``b""`` at the end. Whether it
    is a recording is told by its first line. After the last chunk, ``end_reason`` (str) says how
    the stream ended.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self.end_reason = "end of stream"
        self.bytes_read = 0  # of the file, which for a recording are more than those of the stream

    def __iter__(self) -> Iterator[bytes | None]:
        """Raises RecordingError, behind all the chunks before it, and what ``read`` raises."""
        for _, chunk in self.timed_chunks():
            yield chunk

    def timed_chunks(self) -> Iterator[tuple[float, bytes | None]]:
        """Yield each chunk with the seconds from the first chunk to it, 0 in a raw stream.

        Raises RecordingError, behind all the chunks before it, and what ``read`` raises.
        """
        start = b""
        while len(start) < len(_MARK) and _MARK.startswith(start):
            more = self._next()
            if not more:
                break
            start += more
        if start.startswith(_MARK):
            yield from self._recorded_chunks(start)
            return
        while start:
            yield 0.0, start
            start = self._next()

    def _next(self) -> bytes:
        chunk = self._read(_CHUNK)
        self.bytes_read += len(chunk)
        return chunk

    def _recorded_chunks(self, start: bytes) -> Iterator[tuple[float, bytes | None]]:
        for number, line in enumerate(self._lines(start), 1):
            try:
                entry = json.loads(line)
                if number == 1:
                    if entry["ratatoskr_recording"] != 1:
                        raise RecordingError("this recording is of a version that is not 1")
                elif "end" in entry:
                    self.end_reason = str(entry["end"])
                    return
                elif "reconnects" in entry:
                    yield float(entry["t"]), None
                else:
                    yield float(entry["t"]), base64.b64decode(entry["data"], validate=True)
            except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
                raise RecordingError(f"line {number} of the recording cannot be read") from None

    def _lines(self, start: bytes) -> Iterator[bytes]:
        buffer = bytearray()
        chunk = start
        while chunk:
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                yield bytes(buffer + line)
                buffer.clear()
            buffer += rest
            if len(buffer) > _MAX_LINE:
                raise RecordingError(f"a line of the recording is longer than {_MAX_LINE} bytes")
            chunk = self._next()
        if buffer:
            yield bytes(buffer)


class Recorder:
    """Writes a recording: what came, when, and how it ended; no URL and no headers.

    ``write`` takes the text of whole lines. The methods are told how often the stream was connected
    again so far: what comes after that does not go on where the bytes before it broke off.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._start: float | None = None
        self._reconnects = 0
        self._line(ratatoskr_recording=1, content_type="text/event-stream")

    def chunk(self, data: bytes, reconnects: int = 0) -> None:
        """Record that these bytes have come now."""
        self._connection(reconnects)
        self._line(t=self._now(), data=base64.b64encode(data).decode("ascii"))

    def end(self, reason: str, reconnects: int = 0) -> None:
        """Record that the stream has ended, and why."""
        self._connection(reconnects)
        self._line(end=reason)

    def _connection(self, reconnects: int) -> None:
        if reconnects != self._reconnects:
            self._reconnects = reconnects
            self._line(t=self._now(), reconnects=reconnects)

    def _now(self) -> float:
        now = time.monotonic()
        if self._start is None:
            self._start = now
        return round(now - self._start, 6)

    def _line(self, **entry: str | float) -> None:
        self._write(json.dumps(entry) + "\n")
