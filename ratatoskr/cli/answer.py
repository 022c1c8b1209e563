"""Writing an answer: its text to stdout, and to stderr its reasoning and labels."""

from __future__ import annotations

import sys

from .._shown.visible import HalfKeeper, visible
from .console import colour_wanted, is_terminal, outputs_meet, write_stderr, write_stdout

_DIM, _NORMAL = "\x1b[2m", "\x1b[0m"


class AnswerWriter:
    """Writes each piece as it comes. Text, reasoning and labels never share a line where stdout and
    stderr meet; else stdout gets only the text.
    """

    def __init__(self) -> None:
        self._text_halves = HalfKeeper()
        self._reasoning_halves = HalfKeeper()
        self._text_is_open = False  # its last line has not ended
        self._reasoning_is_open = False
        self._dim = colour_wanted(sys.stderr)

    def text(self, text: str) -> None:
        """Write a piece of the text."""
        self._write_text(self._text_halves.add(text))

    def reasoning(self, text: str) -> None:
        """Write a piece of the reasoning, dimmed on a terminal."""
        self._write_reasoning(self._reasoning_halves.add(text))

    def label(self, line: str) -> None:
        """Write a line of its own to stderr."""
        self._end_reasoning()
        if self._text_is_open and outputs_meet():
            self._end_text()
        write_stderr(line)

    def end(self) -> None:
        """Write the text that was held back, and end the line on a terminal."""
        self._write_reasoning(self._reasoning_halves.rest())
        self._end_reasoning()
        self._write_text(self._text_halves.rest())
        if is_terminal(sys.stdout):
            self._end_text()

    def _write_text(self, text: str) -> None:
        if text:
            if self._reasoning_is_open and outputs_meet():
                self._end_reasoning()
            write_stdout(visible(text))
            self._text_is_open = not text.endswith("\n")

    def _write_reasoning(self, text: str) -> None:
        if text:
            if self._text_is_open and outputs_meet():
                self._end_text()
            shown = visible(text)
            write_stderr(f"{_DIM}{shown}{_NORMAL}" if self._dim else shown, end="")
            self._reasoning_is_open = not text.endswith("\n")

    def _end_text(self) -> None:
        if self._text_is_open:
            write_stdout("\n")
            self._text_is_open = False

    def _end_reasoning(self) -> None:
        if self._reasoning_is_open:
            write_stderr("")
            self._reasoning_is_open = False
