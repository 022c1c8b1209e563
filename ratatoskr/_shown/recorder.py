"""Writing recordings, see ``recording`` for the format."""

from __future__ import annotations

import base64
import contextlib
import errno
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import IO

from ratatoskr_proto import SseConnectionDropped

from .recording import RecordingError


class Recorder:
    """Writes a recording: what came, when, and how it ended; no URL and no headers.

    ``write`` takes the text of whole lines; it is first called when the first bytes have come. The
    methods are told how many reconnects there have been: bytes of another connection do not
    continue those before them.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._start: float | None = None
        self._last = 0.0
        self._reconnects = 0

    def chunk(self, data: bytes, reconnects: int = 0) -> None:
        """Record that these bytes have come now."""
        now = time.monotonic()
        if self._start is None:
            self._start = now
            self._line(ratatoskr_recording=1, content_type="text/event-stream")
        seconds = round(now - self._start, 6)
        self._connection(seconds, reconnects)
        self._line(t=seconds, data=base64.b64encode(data).decode("ascii"))
        self._last = seconds

    def end(self, reason: str, reconnects: int = 0) -> None:
        """Record that the stream has ended, and why. Nothing is kept of a stream without a byte."""
        if self._start is not None:
            self._connection(self._last, reconnects)
            self._line(end=reason)

    def _connection(self, seconds: float, reconnects: int) -> None:
        if reconnects != self._reconnects:
            self._reconnects = reconnects
            self._line(t=seconds, reconnects=reconnects)

    def _line(self, **entry: str | float) -> None:
        self._write(json.dumps(entry) + "\n")


def end_reason(ending: object) -> str:
    """The reason for the end of a body, as a recording says it."""
    if isinstance(ending, SseConnectionDropped):
        return ending.reason.removesuffix("; unfinished event lost")
    return "end of stream"


@contextlib.contextmanager
def recording_to(path: str | None) -> Iterator[Recorder | None]:
    """Yield the recorder that writes to the file at ``path``, or None if that is None.

    What was in a file stays until the first bytes have come: the recording starts in a file of its
    own beside it, which only its owner can read. A device or a pipe is written directly; a symbolic
    link to a file is refused, since whoever made it chose where we would write.

    Raises RecordingError if the file cannot be written, also from the methods of the recorder.
    """
    if path is None:
        yield None
        return
    if path == "-":
        raise RecordingError("cannot write a recording to stdout, where the answer goes")
    with _reworded(path):
        file = _Replacement(path) if _is_regular(path) else _Device(path)

    def write(lines: str) -> None:
        with _reworded(path):
            file.write(lines)

    try:
        yield Recorder(write)
    finally:
        with contextlib.suppress(OSError):  # all was flushed, or its failure reported
            file.close()


def _is_regular(path: str) -> bool:
    """Whether there is a regular file, or nothing yet. Raises RecordingError for a link to one."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISREG(mode) and os.path.islink(path):
        raise RecordingError(f"cannot write {path!r}: it is a symbolic link; name the file itself")
    return stat.S_ISREG(mode)


@contextlib.contextmanager
def _reworded(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or "it is not a path"
        raise RecordingError(f"cannot write {path!r}: {reason}") from None


class _Device:
    """Anything that exists and is not a regular file, such as ``/dev/null`` or a FIFO."""

    def __init__(self, path: str) -> None:
        self._file: IO[str] = open(path, "w", encoding="ascii")  # noqa: SIM115

    def write(self, lines: str) -> None:
        self._file.write(lines)
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class _Replacement(_Device):
    """A new file, which takes the place of what was at ``path`` when it is first written."""

    def __init__(self, path: str) -> None:
        folder, name = os.path.split(path)
        if not name:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        import tempfile  # here, since most commands start without it

        number, self._beside = tempfile.mkstemp(prefix=".recording-", dir=folder or ".")
        self._file = open(number, "a", encoding="ascii")  # noqa: SIM115
        self._path = path
        self._in_place = False

    def write(self, lines: str) -> None:
        super().write(lines)
        if not self._in_place:
            self._put_in_place()

    def _put_in_place(self) -> None:
        self._file.close()  # Windows moves no file that is open
        os.replace(self._beside, self._path)
        self._in_place = True
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        self._file = open(os.open(self._path, flags), "a", encoding="ascii")  # noqa: SIM115

    def close(self) -> None:
        super().close()
        if not self._in_place:
            os.unlink(self._beside)
