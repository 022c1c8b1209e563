"""The screens over the conversation: the help, and the question before an unsaved one is lost."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from .frames import MAX_FRAMES
from .key_bar import KeyBar
from .scrollback import MAX_CHARS, MAX_LINES

HELP = f"""\
Ratatoskr talks to a chat server or to a model. Each answer is streamed.

Enter      sends the message; Alt-Enter or Ctrl-J breaks the line
Up, Down   recall earlier messages
Esc        cancels the turn that is running
Ctrl-R     resumes a turn that was cancelled or lost, or asks for it again
Ctrl-S     saves the transcript to a file in the current directory
Ctrl-Y     copies the selected text, or else the last answer
Ctrl-F, /  searches the transcript; n and N go to the next match and the one before
F3         shows the last answer as Markdown, and the transcript again
F4         turns automatic resuming on or off, from the next turn on
F5         shows the frames as they came, and the transcript again
F6         shows the reasoning of a model, or folds it again
F7         shows or hides when each line began
F8         turns recording on or off, from the next turn on
F1, ?      this help
Ctrl-C     cancels the turn that is running; without one, quits

The keys / n N ? work in the transcript. Tab goes there and back to the message. PageUp, PageDown, \
Ctrl-Home, Ctrl-End and the mouse wheel scroll. At its end the transcript follows what comes. Drag \
the mouse to select text.

A turn that fails leaves a line such as [connection_dropped] here. The app continues: send \
the next message, or resume with Ctrl-R. When turns are resumed automatically, the status line \
counts down to the next try instead, and Esc cancels that too.

A model server does not remember what was said: earlier messages and complete answers go along \
with each message, the newest that fit into --history. An answer that was cut does not, and \
Ctrl-R asks for it again.

Control characters in what the server sends are shown and copied as escapes, and links in Markdown \
stay closed.

The transcript keeps its last {MAX_LINES:,} lines, and at most {MAX_CHARS:,} characters. The \
silence in the status line counts from the last byte, so keep-alives end it. Frames that give no \
event, keep-alives among them, are listed by F5 in another colour."""

EVENTS_HELP = f"""\
The frames of an event stream, as they come: the seconds since the first connection, the size in \
bytes, the id, the event and the data.

Esc        closes the stream
Ctrl-R     opens it again after its last id
Ctrl-S     saves the list to a file in the current directory
End        follows what comes
F1, ?      this help
Ctrl-C     quits

Arrows, PageUp, PageDown, Home and the mouse wheel scroll.

Comments such as keep-alives, retry times and skipped frames stand in another colour: they give no \
event. The newest {MAX_FRAMES:,} rows are kept. Control characters are shown as escapes."""

_UNSAVED = """\
The transcript is not saved.

Ctrl-C  quits
Ctrl-S  saves it and quits
Esc     goes back"""


class MainScreen(Screen[None], inherit_bindings=False):
    """The screen of an app. There Ctrl-C does what the help says even while text is selected, which
    Textual's own screen would copy.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]


class HelpScreen(ModalScreen[None]):
    """The help: the keys, and notes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,question_mark,q", "dismiss", "Back", key_display="Esc"),
        Binding("ctrl+c,ctrl+q", "dismiss", show=False),
    ]

    def __init__(self, text: str = HELP) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._text, markup=False)
        yield KeyBar()


class UnsavedScreen(ModalScreen[str]):
    """Asks what to do about a transcript that is not saved; gives "quit", "save" or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Back", key_display="Esc"),
        Binding("ctrl+c,ctrl+q", "dismiss('quit')", "Quit", key_display="^C"),
        Binding("ctrl+s", "dismiss('save')", "Save and quit", key_display="^S"),
    ]

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(_UNSAVED, markup=False)
        yield KeyBar()
