"""How the other examples show a turn: its text, then on a line of its own how it ended."""

from ratatoskr_proto import Event, RatatoskrError, Text


def show(*items: Event | RatatoskrError) -> None:
    """Print what came out of a turn."""
    for item in items:
        if isinstance(item, Text):
            print(visible(item.text), end="", flush=True)
        elif ends_turn(item):
            print(f"\n[{item!r}]")


def ends_turn(item: Event | RatatoskrError | None) -> bool:
    """Whether nothing comes out of the turn after this."""
    return isinstance(item, RatatoskrError) or (item is not None and item.terminal)


def visible(text: str) -> str:
    """The text with all that could command a terminal shown as an escape."""
    return "".join(
        each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text
    )
