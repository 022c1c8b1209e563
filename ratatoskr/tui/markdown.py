"""An answer as Markdown."""

from __future__ import annotations

from rich.markdown import Markdown

from .._shown.visible import visible

_MAX_CHARS = 20_000
_MAX_LINES = 400


def rendered(markdown: str) -> Markdown:
    """Markdown to be shown, as much as is laid out without a long wait. Its links are text."""
    kept = "\n".join(markdown[:_MAX_CHARS].split("\n", _MAX_LINES)[:_MAX_LINES])
    if len(kept) < len(markdown):
        kept += "\n\n…\n\nThe rest is in the transcript."
    shown = Markdown(kept, hyperlinks=False)
    for token in shown.parsed:
        # The parser has turned entities such as &#x202e; into characters.
        for each in (token, *(token.children or ())):
            each.content = visible(each.content)
    return shown
