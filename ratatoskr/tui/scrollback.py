"""The lines that the transcript keeps, and the rows they make at a width. No widget, no terminal.

The text has gone through ``visible`` already.
"""

from __future__ import annotations

import enum
import re
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .wrap import wrap

MAX_LINES = 20_000
MAX_CHARS = 6_000_000
_FOLDED = "▸ reasoning (F6 unfolds it)"


class Kind(enum.Enum):
    """What a line is, which decides how it looks; the values are its classes in CSS."""

    TEXT = "transcript--text"
    REASONING = "transcript--reasoning"
    USER = "transcript--user"
    EVENT = "transcript--event"
    END = "transcript--end"
    ERROR = "transcript--error"


FLOWING = (Kind.TEXT, Kind.REASONING)


class Line:
    """A line, as it came. It is open until its end is known."""

    __slots__ = ("at", "continues", "kind", "open", "start", "text")

    def __init__(self, kind: Kind, at: float, continues: bool) -> None:
        self.kind = kind
        self.at = at  # when it began
        self.continues = continues  # the text of the line before it
        self.text = ""
        self.start = 0  # the characters before ``text`` that were dropped
        self.open = True


class Row(NamedTuple):
    """A row on the screen: the characters of a line from ``start`` to ``end``, or a label in place
    of lines that are folded.
    """

    line: Line
    start: int
    end: int
    label: str = ""

    @property
    def text(self) -> str:
        start = self.line.start
        return self.label or self.line.text[self.start - start : self.end - start]

    @property
    def is_first(self) -> bool:
        """Whether a line begins here."""
        return self.start == 0


class Place(NamedTuple):
    """A character of a line, wherever it is shown."""

    line: Line
    offset: int


class Scrollback:
    """Keeps the newest lines: at most ``max_lines`` that are closed and an open one, and at most
    ``max_chars`` characters, line ends left out. ``clock`` gives the time of a line.
    """

    def __init__(
        self,
        width: int = 80,
        *,
        max_lines: int = MAX_LINES,
        max_chars: int = MAX_CHARS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.rows: list[Row] = []
        self.width = width
        self.folded = True  # the reasoning; after a change, ``wrap_again``
        self._clock = clock
        self._max_lines = max_lines
        self._max_chars = max_chars
        self._lines: deque[Line] = deque()
        self._chars = 0

    @property
    def text(self) -> str:
        """All that is kept, as it was before it was wrapped."""
        return "".join([line.text if line.open else f"{line.text}\n" for line in self._lines])

    def add(self, pieces: Iterable[tuple[Kind, str]]) -> int:
        """Add pieces of text; return how many rows at the top were dropped.

        Text and reasoning continue their line; a piece of any other kind is a line of its own.
        """
        dropped = 0
        for kind, text in pieces:
            last = self._open_line()
            if last and last.kind is not kind:
                last.open = False
            dropped += self._add(kind, text if kind in FLOWING else f"{text}\n")
        return dropped + self._drop()

    def wrap_again(self, width: int) -> None:
        """Make the rows again, for this width."""
        self.width = width
        self.rows.clear()
        for line in self._lines:
            self._add_rows(line, line.start)

    def place_of(self, row: int) -> Place | None:
        """The place at the start of a row; None if there is no such row."""
        return Place(self.rows[row].line, self.rows[row].start) if row < len(self.rows) else None

    def row_of(self, place: Place) -> int:
        """The row that shows a place, or the last one before it; the first if it was dropped."""
        order = self._order()
        sought = (order.get(id(place.line), -1), place.offset)
        after = bisect_right(self.rows, sought, key=lambda row: (order[id(row.line)], row.start))
        return max(0, after - 1)

    def _order(self) -> dict[int, int]:
        return {id(line): number for number, line in enumerate(self._lines)}

    def find(self, words: str, after: Place | None, *, backwards: bool = False) -> Place | None:
        """The place of the next match after a place, or of the last one before it; the search wraps
        around. Case is ignored. None if nothing matches.
        """
        pattern = re.compile(re.escape(words), re.IGNORECASE)
        lines = [line for line in self._lines if not self._is_folded(line)]
        at = lines.index(after.line) if after and after.line in lines else -1
        if backwards:
            return _last_match(pattern, lines, at, after)
        return _first_match(pattern, lines, at, after)

    def _is_folded(self, line: Line) -> bool:
        return self.folded and line.kind is Kind.REASONING

    def _open_line(self) -> Line | None:
        return self._lines[-1] if self._lines and self._lines[-1].open else None

    def _add(self, kind: Kind, text: str) -> int:
        # Of a million lines only those that will be kept are made.
        most = self._max_chars + self._max_lines + 1
        parts = text[-most:].rsplit("\n", self._max_lines + 1)
        dropped = 0
        if len(parts) > self._max_lines + 1:
            dropped = len(self.rows)
            self._clear()
            del parts[0]
        last = parts.pop()
        for part in parts:
            self._extend(kind, part)
            self._lines[-1].open = False
        if last:
            self._extend(kind, last)
        return dropped

    def _extend(self, kind: Kind, text: str) -> None:
        """Add text to the open line, or to a new one. Only its last row is wrapped again."""
        line = self._open_line()
        if line is None:
            before = self._lines[-1].kind if self._lines else None
            line = Line(kind, self._clock(), continues=before is kind and kind in FLOWING)
            self._lines.append(line)
        start = line.start
        if self.rows and self.rows[-1].line is line:
            start = self.rows.pop().start
        line.text += text
        self._chars += len(text)
        self._add_rows(line, start)

    def _add_rows(self, line: Line, start: int) -> None:
        if self._is_folded(line):
            if not line.continues:
                self.rows.append(Row(line, 0, 0, _FOLDED))
            return
        for text in wrap(line.text[start - line.start :], self.width):
            end = start + len(text)
            self.rows.append(Row(line, start, end))
            start = end

    def _clear(self) -> None:
        self.rows.clear()
        self._lines.clear()
        self._chars = 0

    def _drop(self) -> int:
        """Drop what is above the limits; return the number of rows."""
        rows = 0
        closed = len(self._lines) - (self._open_line() is not None)
        while closed > self._max_lines or self._chars > self._max_chars:
            line = self._lines[0]
            cut = len(line.text)
            if closed <= self._max_lines:
                cut = min(cut, self._chars - self._max_chars)
            self._chars -= cut
            line.text = line.text[cut:]
            line.start += cut
            if not line.text:
                self._lines.popleft()
                closed -= 1  # an open line is the last one: nothing is left then
            while self._is_shown(rows, line) and self.rows[rows].end <= line.start:
                rows += 1
        del self.rows[:rows]
        if self.rows:
            first = self.rows[0]
            self.rows[0] = first._replace(start=max(first.start, first.line.start))
        return rows

    def _is_shown(self, row: int, line: Line) -> bool:
        return row < len(self.rows) and self.rows[row].line is line


def _first_match(
    pattern: re.Pattern[str], lines: list[Line], at: int, after: Place | None
) -> Place | None:
    if after and at >= 0:
        line = lines[at]
        if match := pattern.search(line.text, max(0, after.offset + 1 - line.start)):
            return Place(line, line.start + match.start())
    for line in lines[at + 1 :] + lines[: at + 1]:
        if match := pattern.search(line.text):
            return Place(line, line.start + match.start())
    return None


def _last_match(
    pattern: re.Pattern[str], lines: list[Line], at: int, before: Place | None
) -> Place | None:
    if before and at >= 0:
        line = lines[at]
        starts = [match.start() for match in pattern.finditer(line.text)]
        if earlier := [each for each in starts if each < before.offset - line.start]:
            return Place(line, line.start + earlier[-1])
    for line in reversed(lines[max(0, at) :] + lines[: max(0, at)]):
        if starts := [match.start() for match in pattern.finditer(line.text)]:
            return Place(line, line.start + starts[-1])
    return None
