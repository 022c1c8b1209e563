"""Showing any event stream on the command line, as it comes."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from typing import Any

from ratatoskr_proto import (
    Comment,
    EventStreamDecoder,
    EventTooLarge,
    RatatoskrError,
    ServerSentEvent,
)

from .._shown import json_lines
from .._shown.labels import ExitCode, ending_label, exit_code
from .._shown.recording import Recorder
from .._shown.visible import visible
from .console import write_stderr, write_stdout, write_stdout_ascii
from .reconnect import waits_shown
from .show_turn import end_reason

_MAX_ID = 200  # characters of an id in a label


class EventStreamText:
    """Makes text of an event stream, the same for every chunking.

    What it makes is an event stream again, with escapes for what could command a terminal, or with
    ``as_json`` a line of JSON for each frame, comment, retry time, and id without a frame. An id
    and a retry time are there when they change. ``frames`` counts the frames.
    """

    def __init__(self, last_event_id: str, max_event_bytes: int, as_json: bool) -> None:
        self._max_event_bytes = max_event_bytes
        self._as_json = as_json
        self._begin(last_event_id)
        self._id = last_event_id
        self._retry_ms: int | None = None
        self._reconnects = 0
        self._over = False
        self.frames = 0

    def _begin(self, last_event_id: str) -> None:
        self._decoder = EventStreamDecoder(self._max_event_bytes, last_event_id, comments=True)

    def receive(self, data: bytes, reconnects: int = 0) -> str:
        """Return the text of what these bytes complete. It ends with an event too large.

        When ``reconnects`` is another number than before, they are the first of another connection.
        """
        if reconnects != self._reconnects:
            self._reconnects = reconnects
            self._begin(self._id)
        # By lines, since the decoder tells of an id and a retry time only where it stands.
        return "".join([self._line(line) for line in data.splitlines(keepends=True)])

    def _line(self, line: bytes) -> str:
        if self._over:
            return ""
        shown = "".join([self._item(item) for item in self._decoder.receive_data(line)])
        retry_ms = self._decoder.retry_ms
        if retry_ms is not None and retry_ms != self._retry_ms:
            self._retry_ms = retry_ms
            shown += self._retry(retry_ms)
        if self._decoder.last_event_id != self._id:
            self._id = self._decoder.last_event_id
            shown += self._bare_id(self._id)
        return shown

    def _item(self, item: ServerSentEvent | Comment | EventTooLarge) -> str:
        if isinstance(item, EventTooLarge):
            self._over = True
            return ""
        if isinstance(item, ServerSentEvent):
            self.frames += 1
            id_changed = item.id != self._id
            self._id = item.id
            if not self._as_json:
                return _frame(item, id_changed)
        if self._as_json:
            return json_lines.frame_line(item) + "\n"
        return f": {visible(item.text)}\n" if isinstance(item, Comment) else ""

    def _retry(self, number: int) -> str:
        digits = format(Decimal(number), "f")  # for str() it may have too many
        return f'{{"retry": {digits}}}\n' if self._as_json else f"retry: {digits}\n"

    def _bare_id(self, id: str) -> str:
        return json.dumps({"id": id}) + "\n" if self._as_json else f"id: {visible(id)}\n\n"


def _frame(frame: ServerSentEvent, with_id: bool) -> str:
    fields = [f"event: {visible(frame.event)}\n"] if frame.event != "message" else []
    if with_id:
        fields.append(f"id: {visible(frame.id)}\n")
    fields += [f"data: {visible(line)}\n" for line in frame.data.split("\n")]
    return "".join(fields) + "\n"


async def run_events(
    events: Any,
    text: EventStreamText,
    *,
    as_json: bool = False,
    summary: bool = False,
    recorder: Recorder | None = None,
) -> int:
    """Show any event stream and return the exit code.

    ``events`` is what ``stream_events`` returns, and ``text`` makes of its body what goes to
    stdout. Each wait for another connection is a label on stderr, and with ``summary`` there are
    figures at the end, however it comes.
    """
    figures = _Figures()

    def receive(data: bytes) -> None:
        figures.receive(data)
        if recorder is not None:
            recorder.chunk(data, events.reconnects)
        (write_stdout_ascii if as_json else write_stdout)(text.receive(data, events.reconnects))

    def say_wait(line: str, seconds: float) -> None:
        write_stderr(f"{line} last_event_id={events.last_event_id[:_MAX_ID]!r}")

    events.tap(receive)
    ending: RatatoskrError | None = None
    try:
        with waits_shown(say_wait):
            async with events:
                async for _ in events:
                    pass
    except RatatoskrError as error:
        ending = error
    finally:
        if summary:
            write_stderr(figures.line(text.frames))
    if recorder is not None:
        recorder.end(end_reason(ending), events.reconnects)
    if ending is None:
        return ExitCode.DONE
    write_stderr(ending_label(ending))
    return exit_code(ending)


class _Figures:
    """What ``tail --summary`` tells."""

    def __init__(self) -> None:
        self._bytes = 0
        self._start = self._last = time.monotonic()
        self._silence = 0.0

    def receive(self, data: bytes) -> None:
        self._bytes += len(data)
        self._hear()

    def _hear(self) -> None:
        now = time.monotonic()
        self._silence = max(self._silence, now - self._last)
        self._last = now

    def line(self, frames: int) -> str:
        self._hear()
        seconds = self._last - self._start
        rate = frames / seconds if seconds else 0.0
        return (
            f"{frames} frames, {self._bytes} bytes, {seconds:.1f} s, "
            f"{rate:.1f} frames/s, longest silence {self._silence:.1f} s"
        )
