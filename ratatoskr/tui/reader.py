"""Reading a turn for the app: its text to the transcript, its frames to the raw view."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable

from ratatoskr_proto import Event, RatatoskrError, Reasoning, SseConnectionDropped, Text

from .._shown.labels import event_label
from .._shown.recorder import Recorder, end_reason, recording_to
from .._shown.recording import RecordingError
from .._shown.visible import HalfKeeper
from .frames import FrameLog
from .scrollback import MAX_CHARS, Kind
from .status import TurnStatus
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
        numbered: bool,
    ) -> None:
        """``write`` shows a piece of text; ``numbered`` says whether ids are those of turns."""
        self._numbered = numbered
        self._write = write
        self._status = status
        self._frames = frames
        self._turn: StreamedTurn | None = None
        self._answer: list[str] = []
        self._answer_chars = 0

    @property
    def answer(self) -> str:
        """The text of the last answer, as far as the transcript keeps it."""
        return "".join(self._answer)

    def begin(self, turn: StreamedTurn, *, new_answer: bool) -> None:
        """Let this turn count from now on, and no other that is still being read."""
        self._turn = turn
        self._frames.begin()
        if new_answer:
            self._answer.clear()
            self._answer_chars = 0

    async def read(self, turn: StreamedTurn, record_to: str | None) -> Event | RatatoskrError:
        """Show the events of a turn, record it to a file if one is named, and return what ended it:
        an error, or the terminal event. Any other exception is let through.
        """
        with contextlib.ExitStack() as stack:
            recorder = self._recorder(record_to, stack)
            ending: Event | RatatoskrError | None = None
            try:
                ending = await self._show(turn, recorder)
            except RatatoskrError as error:
                ending = error
            finally:
                if recorder is not None:
                    reconnects = getattr(turn, "reconnects", 0)
                    self._try(functools.partial(recorder.end, end_reason(ending), reconnects))
            assert ending is not None  # any other exception has left this block
            return ending

    def _recorder(self, path: str | None, stack: contextlib.ExitStack) -> Recorder | None:
        try:
            return stack.enter_context(recording_to(path))
        except RecordingError as error:
            self._write(Kind.ERROR, f"[not_recorded] {error}")
            return None

    def _try(self, record: Callable[[], object]) -> bool:
        """Record something; return whether that worked."""
        try:
            record()
        except RecordingError as error:
            self._write(Kind.ERROR, f"[not_recorded] {error}")
            return False
        return True

    def _tap(self, turn: StreamedTurn, recorder: Recorder | None) -> None:
        recording = recorder

        def receive(data: bytes) -> None:
            nonlocal recording
            if turn is not self._turn:
                return
            reconnects = getattr(turn, "reconnects", 0)
            self._status.hear()
            self._frames.receive(data, reconnects)
            if recording is not None:
                chunk = functools.partial(recording.chunk, data, reconnects)
                recording = recording if self._try(chunk) else None

        if (tap := getattr(turn, "tap", None)) is not None:
            tap(receive)

    async def _show(
        self, turn: StreamedTurn, recorder: Recorder | None
    ) -> Event | SseConnectionDropped:
        self._tap(turn, recorder)
        ending: Event | None = None
        halves = HalfKeeper()
        rested = time.monotonic()
        try:
            async with turn:
                async for event in turn:
                    if turn is not self._turn:
                        continue
                    self._status.count(event.sse_id if self._numbered else None)
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
