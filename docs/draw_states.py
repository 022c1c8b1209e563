"""Draws the states of a turn from the decoder's own table, into docs/turn-states.svg.

    python docs/draw_states.py

A test fails if the picture is not that of the table.
"""

from pathlib import Path

from ratatoskr_proto._states import FINAL, TRANSITIONS, TurnInput, TurnState

PICTURE = Path(__file__).parent / "turn-states.svg"

_WORDS = {
    TurnInput.EVENT: "an event",
    TurnInput.TERMINAL: "a terminal event",
    TurnInput.ERROR: "an error",
    TurnInput.EOF: "the end of the stream",
}
_BOX_WIDTH, _BOX_HEIGHT = 130, 44
_LEFT, _RIGHT = (
    90,
    500,
)  # the left edges of the boxes of states that are not final, and of final ones
_TOP, _ROW = 60, 100


def draw() -> str:
    """Return the picture as SVG."""
    final = [state for state in TurnState if state in FINAL]
    others = [state for state in TurnState if state not in final]
    places = {state: (_LEFT, _TOP + _ROW * n) for n, state in enumerate(others)}
    places |= {state: (_RIGHT, _TOP + _ROW * n) for n, state in enumerate(final)}
    arrows: dict[tuple[TurnState, TurnState], list[str]] = {}
    for (old, happening), new in TRANSITIONS.items():
        arrows.setdefault((old, new), []).append(_WORDS[happening])

    parts = [_arrow(places[old], places[new], words) for (old, new), words in arrows.items()]
    parts += [_box(state, places[state], state in final) for state in TurnState]
    x, y = places[next(iter(TurnState))]
    parts.append(_line(f"M 40 {y + _BOX_HEIGHT // 2} H {x - 2}"))
    parts.append(f'<circle cx="34" cy="{y + _BOX_HEIGHT // 2}" r="7"/>')
    height = _TOP + _ROW * max(len(others), len(final)) - 20
    return "\n".join([_HEAD.format(height=height), *parts, "</svg>", ""])


_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {height}" width="660" height="{height}" \
font-family="sans-serif" font-size="15" text-anchor="middle" role="img">
<title>The states of a turn</title>
<marker id="tip" markerWidth="10" markerHeight="8" refX="9" refY="4" orient="auto">\
<path d="M 0 0 L 10 4 L 0 8 z"/></marker>
<rect width="100%" height="100%" fill="#ffffff"/>"""


def _box(state: TurnState, place: tuple[int, int], final: bool) -> str:
    """A state; one that is final has a double border."""
    x, y = place
    frame = '<rect x="{}" y="{}" width="{}" height="{}" rx="8" fill="#e8eef2" stroke="#37474f"/>'
    boxes = frame.format(x, y, _BOX_WIDTH, _BOX_HEIGHT)
    if final:
        boxes += frame.format(x + 4, y + 4, _BOX_WIDTH - 8, _BOX_HEIGHT - 8)
    return f"{boxes}{_text(x + _BOX_WIDTH // 2, y + 27, state.name)}"


def _arrow(old: tuple[int, int], new: tuple[int, int], words: list[str]) -> str:
    """An arrow with what leads along it, a line each; from a state to itself it is a loop."""
    x, y = old
    if old == new:
        middle = x + _BOX_WIDTH // 2
        out, back, high = middle - 25, middle + 25, y - 40
        loop = _line(f"M {out} {y} C {out} {high} {back} {high} {back} {y - 2}")
        return loop + _text(middle, y - 38, ", ".join(words))
    start = (x + _BOX_WIDTH, y + _BOX_HEIGHT // 2)
    end = (new[0] - 2, new[1] + _BOX_HEIGHT // 2)
    line = _line(f"M {start[0]} {start[1]} L {end[0]} {end[1]}")
    middle, above = (start[0] + end[0]) // 2 + 20, (start[1] + end[1]) // 2 - 10
    if end[1] != start[1]:
        above += 45  # clear of a line that slopes
        middle -= 75
    return line + "".join(_text(middle, above + 20 * n, text) for n, text in enumerate(words))


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="#37474f" marker-end="url(#tip)"/>'


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{text}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
