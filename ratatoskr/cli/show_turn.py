"""Showing a turn on the command line as it comes: text or JSON on stdout, labels on stderr."""

from __future__ import annotations

import sys
from typing import Any

from ratatoskr_proto import Event, RatatoskrError, SseConnectionDropped, SseId, Text

from .._shown.json_lines import JsonLines
from .._shown.labels import ending_label, event_label, exit_code, wait_label
from .._shown.recorder import Recorder, end_reason
from .._shown.visible import HalfKeeper, visible
from .console import is_terminal, write_stderr, write_stdout, write_stdout_json


class TurnPrinter:
    """Prints one turn.

    Its text goes to stdout as it is, or with ``lines`` each event as a line of JSON; other
    events, each wait for another connection, and how the turn ended, are labels on stderr. The body
    goes to the ``recorder`` too.
    """

    def __init__(self, *, lines: JsonLines | None = None, recorder: Recorder | None = None) -> None:
        self._lines = lines
        self._recorder = recorder
        self._halves = HalfKeeper()
        self._line_is_open = False

    def on_wait(self, error: RatatoskrError, seconds: float) -> None:
        """Print that the connection was lost; the ``on_wait`` of the turn."""
        if is_terminal(sys.stderr):
            self._end_line()
        write_stderr(wait_label(error, seconds))

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
            self._end_line()
        if ending is None:
            ending = SseConnectionDropped(last_sse_id, "end of stream")
        if recorder is not None:
            recorder.end(end_reason(ending), turn.reconnects)
        write_stderr(ending_label(ending))
        return exit_code(ending)

    def _print(self, event: Event) -> None:
        if self._lines is not None:
            write_stdout_json(self._lines.event(event))
        elif isinstance(event, Text):
            self._print_text(self._halves.add(event.text))
        elif not event.terminal:
            write_stderr(event_label(event))

    def _print_text(self, text: str) -> None:
        if text:
            write_stdout(visible(text))
            self._line_is_open = not text.endswith("\n")

    def _end_line(self) -> None:
        # Only on a terminal: what is piped on is the text and nothing else.
        if self._line_is_open and is_terminal(sys.stdout):
            write_stdout("\n")
            self._line_is_open = False


async def run_turn(turn: Any, *, as_json: bool = False, recorder: Recorder | None = None) -> int:
    """Print a turn and return the exit code, see ``TurnPrinter``."""
    lines = JsonLines() if as_json else None
    return await TurnPrinter(lines=lines, recorder=recorder).show(turn)
