"""The smaller parts of the terminal app: its input line, its help, and what it writes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from itertools import count, groupby
from operator import itemgetter
from types import TracebackType
from typing import Any, ClassVar, Protocol

from rich.markdown import Markdown
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer, Input, Static
from textual.widgets._footer import FooterKey

from ratatoskr_proto import Event, SseId

from .._shown.visible import visible
from .scrollback import MAX_CHARS, MAX_LINES, Kind

MAX_MARKDOWN = 20_000
_MAX_MARKDOWN_LINES = 400

_HELP = f"""\
Ratatoskr talks to a chat server. Each answer is a turn, streamed event by event.

Enter    sends the message
Esc      cancels the turn that is running
Ctrl-R   resumes a turn whose connection was lost, from its last event
Ctrl-S   saves the transcript to a file in the current directory
F3       shows the last turn as Markdown, and the transcript again
F4       has turns resume by themselves from the next one on, or no longer
F1, ?    this help; ? when the transcript has the focus
Ctrl-C   quits

PageUp, PageDown, Ctrl-Home, Ctrl-End and the mouse wheel scroll. At its end the transcript \
follows what comes. Tab goes to the transcript and back to the message. To copy text, hold Shift \
while you drag the mouse.

A turn that ends badly leaves a line such as [connection_dropped] here. It ends nothing else: send \
the next message, or resume with Ctrl-R. When turns resume by themselves, the status line counts \
down to the next try instead, and Esc cancels that too.

Control characters in what the server sends are shown as escapes, and links in Markdown stay closed.

The transcript keeps its last {MAX_LINES:,} lines, and at most {MAX_CHARS:,} characters. The \
silence in the status line counts from the last byte, so keep-alives end it."""


class StreamedTurn(Protocol):
    """What the app reads: a ``TurnStream``, or anything else with its ``async with`` and
    ``async for``.
    """

    async def __aenter__(self) -> Any: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any: ...

    def __aiter__(self) -> AsyncIterator[Event]: ...


class MessageInput(Input):
    """The input line. Its Enter is in the footer, and text that is pasted becomes one line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.send", "Send", key_display="Enter"),
    ]

    def _on_paste(self, event: events.Paste) -> None:
        # Input, which is called after this, would drop all lines but the first.
        event.text = visible(" ".join(event.text.split()))


class KeysFooter(Footer):
    """The keys; in two columns where its layout is a grid."""

    def compose(self) -> ComposeResult:
        for key in super().compose():
            if isinstance(key, FooterKey) and key.action == "reconnect":
                key.add_class("-if-room")
            yield key
        self.styles.grid_size_columns = 2

    def bindings_changed(self, screen: Screen[Any]) -> None:
        """Dim the keys that do nothing now.

        ``Footer`` makes all of them anew, which takes most of the time at either end of a turn.
        """
        shown = [each for each in screen.active_bindings.values() if each.binding.show]
        enabled = {each.binding.action: each.enabled for each in shown}
        keys = list(self.query(FooterKey))
        if [key.action for key in keys] != list(enabled):
            super().bindings_changed(screen)
            return
        for key in keys:
            key._disabled = not enabled[key.action]  # for the mouse
            key.set_class(key._disabled, "-disabled")


class HelpScreen(ModalScreen[None]):
    """The keys, and what else there is to know."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,question_mark,q", "dismiss", "Back", key_display="Esc"),
        Binding("ctrl+c", "app.quit", "Quit", key_display="^C"),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(_HELP, markup=False)
        yield KeysFooter(show_command_palette=False)


def coalesced(pieces: list[tuple[Kind, str]]) -> Iterator[tuple[Kind, str]]:
    """The pieces as they may be shown, text that goes on in one piece."""
    for kind, group in groupby(pieces, key=itemgetter(0)):
        if kind is Kind.TEXT:
            yield kind, visible("".join([text for _, text in group]))
        else:
            for _, text in group:
                yield kind, visible(text).replace("\n", "\\n")


def rendered(markdown: str) -> Markdown:
    """Markdown to be shown, as much as is laid out without a long wait. Its links are text."""
    kept = "\n".join(markdown[:MAX_MARKDOWN].split("\n", _MAX_MARKDOWN_LINES)[:_MAX_MARKDOWN_LINES])
    if len(kept) < len(markdown):
        kept += "\n\n…\n\nThe rest is in the transcript."
    shown = Markdown(kept, hyperlinks=False)
    for token in shown.parsed:
        # An entity such as &#x202e; is a character by now.
        for each in (token, *(token.children or ())):
            each.content = visible(each.content)
    return shown


def save_transcript(text: str, last_id: SseId | None) -> str:
    """Write a file that was not there before; return its path. Raises OSError."""
    name = f"{datetime.now():%Y%m%d-%H%M%S}" if last_id is None else f"turn-{last_id.turn_id}"
    for number in count(1):
        path = os.path.abspath(f"ratatoskr-{name}{f'-{number}' if number > 1 else ''}.txt")
        with contextlib.suppress(FileExistsError), open(path, "x", encoding="utf-8") as file:
            file.write(text)
            return path
    raise AssertionError
