"""The transcript of the terminal app: lines of plain text that wrap, and follow the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from .scrollback import Kind, Place, Scrollback
from .wrap import expand_tabs


class Transcript(ScrollView, can_focus=True):
    """Shows a ``Scrollback``. At its end it follows what comes; nothing is read as markup."""

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

    def __init__(self, scrollback: Scrollback | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._scrollback = scrollback or Scrollback()
        self._following = True
        self._kept: tuple[int, Place] | None = None

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
            self.refresh()
        else:
            self.refresh_lines(unchanged, len(self._scrollback.rows) - unchanged)

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self._following = True
        self._scroll_to_row(len(self._scrollback.rows))

    def on_resize(self, event: events.Resize) -> None:
        width = max(1, self.scrollable_content_region.width)
        if width != self._scrollback.width:
            self._wrap_again(width)
        if self._following:
            self.follow()

    def _wrap_again(self, width: int) -> None:
        """Wrap everything; what is at the top of the screen stays there."""
        following, place = self._following, self._place_at_top()
        self._scrollback.wrap_again(width)
        self._rows_changed()
        if not following and place is not None:
            self._scroll_to_row(self._scrollback.row_of(place))
            self._kept = (self.scroll_offset.y, place)
        self._following = following
        self.refresh()

    def _place_at_top(self) -> Place | None:
        """The place that a resize keeps at the top.

        If nobody has scrolled since the last one, it is the same, so that narrower and wider again
        leads back to where one was.
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
        if self._scrollback.width == max(1, self.scrollable_content_region.width):
            self._following = new_value >= self.max_scroll_y

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        number = self.scroll_offset.y + y
        if number >= len(self._scrollback.rows):
            return Strip.blank(width, self.rich_style)
        row = self._scrollback.rows[number]
        text = expand_tabs(row.text)
        style = self.get_component_rich_style(row.line.kind.value)
        return Strip([Segment(text, style)], cell_len(text)).crop_extend(0, width, self.rich_style)
