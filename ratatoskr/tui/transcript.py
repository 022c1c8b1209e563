"""The transcript of the terminal app: lines of plain text that wrap, and follow the end.

What it is given has gone through ``visible`` already. Nothing in it is read as markup.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .wrap import expand_tabs, wrap

MAX_LINES = 20_000
MAX_CHARS = 6_000_000


class Kind(enum.Enum):
    """What a line is, which decides how it looks; the values are its classes in CSS."""

    TEXT = "transcript--text"
    USER = "transcript--user"
    EVENT = "transcript--event"
    END = "transcript--end"
    ERROR = "transcript--error"


class Row(NamedTuple):
    """A row on the screen, with all its characters; ``ends`` says whether the line ends here."""

    text: str
    kind: Kind
    ends: bool


class Transcript(ScrollView, can_focus=True):
    """Keeps the last ``MAX_LINES`` lines, and no more than ``MAX_CHARS`` characters."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {kind.value for kind in Kind}
    DEFAULT_CSS = """
    Transcript {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        & > .transcript--user { color: $text-accent; text-style: bold; }
        & > .transcript--event { color: $text-muted; }
        & > .transcript--end { color: $text-success; }
        & > .transcript--error { color: $text-error; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[Row] = []
        self._ended = 0  # how many of the rows end a line
        self._chars = 0
        self._width = 80
        self._following = True

    @property
    def text(self) -> str:
        """All that is kept, as it was before it was wrapped."""
        return "".join([f"{row.text}\n" if row.ends else row.text for row in self._rows])

    def add(self, pieces: Iterable[tuple[Kind, str]]) -> None:
        """Add pieces of text and show them.

        Text goes on where the text before it ended; a piece of any other kind is a line of its own.
        """
        unchanged = max(0, len(self._rows) - 1)
        for kind, text in pieces:
            if kind is not Kind.TEXT or (self._rows and self._rows[-1].kind is not Kind.TEXT):
                self._end_line()
            self._add(kind, text)
            if kind is not Kind.TEXT:
                self._end_line()
        removed = self._forget()
        self.virtual_size = Size(self._width, len(self._rows))
        if self._following:
            self._scroll_to_row(len(self._rows))
        elif removed:
            self._scroll_to_row(max(0, self.scroll_offset.y - removed))
        if removed:
            self.refresh()
        else:
            self.refresh_lines(unchanged, len(self._rows) - unchanged)

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self._following = True
        self._scroll_to_row(len(self._rows))

    def _end_line(self) -> None:
        if self._rows and not self._rows[-1].ends:
            self._rows[-1] = self._rows[-1]._replace(ends=True)
            self._ended += 1

    def _add(self, kind: Kind, text: str) -> None:
        lines = text[-MAX_CHARS:].split("\n")
        if self._rows and not self._rows[-1].ends:
            lines[0] = self._rows[-1].text + lines[0]
            self._chars -= len(self._rows.pop().text)
        last = lines.pop()
        for line in lines:
            self._add_line(kind, line, True)
        if last:
            self._add_line(kind, last, False)

    def _add_line(self, kind: Kind, line: str, ends: bool) -> None:
        self._rows += [Row(text, kind, False) for text in wrap(line, self._width)]
        self._chars += len(line)
        if ends:
            self._end_line()

    def _forget(self) -> int:
        """Forget what is above the limits; return the number of rows."""
        count = 0
        while self._ended > MAX_LINES or self._chars > MAX_CHARS:
            row = self._rows[count]
            self._ended -= row.ends
            self._chars -= len(row.text)
            count += 1
        del self._rows[:count]
        return count

    def on_resize(self, event: events.Resize) -> None:
        width = max(1, self.scrollable_content_region.width)
        if width != self._width:
            self._wrap_again(width)
        if self._following:
            self._scroll_to_row(len(self._rows))

    def _wrap_again(self, width: int) -> None:
        """Wrap everything; the line at the top of the screen stays there."""
        following = self._following
        top = sum(row.ends for row in self._rows[: self.scroll_offset.y])
        old, self._rows = self._rows, []
        self._width = width
        self._ended = self._chars = 0
        target = 0
        line: list[str] = []
        for row in old:
            line.append(row.text)
            if row.ends:
                self._add_line(row.kind, "".join(line), True)
                line.clear()
                if self._ended == top:
                    target = len(self._rows)
        if line:
            self._add_line(old[-1].kind, "".join(line), False)
        self.virtual_size = Size(width, len(self._rows))
        self._following = following
        if not following:
            self._scroll_to_row(target)
        self.refresh()

    def _scroll_to_row(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._following = new_value >= self.max_scroll_y

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        index = self.scroll_offset.y + y
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        row = self._rows[index]
        text = expand_tabs(row.text)
        style = self.get_component_rich_style(row.kind.value)
        return Strip([Segment(text, style)], cell_len(text)).crop_extend(0, width, self.rich_style)
