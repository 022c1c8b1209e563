"""Showing any event stream on the command line, as it comes."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import anyio

from ratatoskr_proto import Comment, RatatoskrError, ServerSentEvent

from .._shown.labels import ExitCode, ending_label, exit_code, wait_label
from .._shown.recorder import Recorder, end_reason
from .._shown.visible import printable
from .console import write_stderr
from .event_formats import EventFormat
from .hints import media_type_hint

_MAX_ID = 200  # characters of an id in a label


class EventsPrinter:
    """Prints an event stream.

    The stream goes to stdout in the ``format``. An id and a retry time are printed when they
    change. With ``only``, nothing but the frames with these event names is printed, and with
    ``times`` each frame has the seconds since the request.

    Stderr gets a label for each wait for another connection and for a bad end, with ``head`` the
    status and the headers, and with ``summary`` figures at the end, however it comes. The body goes
    to the ``recorder`` too. After ``max_time`` seconds the stream is left.
    """

    def __init__(
        self,
        format: EventFormat,
        *,
        last_event_id: str = "",
        only: Collection[str] = (),
        times: bool = False,
        head: bool = False,
        summary: bool = False,
        max_time: float | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._id = last_event_id
        self._retry_ms: int | None = None
        self._format = format
        self._only = only
        self._times = times
        self._head = head
        self._summary = summary
        self._max_time = max_time
        self._recorder = recorder
        self._figures = Figures()

    def on_wait(self, error: RatatoskrError, seconds: float) -> None:
        """Print that the connection was lost; the ``on_wait`` of the stream."""
        write_stderr(wait_label(error, seconds) + self._last_event_id())

    async def show(self, events: Any) -> int:
        """Print a stream to its end, and return the exit code.

        ``events`` is the ``EventStream`` of any adapter, not entered yet, with comments. Exceptions
        of the output are let through.
        """
        recorder = self._recorder

        def receive(data: bytes) -> None:
            self._figures.receive(data)
            if recorder is not None:
                recorder.chunk(data, events.reconnects)

        events.tap(receive)
        events.watch(self._print_change)
        ending: RatatoskrError | None = None
        reason = "closed"
        opened = False
        self._figures.start()
        scope = anyio.move_on_after(self._max_time)
        try:
            with scope:
                async with events:
                    opened = True
                    if self._head:
                        _print_head(events)
                    async for item in events:
                        self._print_item(item)
                reason = "end of stream"
        except RatatoskrError as error:
            ending = error
            reason = end_reason(error)
            if self._head and not opened and events.status is not None:
                _print_head(events)
        finally:
            if self._summary:
                write_stderr(self._figures.line())
            if recorder is not None:
                recorder.end(reason, events.reconnects)
        if scope.cancelled_caught:
            write_stderr(f"ratatoskr: stopped after {self._max_time:g} s")
            return ExitCode.DONE if opened else ExitCode.CONNECT_FAILED
        if ending is None:
            if events.ended_mid_event:
                write_stderr("ratatoskr: the stream ended within an event, which is not shown")
            return ExitCode.DONE
        write_stderr(ending_label(ending) + self._last_event_id())
        if more := media_type_hint(ending, events):
            write_stderr(more)
        return exit_code(ending)

    def _last_event_id(self) -> str:
        """The id to resume after, for the end of a label, whose own field only holds ids of
        turns.
        """
        return f" last_event_id={self._id[:_MAX_ID]!r}" if self._id else ""

    def _seconds(self) -> float | None:
        return round(self._figures.seconds(), 3) if self._times else None

    def _print_item(self, item: ServerSentEvent | Comment) -> None:
        if isinstance(item, ServerSentEvent):
            self._figures.count_frame()
            if not self._only or item.event in self._only:
                self._print_frame(item)
        elif not self._only:
            self._format.write_comment(item)

    def _print_frame(self, frame: ServerSentEvent) -> None:
        self._format.write_frame(frame, self._seconds(), new_id=frame.id != self._id)
        self._id = frame.id

    def _print_change(self, last_event_id: str, retry_ms: int | None) -> None:
        if self._only:
            return
        if retry_ms is not None and retry_ms != self._retry_ms:
            self._retry_ms = retry_ms
            self._format.write_retry(retry_ms)
        if last_event_id != self._id:
            self._id = last_event_id
            self._format.write_id(last_event_id)


def _print_head(events: Any) -> None:
    write_stderr(f"HTTP status {events.status}")
    for name, value in events.headers.items():
        write_stderr(f"{printable(name)}: {printable(value)}")


class Figures:
    """The figures of ``tail --summary``. Times are in seconds since ``start``."""

    def __init__(self) -> None:
        self._bytes = self._frames = 0
        self._first_byte: float | None = None
        self._first_frame: float | None = None
        self._silence = 0.0
        self.start()

    def start(self) -> None:
        """The request is about to be sent."""
        self._start = self._last = time.monotonic()

    def seconds(self) -> float:
        """The time that has passed."""
        return time.monotonic() - self._start

    def receive(self, data: bytes) -> None:
        """Bytes have come."""
        self._bytes += len(data)
        self._end_silence()
        if self._first_byte is None:
            self._first_byte = self._last - self._start

    def count_frame(self) -> None:
        """A frame has come."""
        self._frames += 1
        if self._first_frame is None:
            self._first_frame = self.seconds()

    def _end_silence(self) -> None:
        now = time.monotonic()
        self._silence = max(self._silence, now - self._last)
        self._last = now

    def line(self) -> str:
        """Return all figures in a line."""
        self._end_silence()
        seconds = self._last - self._start
        rate = self._frames / seconds if seconds else 0.0
        return (
            f"{self._frames} frames, {self._bytes} bytes, {seconds:.1f} s, "
            f"{rate:.1f} frames/s, longest silence {self._silence:.1f} s, "
            f"first byte after {_shown(self._first_byte)}, "
            f"first frame after {_shown(self._first_frame)}"
        )


def _shown(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.3f} s"
