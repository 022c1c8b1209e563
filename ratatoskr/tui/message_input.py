"""The message that is being written."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.binding import Binding, BindingType
from textual.keys import Keys
from textual.widgets import TextArea

from .._shown.visible import visible

_MAX_RECALLED = 100
_LINE_BREAKS = {"ctrl+j", "alt+enter", "shift+enter"}

# Most terminals send Alt-Enter as ESC and CR, which Textual would take for Enter.
cast(dict[str, Any], ANSI_SEQUENCES_KEYS)["\x1b\r"] = (Keys.ControlJ,)

# Keys that do something else in the app, and `cursor_up` and `cursor_down`, which recall.
_OTHERS = {"up", "down", "pageup", "pagedown", "f6", "f7"}


def _editing_keys() -> list[BindingType]:
    return [
        each
        for each in TextArea.BINDINGS
        if isinstance(each, Binding)
        and not ({key.strip() for key in each.key.split(",")} & (_OTHERS | {"ctrl+c", "ctrl+y"}))
    ]


class MessageInput(TextArea, inherit_bindings=False):
    """The message, of one or more lines: it grows. Enter sends it; Up and Down recall earlier ones.

    Pasted lines stay lines, and what could command the terminal is escaped.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.send", "Send", key_display="Enter"),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
        *_editing_keys(),
    ]
    DEFAULT_CSS = """
    MessageInput { height: auto; max-height: 8; padding: 0 2; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, highlight_cursor_line=False)
        self._sent: list[str] = []
        self._recalled = 0  # index of the message shown; len(_sent) for the one being written
        self._draft = ""

    def remember(self, message: str) -> None:
        """Keep this message to be recalled later, and start a new one."""
        if not self._sent or self._sent[-1] != message:
            self._sent.append(message)
            del self._sent[:-_MAX_RECALLED]
        self._recalled = len(self._sent)
        self._draft = ""
        self.load_text("")

    async def _on_key(self, event: events.Key) -> None:
        # At once and not by a binding, which is looked up only after the keys that wait already.
        if event.key == "enter" or event.key in _LINE_BREAKS:
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                await self.run_action("app.send")
            else:
                self.insert("\n")

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = visible(event.text.replace("\r\n", "\n").replace("\r", "\n"))

    def action_recall(self, step: int) -> None:
        """Move the cursor up or down a row; from the first or the last row on, recall."""
        where = self.cursor_location
        if step < 0 and not self.navigator.is_first_wrapped_line(where):
            self.action_cursor_up()
        elif step > 0 and not self.navigator.is_last_wrapped_line(where):
            self.action_cursor_down()
        elif 0 <= self._recalled + step <= len(self._sent):
            if self._recalled == len(self._sent):
                self._draft = self.text
            self._recalled += step
            recalled = [*self._sent, self._draft][self._recalled]
            self.load_text(recalled)
            self.move_cursor(self.document.end)
