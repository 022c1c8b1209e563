"""The line that shows how the turn is going, or what a key did."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.widgets import Static

from .status import TurnStatus


class StatusLine(Static):
    """Shows a ``TurnStatus``, or a notice until the next key."""

    DEFAULT_CSS = """
    StatusLine { height: 1; padding: 0 1; background: $panel; color: $text-muted; }
    StatusLine { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, status: TurnStatus) -> None:
        super().__init__(id="status", markup=False)
        self._status = status
        self._notice = ""
        self._state = ""
        self._reconnect = False
        self._names: Sequence[str] = ()

    def show(self, state: str, *, reconnect: bool = False, names: Sequence[str] = ()) -> None:
        """Show the current figures, see ``TurnStatus.line``."""
        self._state, self._reconnect, self._names = state, reconnect, names
        self._draw()

    def note(self, notice: str) -> None:
        """Show this until the next key; ``""`` shows the figures again."""
        if notice != self._notice:
            self._notice = notice
            self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        line = self._status.line(
            self._state,
            self.content_size.width,
            reconnect=self._reconnect,
            names=self._names,
        )
        self.update(self._notice or line)
