"""What is shown above the message: the transcript, the answer as Markdown, or the frames."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Static

from .._shown.visible import printable, visible
from .frames import FrameLog
from .frames_view import FrameList, FramesView
from .markdown import rendered
from .scrollback import Kind
from .transcript import Transcript
from .turns import coalesced


class Panes(Vertical):
    """Shows one of three panes at a time, at first the transcript."""

    DEFAULT_CSS = """
    Panes { height: 1fr; }
    Panes Transcript, Panes #answer { height: 1fr; padding: 0 1; }
    Panes #answer { scrollbar-size-vertical: 1; }
    Panes #search { height: 1; border: none; padding: 0 1; }
    """

    def __init__(self, frames: FrameLog, note: Callable[[str], None]) -> None:
        """``note`` tells that a search found nothing."""
        super().__init__()
        self._note = note
        self._search = Input(placeholder="Search; Enter finds the next match", id="search")
        self.transcript = Transcript(id="transcript")
        self._markdown = Static(markup=False)
        self._answer = VerticalScroll(self._markdown, id="answer")
        self._frames = FramesView(frames, id="frames")
        self._pending: list[tuple[Kind, str]] = []

    def compose(self) -> ComposeResult:
        yield self.transcript
        yield self._answer
        yield self._frames
        yield self._search

    def on_mount(self) -> None:
        self._search.display = False
        self._show(self.transcript)

    def write(self, kind: Kind, text: str) -> None:
        """Have text shown in the transcript with the next ``show_pending``."""
        self._pending.append((kind, text))

    def show_pending(self) -> None:
        """Show what was written, and the frames that came."""
        if self._pending:
            pending, self._pending = self._pending, []
            self.transcript.add(coalesced(pending))
        self._frames.show_new()

    def show_transcript(self) -> None:
        """Show the transcript again."""
        self._show(self.transcript)

    def toggle_answer(self, answer: str) -> None:
        """Show an answer as Markdown, or the transcript again."""
        if self._answer.display:
            self.show_transcript()
        else:
            self._markdown.update(rendered(visible(answer)))
            self._show(self._answer)
            self._answer.scroll_home(animate=False)

    def toggle_frames(self) -> None:
        """Show the frames, or the transcript again."""
        self._show(self.transcript if self._frames.display else self._frames)

    def scroll(self, how: str) -> None:
        """Scroll the pane that is shown: ``"page_up"``, ``"page_down"``, ``"home"``, ``"end"``."""
        pane: Transcript | VerticalScroll | FrameList = self.transcript
        if self._frames.display:
            pane = self._frames.list
        elif self._answer.display:
            pane = self._answer
        if how == "end" and not isinstance(pane, VerticalScroll):
            pane.follow()
        else:
            getattr(pane, f"scroll_{how}")(animate=False)

    @property
    def is_searching(self) -> bool:
        """Whether the line for typing a search is open."""
        return self._search.display

    def open_search(self) -> None:
        """Open the line for typing a search; Enter finds the words and moves the focus to the
        transcript.
        """
        self.show_transcript()
        self._search.display = True
        self._search.focus()

    def close_search(self) -> None:
        """Close the line."""
        self._search.display = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close_search()
        self.transcript.focus()
        self.find_again()

    def find_again(self, *, backwards: bool = False) -> None:
        """Go to the next match, or to the one before."""
        words = self._search.value
        if words and not self.transcript.find(words, backwards=backwards):
            self._note(f"nothing matches {printable(words)}")

    def _show(self, pane: Widget) -> None:
        for each in (self.transcript, self._answer, self._frames):
            each.display = each is pane
