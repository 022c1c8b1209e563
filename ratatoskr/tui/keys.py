"""The keys of the app, in the order in which the key bar shows them, and those that ``EventsApp``
has too.
"""

from __future__ import annotations

from textual.binding import Binding, BindingType

RESUME = Binding("ctrl+r", "resume", "Resume", key_display="^R")
HELP = Binding("f1,question_mark", "help", "Help", key_display="F1")
SAVE = Binding("ctrl+s", "save", "Save", key_display="^S")
PAGE_UP = Binding("pageup", "scroll('page_up')", show=False)
PAGE_DOWN = Binding("pagedown", "scroll('page_down')", show=False)

KEYS: list[BindingType] = [
    Binding("escape", "cancel", "Cancel", key_display="Esc"),
    RESUME,
    HELP,
    Binding("ctrl+c,ctrl+q", "stop", "Quit", key_display="^C"),
    SAVE,
    Binding("f3", "markdown", "Markdown", key_display="F3"),
    Binding("f5", "frames", "Frames", key_display="F5"),
    Binding("ctrl+y", "copy", "Copy", key_display="^Y"),
    Binding("ctrl+f,slash", "search", "Search", key_display="^F"),
    Binding("f4", "reconnect", "Reconnect", key_display="F4"),
    Binding("f6", "fold", "Reasoning", key_display="F6"),
    Binding("f7", "times", "Times", key_display="F7"),
    Binding("f8", "record", "Record", key_display="F8"),
    Binding("n", "find(False)", show=False),
    Binding("N", "find(True)", show=False),
    PAGE_UP,
    PAGE_DOWN,
    Binding("ctrl+home", "scroll('home')", show=False),
    Binding("ctrl+end", "scroll('end')", show=False),
]
