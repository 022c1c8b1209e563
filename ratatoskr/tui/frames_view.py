"""The raw view: one row for each frame."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Static

from .frames import FrameLog


class FrameList(ScrollView, can_focus=True):
    """The frames of a log. At its end it follows what comes."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"frames--event", "frames--other"}
    DEFAULT_CSS = """
    FrameList {
        height: 1fr;
        padding: 0 1;
        overflow-y: scroll;
        scrollbar-size: 1 1;
        & > .frames--other { color: $text-warning; }
    }
    """

    def __init__(self, log: FrameLog) -> None:
        super().__init__()
        self._log = log
        self._added = 0
        self._columns = 0
        self._following = True

    def show_new(self) -> None:
        """Show the frames that came since the last time."""
        log = self._log
        new = log.added - self._added
        if new < 0:  # another stream
            new, self._columns, self._following = log.added, 0, True
        self._added = log.added
        if new == 0:
            return
        count = len(log.frames)
        for index in range(max(0, count - new), count):
            self._columns = max(self._columns, cell_len(log.frames[index].text))
        self.virtual_size = Size(self._columns, count)
        if self._following:
            self.follow()
        self.refresh()

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self._following = True
        self.scroll_to(y=len(self._log.frames), animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._following = new_value >= self.max_scroll_y

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        width = self.size.width
        if top + y >= len(self._log.frames):
            return Strip.blank(width, self.rich_style)
        frame = self._log.frames[top + y]
        style = self.get_component_rich_style("frames--event" if frame.counts else "frames--other")
        return Strip([Segment(frame.text, style)]).crop_extend(left, left + width, self.rich_style)


class FramesView(Vertical):
    """The list, and a summary in numbers."""

    DEFAULT_CSS = """
    FramesView { height: 1fr; }
    FramesView Static { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; }
    FramesView Static { text-overflow: ellipsis; }
    """

    def __init__(self, log: FrameLog, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._log = log
        self.list = FrameList(log)
        self._summary = Static(markup=False)

    def compose(self) -> ComposeResult:
        yield self._summary
        yield self.list

    def show_new(self) -> None:
        """Show the frames that came since the last time."""
        self._summary.update(self._log.summary())
        self.list.show_new()
