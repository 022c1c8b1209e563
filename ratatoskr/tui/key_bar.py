"""The keys at the foot of the screen."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

_COLUMNS = 2  # where there is more than one row


class _Key(NamedTuple):
    x: int
    y: int
    name: str
    label: str
    binding: Binding
    enabled: bool

    @property
    def width(self) -> int:
        return cell_len(self.name + self.label)


class KeyBar(Widget):
    """Shows the keys of the screen in their order, as many as there is room for; those that do
    nothing now are dimmed. With more than one row they stand in two columns.

    Unlike Textual's ``Footer`` it is one widget, and redraws only what changed.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--name", "key-bar--label", "key-bar--disabled"}
    DEFAULT_CSS = """
    KeyBar {
        height: 1;
        background: $footer-background;
        & > .key-bar--name { color: $footer-key-foreground; text-style: bold; }
        & > .key-bar--label { color: $footer-description-foreground; }
        & > .key-bar--disabled { color: $footer-description-foreground; text-style: dim; }
    }
    """

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[Any]) -> None:
        self.refresh()

    def _keys(self) -> list[_Key]:
        """The keys, where they are shown."""
        bindings = self.screen.active_bindings.values()
        # One key for each action; the later ones are other ways to it.
        shown = {each.binding.action: each for each in reversed(bindings) if each.binding.show}
        columns = self.size.width // _COLUMNS
        keys: list[_Key] = []
        x = 0
        for number, (_, binding, enabled, _) in enumerate(reversed(shown.values())):
            name, label = self.app.get_key_display(binding), binding.description
            if self.size.height > 1:
                y, column = divmod(number, _COLUMNS)
                label = f" {label}"[: max(0, columns - cell_len(name))]
                key = _Key(column * columns, y, name, label, binding, enabled)
            else:
                key = _Key(x, 0, f" {name}", f" {label} ", binding, enabled)
                x += key.width
            if key.x + key.width > self.size.width or key.y >= self.size.height:
                break
            keys.append(key)
        return keys

    def render_line(self, y: int) -> Strip:
        segments: list[Segment] = []
        end = 0
        for key in self._keys():
            if key.y == y:
                segments.append(Segment(" " * (key.x - end), self.rich_style))
                for text, part in ((key.name, "name"), (key.label, "label")):
                    style = f"key-bar--{part if key.enabled else 'disabled'}"
                    segments.append(Segment(text, self.get_component_rich_style(style)))
                end = key.x + key.width
        return Strip(segments).extend_cell_length(self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        for key in self._keys():
            if key.y == event.y and key.x <= event.x < key.x + key.width and key.enabled:
                self.app.simulate_key(key.binding.key)
