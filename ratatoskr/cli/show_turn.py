"""Showing a turn on the command line as it comes: text or JSON on stdout, labels on stderr."""

from __future__ import annotations

import sys
from typing import Any

from ratatoskr_proto import Event, RatatoskrError, SseConnectionDropped, SseId, Text

from .._shown import json_lines
from .._shown.labels import ending_label, event_label, exit_code
from .._shown.recording import Recorder
from .._shown.visible import visible
from .console import is_terminal, write_stderr, write_stdout, write_stdout_ascii
from .reconnect import waits_shown


async def run_turn(turn: Any, *, as_json: bool = False, recorder: Recorder | None = None) -> int:
    """Show a turn and return the exit code.

    ``turn`` is what ``stream_turn`` of any adapter returns, or anything with its ``async with`` and
    ``async for``. Its text goes to stdout as it is, with ``as_json`` each event as a line of JSON
    instead; other events, each wait for another connection, and how the turn ended, are labels on
    stderr. The body goes to the ``recorder`` too. Lets through what the output raises, and what is
    no error of a stream.
    """
    if recorder is not None:
        turn.tap(lambda data: recorder.chunk(data, turn.reconnects))
    last_sse_id: SseId | None = None
    ending: Event | RatatoskrError | None = None
    line_is_open = False

    def end_line() -> None:
        # Only for the eye: what is piped on is the text and nothing else.
        nonlocal line_is_open
        if line_is_open and is_terminal(sys.stdout):
            write_stdout("\n")
            line_is_open = False

    def say_wait(line: str, seconds: float) -> None:
        if is_terminal(sys.stderr):
            end_line()
        write_stderr(line)

    try:
        with waits_shown(say_wait):
            async with turn:
                async for event in turn:
                    if as_json:
                        write_stdout_ascii(json_lines.event_line(event) + "\n")
                    elif isinstance(event, Text):
                        write_stdout(visible(event.text))
                        line_is_open = not event.text.endswith("\n") if event.text else line_is_open
                    elif not event.terminal:
                        write_stderr(event_label(event))
                    last_sse_id = event.sse_id
                    ending = event if event.terminal else None
    except RatatoskrError as error:
        ending = error
    finally:
        end_line()
    if ending is None:
        ending = SseConnectionDropped(last_sse_id, "end of stream")
    if recorder is not None:
        recorder.end(end_reason(ending), turn.reconnects)
    write_stderr(ending_label(ending))
    return exit_code(ending)


def end_reason(ending: object) -> str:
    """How a body ended, as a recording says it."""
    if isinstance(ending, SseConnectionDropped):
        return ending.reason.removesuffix("; unfinished event lost")
    return "end of stream"
