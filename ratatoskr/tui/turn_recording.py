"""The recording of a turn, which may fail without ending the turn."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from .._shown.recorder import Recorder, recording_to
from .._shown.recording import RecordingError


class TurnRecording:
    """Records one turn into a file, or does nothing if none is named."""

    def __init__(self, path: str | None, tell: Callable[[str], object]) -> None:
        """``tell`` gets a line about the first failure; nothing is recorded after it."""
        self._tell = tell
        self._file = contextlib.ExitStack()
        self._recorder: Recorder | None = None
        with self._failure_told():
            self._recorder = self._file.enter_context(recording_to(path))

    def chunk(self, data: bytes, reconnects: int) -> None:
        """Record bytes that have come, see ``Recorder.chunk``."""
        if self._recorder is not None:
            with self._failure_told():
                self._recorder.chunk(data, reconnects)

    def end(self, reason: str, reconnects: int) -> None:
        """Record the end, see ``Recorder.end``, and close the file."""
        if self._recorder is not None:
            with self._failure_told():
                self._recorder.end(reason, reconnects)
        self._file.close()

    @contextlib.contextmanager
    def _failure_told(self) -> Iterator[None]:
        try:
            yield
        except RecordingError as error:
            self._recorder = None
            self._tell(f"[not_recorded] {error}")
