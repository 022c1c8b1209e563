"""The files that the app writes into the current directory."""

from __future__ import annotations

import contextlib
import os
from datetime import datetime
from itertools import count
from typing import IO

from ratatoskr_proto import SseId


def file_name(last_id: SseId | None) -> str:
    """A name after the turn, or else after the time, without an ending."""
    return f"{datetime.now():%Y%m%d-%H%M%S}" if last_id is None else f"turn-{last_id.turn_id}"


def new_file(name: str, ending: str) -> IO[str]:
    """Open a file that was not there before, numbered if need be. Raises OSError."""
    for number in count(1):
        path = os.path.abspath(f"ratatoskr-{name}{f'-{number}' if number > 1 else ''}{ending}")
        with contextlib.suppress(FileExistsError):
            return open(path, "x", encoding="utf-8")
    raise AssertionError
