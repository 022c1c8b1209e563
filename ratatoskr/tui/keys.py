"""The keys of the app, in the order in which the key bar shows them."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("escape", "cancel", "Cancel", key_display="Esc"),
    Binding("ctrl+r", "resume", "Resume", key_display="^R"),
    Binding("f1,question_mark", "help", "Help", key_display="F1"),
    Binding("ctrl+c,ctrl+q", "stop", "Quit", key_display="^C"),
    Binding("ctrl+s", "save", "Save", key_display="^S"),
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
    Binding("pageup", "scroll('page_up')", show=False),
    Binding("pagedown", "scroll('page_down')", show=False),
    Binding("ctrl+home", "scroll('home')", show=False),
    Binding("ctrl+end", "scroll('end')", show=False),
]
