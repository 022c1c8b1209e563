"""Reading recorded streams: the body of an event stream, or a recording that we wrote.

A recording is JSON Lines: ``{"ratatoskr_recording": 1, "content_type": …}``, then
``{"t": seconds, "data": base64}`` for each chunk, ``{"t": seconds, "reconnects": count}`` where
another connection begins, last ``{"end": reason}``. See docs/command-line.md.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from .encoding import BOM, UTF_16, encoding_error, is_utf_16

_CHUNK = 64 * 1024
_MARK = b'{"ratatoskr_recording"'
_MARK_AFTER_BOM = BOM + _MARK  # a BOM is fine at the start of an event stream
_MAX_LINE = 16 * 1024 * 1024


class RecordingError(Exception):
    """A recording cannot be read or written; the message says why."""


class RecordedStream:
    """Iterates over the chunks of a recorded stream, in constant memory. None stands where another
    connection begins: an event that is unfinished before it is never finished.

    ``read(n)`` returns up to ``n`` bytes as soon as there are any, ``b""`` at the end. A recording
    is known by its first line. After the last chunk, ``end_reason`` (str) says how the stream
    ended.
    """

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self.end_reason = "end of stream"
        self._times_required = False
        self.bytes_read = 0  # of the file; a recording is larger than the stream in it

    def require_times(self) -> None:
        """Have a raw stream, which has no times, be a RecordingError when it is read."""
        self._times_required = True

    def __iter__(self) -> Iterator[bytes | None]:
        """Raises RecordingError, after all the chunks before it, and the exceptions of ``read``."""
        for _, chunk in self.timed_chunks():
            yield chunk

    def timed_chunks(self) -> Iterator[tuple[float, bytes | None]]:
        """Yield each chunk with the seconds from the first chunk to it, 0 in a raw stream.

        Raises RecordingError, after all the chunks before it, and the exceptions of ``read``.
        """
        start = b""
        while _is_undecided(start):
            more = self._next()
            if not more:
                break
            start += more
        if start.startswith(_MARK_AFTER_BOM) or is_utf_16(start):
            raise RecordingError(encoding_error(start))
        if start.startswith(_MARK):
            yield from self._recorded_chunks(start)
            return
        if self._times_required:
            raise RecordingError("this is not a recording, so it has no times")
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
                    yield _seconds(entry), None
                else:
                    yield _seconds(entry), base64.b64decode(entry["data"], validate=True)
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


def _is_undecided(start: bytes) -> bool:
    """Whether more bytes are needed to tell a recording, or another encoding, from a raw stream."""
    marks = (_MARK, _MARK_AFTER_BOM, *UTF_16)
    if any(len(start) < len(mark) and mark.startswith(start) for mark in marks):
        return True
    return start.startswith(UTF_16) and len(start) < 4


def _seconds(entry: Any) -> float:
    """The time of an entry. Raises as ``float`` does, and ValueError if it is not finite."""
    seconds = float(entry["t"])
    if not math.isfinite(seconds):
        raise ValueError
    return seconds
