"""Reading a turn for the app: its text to the transcript, its frames to the raw view."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from typing import Any

from ratatoskr_proto import (
    Event,
    RatatoskrError,
    Reasoning,
    SseConnectFailed,
    SseConnectionDropped,
    Text,
)
from ratatoskr_proto.dialects import TURN, Dialect

from .._shown.guess import DialectGuess
from .._shown.labels import event_label
from .._shown.recorder import end_reason
from .._shown.visible import HalfKeeper
from .frames import FrameLog
from .scrollback import MAX_CHARS, Kind
from .status import TurnStatus
from .turn_recording import TurnRecording
from .turns import StreamedTurn

_MAX_BUSY = 0.002  # seconds for which events may keep the keys waiting


class TurnReader:
    """Reads one turn after the other, and keeps the text of the last answer."""

    def __init__(
        self,
        write: Callable[[Kind, str], None],
        status: TurnStatus,
        frames: FrameLog,
        *,
        dialect: Dialect[Any],
    ) -> None:
        """``write`` shows a piece of text; ``dialect`` is the one that turns are read in."""
        self._dialect_name = dialect.name
        self._numbered = dialect is TURN
        self._write = write
        self._status = status
        self._frames = frames
        self._turn: StreamedTurn | None = None
        self._answer: list[str] = []
        self._answer_chars = 0
        self._guess = DialectGuess(dialect.name)

    @property
    def answer(self) -> str:
        """The text of the last answer, as far as the transcript keeps it."""
        return "".join(self._answer)

    def hint(self, ending: Event | RatatoskrError | None) -> str:
        """Return which option to start with after this end of the last turn, or ``""``."""
        if isinstance(ending, SseConnectFailed) and ending.reason.word == "content-type":
            return "[content-type] start with --any-type to read it anyway"
        other = self._guess.other_dialect() if isinstance(ending, RatatoskrError) else None
        return f"[dialect] this looks like {other}; start with --dialect {other}" if other else ""

    def follow(self, turn: StreamedTurn, *, new_answer: bool) -> None:
        """From now on show only this turn, and no other that is still being read."""
        self._turn = turn
        self._frames.clear()
        self._guess = DialectGuess(self._dialect_name)
        if new_answer:
            self._answer.clear()
            self._answer_chars = 0

    async def read(self, turn: StreamedTurn, record_to: str | None) -> Event | RatatoskrError:
        """Show the events of a turn, record it to a file if one is named, and return what ended it:
        an error, or the terminal event. Any other exception is let through.
        """
        recording = TurnRecording(record_to, functools.partial(self._write, Kind.ERROR))
        ending: Event | RatatoskrError = SseConnectionDropped(None, "closed")
        try:
            ending = await self._show(turn, recording)
        except RatatoskrError as error:
            ending = error
        finally:
            recording.end(end_reason(ending), getattr(turn, "reconnects", 0))
        return ending

    def _tap(self, turn: StreamedTurn, recording: TurnRecording) -> None:
        def receive(data: bytes) -> None:
            if turn is self._turn:
                reconnects = getattr(turn, "reconnects", 0)
                self._status.bytes_came()
                self._guess.receive(data)
                self._frames.receive(data, reconnects)
                recording.chunk(data, reconnects)

        if (tap := getattr(turn, "tap", None)) is not None:
            tap(receive)

    async def _show(
        self, turn: StreamedTurn, recording: TurnRecording
    ) -> Event | SseConnectionDropped:
        self._tap(turn, recording)
        ending: Event | None = None
        halves = HalfKeeper()
        rested = time.monotonic()
        try:
            async with turn:
                async for event in turn:
                    if turn is not self._turn:
                        continue
                    self._status.count(event.sse_id if self._numbered else None)
                    self._guess.note([event])
                    if isinstance(event, Text):
                        self._show_text(halves.add(event.text))
                    elif isinstance(event, Reasoning):
                        self._write(Kind.REASONING, event.text)
                    elif event.terminal:
                        ending = event
                    elif self._numbered:  # in other dialects most frames say nothing to a reader
                        self._write(Kind.EVENT, event_label(event))
                    if time.monotonic() - rested > _MAX_BUSY:
                        await asyncio.sleep(0)
                        rested = time.monotonic()
        finally:
            if turn is self._turn:
                self._show_text(halves.rest())
        return ending or SseConnectionDropped(self._status.last_id, "end of stream")

    def _show_text(self, text: str) -> None:
        if not text:
            return
        self._write(Kind.TEXT, text)
        if self._answer_chars <= MAX_CHARS:
            self._answer.append(text)
            self._answer_chars += len(text)
