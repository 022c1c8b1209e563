"""Showing a turn on the command line as it comes: text or JSON on stdout, labels on stderr."""

from __future__ import annotations

import sys
from typing import Any

from ratatoskr_proto import Event, ProtocolError, RatatoskrError, SseConnectionDropped, SseId, Text

from .._shown.json_lines import JsonLines
from .._shown.labels import ending_label, event_label, exit_code, wait_label
from .._shown.recorder import Recorder, end_reason
from .._shown.visible import HalfKeeper, visible
from .console import is_terminal, outputs_meet, write_stderr, write_stdout, write_stdout_json
from .hints import hint


class TurnPrinter:
    """Prints one turn.

    Its text goes to stdout as it is, or with ``lines`` each event as a line of JSON; other
    events, each wait for another connection, and how the turn ended, are labels on stderr. The body
    goes to the ``recorder`` too. With ``explain`` there is more about a bad end: the last good id,
    and a hint.
    """

    def __init__(
        self,
        *,
        lines: JsonLines | None = None,
        recorder: Recorder | None = None,
        explain: bool = False,
    ) -> None:
        self._lines = lines
        self._explain = explain
        self._recorder = recorder
        self._halves = HalfKeeper()
        self._line_is_open = False

    def on_wait(self, error: RatatoskrError, seconds: float) -> None:
        """Print that the connection was lost; the ``on_wait`` of the turn."""
        self._print_label(wait_label(error, seconds))

    async def show(self, turn: Any) -> int:
        """Print a turn to its end, and return the exit code.

        ``turn`` is the ``TurnStream`` of any adapter, not entered yet, or anything with its ``async
        with`` and ``async for``. Exceptions of the output, and any that is not a RatatoskrError,
        are let through.
        """
        recorder = self._recorder
        if recorder is not None:
            turn.tap(lambda data: recorder.chunk(data, turn.reconnects))
        last_sse_id: SseId | None = None
        ending: Event | RatatoskrError | None = None
        try:
            async with turn:
                async for event in turn:
                    self._print(event)
                    last_sse_id = event.sse_id
                    ending = event if event.terminal else None
        except RatatoskrError as error:
            ending = error
        finally:
            self._print_text(self._halves.rest())
            if is_terminal(sys.stdout):
                self._end_line()
        if ending is None:
            ending = SseConnectionDropped(last_sse_id, "end of stream")
        if recorder is not None:
            recorder.end(end_reason(ending), turn.reconnects)
        label = ending_label(ending)
        if self._explain and last_sse_id is not None and isinstance(ending, ProtocolError):
            label += f" last_sse_id={last_sse_id}"
        self._print_label(label)
        if self._explain and (more := hint(ending, turn)):
            write_stderr(more)
        return exit_code(ending)

    def _print(self, event: Event) -> None:
        if self._lines is not None:
            write_stdout_json(self._lines.event(event))
        elif isinstance(event, Text):
            self._print_text(self._halves.add(event.text))
        elif not event.terminal:
            self._print_label(event_label(event))

    def _print_text(self, text: str) -> None:
        if text:
            write_stdout(visible(text))
            self._line_is_open = not text.endswith("\n")

    def _print_label(self, line: str) -> None:
        if outputs_meet():
            self._end_line()
        write_stderr(line)

    def _end_line(self) -> None:
        """End the line of text, for people; stdout alone, if it is piped on, is just the text."""
        if self._line_is_open:
            write_stdout("\n")
            self._line_is_open = False


async def run_turn(turn: Any, *, as_json: bool = False, recorder: Recorder | None = None) -> int:
    """Print a turn and return the exit code, see ``TurnPrinter``."""
    lines = JsonLines() if as_json else None
    return await TurnPrinter(lines=lines, recorder=recorder).show(turn)
