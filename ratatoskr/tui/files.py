"""The files that the app writes: transcripts and recordings."""

from __future__ import annotations

import contextlib
import os
from datetime import datetime
from itertools import count

from ratatoskr_proto import SseId


def save_transcript(text: str, last_id: SseId | None) -> str:
    """Write a file that was not there before; return its path. Raises OSError."""
    name = _now() if last_id is None else f"turn-{last_id.turn_id}"
    for number in count(1):
        path = os.path.abspath(_numbered(f"ratatoskr-{name}.txt", number))
        with contextlib.suppress(FileExistsError), open(path, "x", encoding="utf-8") as file:
            file.write(text)
            return path
    raise AssertionError


class RecordingNames:
    """Names of the recordings of one run: ``turns.jsonl``, ``turns-2.jsonl`` and so on."""

    def __init__(self, first: str | None) -> None:
        """``first`` is the name of the first; by default it has the time."""
        self._first = first or f"ratatoskr-{_now()}.jsonl"
        self._count = count(1)

    def next(self) -> str:
        """The name of the next recording."""
        return _numbered(self._first, next(self._count))


def _numbered(path: str, number: int) -> str:
    stem, ending = os.path.splitext(path)
    return path if number == 1 else f"{stem}-{number}{ending}"


def _now() -> str:
    return f"{datetime.now():%Y%m%d-%H%M%S}"
