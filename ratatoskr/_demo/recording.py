"""Recordings, to be sent in place of answers."""

from __future__ import annotations

import os
from typing import NamedTuple, Self

from ratatoskr_proto import Reason

from .._shown.recording import RecordedStream, RecordingError
from .connection import BodyEnd


class Recording(NamedTuple):
    """What to send in place of answers.

    ``chunks`` are pairs of the seconds since the start and the bytes, which go out in pieces of
    ``chunk_size`` (None: as recorded); ``end`` says how the body ends then.
    """

    chunks: tuple[tuple[float, bytes], ...]
    end: BodyEnd = BodyEnd.WHOLE
    chunk_size: int | None = None

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], speed: float = 1.0, chunk_size: int | None = None
    ) -> Self:
        """Read a recording, or a raw ``.sse`` file, to be sent ``speed`` (float) times as fast.

        Raises OSError if the file cannot be read, and ValueError if it is not a recording of one
        connection.
        """
        with open(path, "rb", buffering=0) as file:
            stream = RecordedStream(file.read)
            chunks = []
            try:
                for seconds, data in stream.timed_chunks():
                    if data is None:
                        problem = "was recorded over more than one connection; `decode` can read it"
                        raise ValueError(f"{os.fspath(path)!r} {problem}")
                    chunks.append((max(0.0, seconds) / speed, data))
            except RecordingError as error:
                raise ValueError(f"{os.fspath(path)!r}: {error}") from None
        end = _ENDS.get(Reason(stream.end_reason).word, BodyEnd.RESET)
        return cls(tuple(chunks), end, chunk_size)


_ENDS = {
    "end of stream": BodyEnd.WHOLE,
    "cut body": BodyEnd.CUT,
    "read timeout": BodyEnd.STALL,
}
