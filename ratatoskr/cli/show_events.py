"""Showing any event stream on the command line, as it comes."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from typing import Any

from ratatoskr_proto import Comment, RatatoskrError, ServerSentEvent

from .._shown import json_lines
from .._shown.labels import ExitCode, ending_label, exit_code, wait_label
from .._shown.recorder import Recorder
from .._shown.visible import visible
from .console import write_stderr, write_stdout, write_stdout_ascii
from .show_turn import end_reason

_MAX_ID = 200  # characters of an id in a label


class EventsPrinter:
    """Prints an event stream.

    Stdout gets an event stream again, with escapes for what could command a terminal, or with
    ``as_json`` a line of JSON for each frame, comment, retry time, and id without a frame. An id
    and a retry time are printed when they change. Each wait for another connection is a label on
    stderr, and with ``summary`` there are figures at the end, however it comes. The body goes to
    the ``recorder`` too.
    """

    def __init__(
        self,
        *,
        last_event_id: str = "",
        as_json: bool = False,
        summary: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        self._id = last_event_id
        self._retry_ms: int | None = None
        self._as_json = as_json
        self._summary = summary
        self._recorder = recorder

    def on_wait(self, error: RatatoskrError, seconds: float) -> None:
        """Print that the connection was lost; the ``on_wait`` of the stream."""
        write_stderr(f"{wait_label(error, seconds)} last_event_id={self._id[:_MAX_ID]!r}")

    async def show(self, events: Any) -> int:
        """Print a stream to its end, and return the exit code.

        ``events`` is the ``EventStream`` of any adapter, not entered yet, with comments. Exceptions
        of the output are let through.
        """
        figures = _Figures()
        recorder = self._recorder

        def receive(data: bytes) -> None:
            figures.receive(data)
            if recorder is not None:
                recorder.chunk(data, events.reconnects)

        events.tap(receive)
        events.watch(self._print_change)
        ending: RatatoskrError | None = None
        try:
            async with events:
                async for item in events:
                    figures.count(item)
                    self._print_item(item)
        except RatatoskrError as error:
            ending = error
        finally:
            if self._summary:
                write_stderr(figures.line())
        if recorder is not None:
            recorder.end(end_reason(ending), events.reconnects)
        if ending is None:
            return ExitCode.DONE
        write_stderr(ending_label(ending))
        return exit_code(ending)

    def _print_item(self, item: ServerSentEvent | Comment) -> None:
        if self._as_json:
            self._print(json_lines.frame_line(item) + "\n")
        elif isinstance(item, Comment):
            self._print(f": {visible(item.text)}\n")
        else:
            self._print(_frame(item, with_id=item.id != self._id))
        if isinstance(item, ServerSentEvent):
            self._id = item.id

    def _print_change(self, last_event_id: str, retry_ms: int | None) -> None:
        if retry_ms is not None and retry_ms != self._retry_ms:
            self._retry_ms = retry_ms
            digits = format(Decimal(retry_ms), "f")  # for str() it may have too many
            self._print(f'{{"retry": {digits}}}\n' if self._as_json else f"retry: {digits}\n")
        if last_event_id != self._id:
            self._id = last_event_id
            as_json = json.dumps({"id": last_event_id})
            self._print(f"{as_json}\n" if self._as_json else f"id: {visible(last_event_id)}\n\n")

    def _print(self, text: str) -> None:
        (write_stdout_ascii if self._as_json else write_stdout)(text)


def _frame(frame: ServerSentEvent, *, with_id: bool) -> str:
    fields = [f"event: {visible(frame.event)}\n"] if frame.event != "message" else []
    if with_id:
        fields.append(f"id: {visible(frame.id)}\n")
    fields += [f"data: {visible(line)}\n" for line in frame.data.split("\n")]
    return "".join(fields) + "\n"


class _Figures:
    """The figures of ``tail --summary``."""

    def __init__(self) -> None:
        self._bytes = self._frames = 0
        self._start = self._last = time.monotonic()
        self._silence = 0.0

    def receive(self, data: bytes) -> None:
        self._bytes += len(data)
        self._end_silence()

    def count(self, item: ServerSentEvent | Comment) -> None:
        self._frames += isinstance(item, ServerSentEvent)

    def _end_silence(self) -> None:
        now = time.monotonic()
        self._silence = max(self._silence, now - self._last)
        self._last = now

    def line(self) -> str:
        self._end_silence()
        seconds = self._last - self._start
        rate = self._frames / seconds if seconds else 0.0
        return (
            f"{self._frames} frames, {self._bytes} bytes, {seconds:.1f} s, "
            f"{rate:.1f} frames/s, longest silence {self._silence:.1f} s"
        )
