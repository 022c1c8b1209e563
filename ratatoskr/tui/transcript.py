"""The transcript of the terminal app: lines of plain text that wrap, and follow the end."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from .scrollback import Kind, Place, Row, Scrollback
from .wrap import expand_tabs

_TIME = "%H:%M:%S "
_TIME_WIDTH = 9


class Transcript(ScrollView, can_focus=True):
    """Shows a ``Scrollback``. At its end it follows what comes; nothing is read as markup."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(kind.value for kind in Kind),
        "transcript--time",
        "transcript--match",
    }
    DEFAULT_CSS = """
    Transcript {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        & > .transcript--user { color: $text-accent; text-style: bold; }
        & > .transcript--reasoning { color: $text-muted; text-style: dim; }
        & > .transcript--event { color: $text-muted; }
        & > .transcript--end { color: $text-success; }
        & > .transcript--error { color: $text-error; }
        & > .transcript--time { color: $text-disabled; }
        & > .transcript--match { text-style: reverse; }
    }
    """

    def __init__(self, scrollback: Scrollback | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scrollback = scrollback or Scrollback()
        self._following = True
        self._kept: tuple[int, Place] | None = None
        self._times = False
        self._sought = ""
        self._found: Place | None = None

    @property
    def text(self) -> str:
        """All that is kept, as it was before it was wrapped."""
        return self._scrollback.text

    def add(self, pieces: Iterable[tuple[Kind, str]]) -> None:
        """Add pieces of text, as ``Scrollback.add`` does, and show them."""
        unchanged = max(0, len(self._scrollback.rows) - 1)
        dropped = self._scrollback.add(pieces)
        self._rows_changed()
        if self._following:
            self.follow()
        elif dropped:
            self._kept = None
            self._scroll_to_row(max(0, self.scroll_offset.y - dropped))
        if dropped:
            self.screen.clear_selection()  # its rows are others now
            self.refresh()
        else:
            self.refresh_lines(unchanged, len(self._scrollback.rows) - unchanged)

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self._following = True
        self._scroll_to_row(len(self._scrollback.rows))

    def toggle_times(self) -> None:
        """Show or hide when each line began."""
        self._times = not self._times
        self._wrap_again()

    def toggle_fold(self) -> None:
        """Show the reasoning, or one row in its place."""
        self._scrollback.folded = not self._scrollback.folded
        self._wrap_again()

    def find(self, words: str, *, backwards: bool = False) -> bool:
        """Go to the next match in a direction, and mark all; return whether there is one."""
        if words != self._sought:
            # From the top of the screen on, its first character included.
            top = self._scrollback.place_of(self.scroll_offset.y)
            self._sought = words
            self._found = top and top._replace(offset=top.offset - 1)
        self._found = self._scrollback.find(words, self._found, backwards=backwards)
        if self._found is not None:
            row = self._scrollback.row_of(self._found)
            self._scroll_to_row(max(0, row - self.scrollable_content_region.height // 2))
        self.refresh()
        return self._found is not None

    def on_resize(self, event: events.Resize) -> None:
        if self._row_width() != self._scrollback.width:
            self._wrap_again()
        if self._following:
            self.follow()

    def _row_width(self) -> int:
        return max(1, self.scrollable_content_region.width - _TIME_WIDTH * self._times)

    def _wrap_again(self) -> None:
        """Wrap everything; what is at the top of the screen stays there."""
        following, place = self._following, self._place_at_top()
        self._scrollback.wrap_again(self._row_width())
        self.screen.clear_selection()
        self._rows_changed()
        if following:
            self.follow()
        elif place is not None:
            self._scroll_to_row(self._scrollback.row_of(place))
            self._kept = (self.scroll_offset.y, place)
        self._following = following
        self.refresh()

    def _place_at_top(self) -> Place | None:
        """The place that a resize keeps at the top.

        If nobody has scrolled since the last one, it is the same, so that going narrower and wider
        again leads back to the same place.
        """
        top = self.scroll_offset.y
        if self._kept is not None and self._kept[0] == top:
            return self._kept[1]
        return self._scrollback.place_of(top)

    def _rows_changed(self) -> None:
        self.virtual_size = Size(self._scrollback.width, len(self._scrollback.rows))

    def _scroll_to_row(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        # Between a new width and its rows, the end is not where it seems to be.
        if self._scrollback.width == self._row_width():
            self._following = new_value >= self.max_scroll_y

    # What is drawn.

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        number = self.scroll_offset.y + y
        if number >= len(self._scrollback.rows):
            return Strip.blank(width, self.rich_style)
        row = self._scrollback.rows[number]
        strip = Strip(self._segments(row, number)).apply_offsets(0, number)
        if self._times:
            strip = Strip.join([self._time(row), strip])
        return strip.crop_extend(0, width, self.rich_style)

    def _time(self, row: Row) -> Strip:
        shown = time.strftime(_TIME, time.localtime(row.line.at)) if row.is_first else ""
        style = self.get_component_rich_style("transcript--time")
        return Strip([Segment(shown.ljust(_TIME_WIDTH), style)])

    def _segments(self, row: Row, number: int) -> Iterable[Segment]:
        """The text of a row, cut where a match or the selection begins or ends."""
        text = expand_tabs(row.text)
        style = self.get_component_rich_style(row.line.kind.value)
        spans: list[tuple[int, int, str, Widget]] = [
            (*span, "transcript--match", self) for span in self._matches(row)
        ]
        if (selection := self.text_selection) and (span := selection.get_span(number)):
            end = len(text) if span[1] == -1 else span[1]
            spans.append((span[0], end, "screen--selection", self.screen))
        cuts = sorted({0, len(text), *(min(at, len(text)) for each in spans for at in each[:2])})
        for start, end in pairwise(cuts):
            part_style = style
            for first, last, name, owner in spans:
                if first <= start < last:
                    part_style += owner.get_component_rich_style(name)
            yield Segment(text[start:end], part_style)

    def _matches(self, row: Row) -> Iterable[tuple[int, int]]:
        """Where the words of the search stand in the text of a row, its tabs expanded."""
        if not self._sought or row.label:
            return
        line = row.line
        before = max(line.start, row.start - len(self._sought)) - line.start
        nearby = line.text[before : row.end - line.start + len(self._sought)]
        for match in re.finditer(re.escape(self._sought), nearby, re.IGNORECASE):
            shift = before + line.start - row.start
            start, end = max(0, match.start() + shift), max(0, match.end() + shift)
            yield len(expand_tabs(row.text[:start])), len(expand_tabs(row.text[:end]))

    # What is selected.

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        parts: list[str] = []
        for number, row in enumerate(self._scrollback.rows):
            if (span := selection.get_span(number)) is None:
                continue
            start, end = (_unexpanded(row.text, at) for at in span)
            if parts and row.is_first:
                parts.append("\n")
            parts.append(row.text[start:end])
        return "".join(parts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()


def _unexpanded(text: str, column: int) -> int:
    """The index in a text that matches an index in it with its tabs expanded; -1 is the end."""
    if column == -1:
        return len(text)
    if "\t" not in text:
        return column
    return next(
        (at for at in range(len(text)) if len(expand_tabs(text[: at + 1])) > column), len(text)
    )
