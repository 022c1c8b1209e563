"""Showing a turn on the command line as it comes: text or JSON on stdout, labels on stderr."""

from __future__ import annotations

from typing import Any

from ratatoskr_proto import (
    Event,
    RatatoskrError,
    Reasoning,
    SseConnectionDropped,
    SseId,
    Text,
)

from .._shown.guess import DialectGuess
from .._shown.json_lines import JsonLines
from .._shown.labels import ending_label, event_label, exit_code, last_id_label, wait_label
from .._shown.recorder import Recorder, end_reason
from .answer import AnswerWriter
from .console import write_stdout_json
from .hints import dialect_hint, media_type_hint


class TurnPrinter:
    """Prints one turn.

    Its text goes to stdout, or with ``lines`` each event as a line of JSON. Each wait for
    another connection, and how the turn ended, is a label on stderr, and so is an event of an
    unknown type where ``unknown`` is set. With ``reasoning`` the model's thinking goes to stderr.
    The body goes to the ``recorder`` too.
    """

    def __init__(
        self,
        *,
        lines: JsonLines | None = None,
        reasoning: bool = False,
        unknown: bool = True,
        recorder: Recorder | None = None,
    ) -> None:
        self._lines = lines
        self._reasoning = reasoning
        self._unknown = unknown
        self._recorder = recorder
        self._answer = AnswerWriter()

    def on_wait(self, error: RatatoskrError, seconds: float) -> None:
        """Print that the connection was lost; the ``on_wait`` of the turn."""
        self._answer.label(wait_label(error, seconds))

    async def show(self, turn: Any) -> int:
        """Print a turn to its end, and return the exit code.

        ``turn`` is the ``TurnStream`` of any adapter, not entered yet, or anything with its ``async
        with`` and ``async for``. Exceptions of the output, and any that is not a RatatoskrError,
        are let through.
        """
        if self._recorder is not None:
            turn.tap(lambda data: self._receive(data, turn.reconnects))
        ending: Event | RatatoskrError = SseConnectionDropped(None, "closed")
        try:
            ending = await self._print_events(turn)
        finally:
            if self._recorder is not None:
                self._recorder.end(end_reason(ending), turn.reconnects)
        self._print_ending(turn, ending)
        return exit_code(ending)

    def _receive(self, data: bytes, reconnects: int) -> None:
        if self._recorder is not None:
            self._recorder.chunk(data, reconnects)

    async def _print_events(self, turn: Any) -> Event | RatatoskrError:
        """Print the events; return the terminal one, or the error that ended the turn."""
        last_sse_id: SseId | None = None
        ending: Event | None = None
        try:
            async with turn:
                async for event in turn:
                    self._print(event)
                    last_sse_id = event.sse_id
                    ending = event if event.terminal else None
        except RatatoskrError as error:
            return error
        finally:
            self._answer.end()
        return ending or SseConnectionDropped(last_sse_id, "end of stream")

    def _print(self, event: Event) -> None:
        if self._lines is not None:
            write_stdout_json(self._lines.event(event))
        elif isinstance(event, Text):
            self._answer.text(event.text)
        elif isinstance(event, Reasoning):
            if self._reasoning:
                self._answer.reasoning(event.text)
        elif not event.terminal and self._unknown:
            self._answer.label(event_label(event))

    def _print_ending(self, turn: Any, ending: Event | RatatoskrError) -> None:
        self._answer.label(ending_label(ending))


class ExplainingPrinter(TurnPrinter):
    """As ``TurnPrinter``, and says more about a bad end: the last good id, and what may be wrong.

    ``dialect`` is the name of the one that the turn is read in.
    """

    def __init__(self, dialect: str, **options: Any) -> None:
        super().__init__(unknown=dialect == "turn", **options)
        self._guess = DialectGuess(dialect)
        self._last_sse_id: SseId | None = None

    async def show(self, turn: Any) -> int:
        """See ``TurnPrinter``; ``turn`` is a ``TurnStream``."""
        turn.tap(lambda data: self._receive(data, turn.reconnects))
        return await super().show(turn)

    def _receive(self, data: bytes, reconnects: int) -> None:
        self._guess.receive(data)
        super()._receive(data, reconnects)

    def _print(self, event: Event) -> None:
        self._last_sse_id = event.sse_id
        self._guess.note([event])
        super()._print(event)

    def _print_ending(self, turn: Any, ending: Event | RatatoskrError) -> None:
        self._answer.label(ending_label(ending) + last_id_label(ending, self._last_sse_id))
        hint = media_type_hint(ending, turn) or dialect_hint(ending, self._guess)
        if hint:
            self._answer.label(hint)


async def run_turn(turn: Any, *, as_json: bool = False, recorder: Recorder | None = None) -> int:
    """Print a turn and return the exit code, see ``TurnPrinter``."""
    lines = JsonLines() if as_json else None
    return await TurnPrinter(lines=lines, recorder=recorder).show(turn)
