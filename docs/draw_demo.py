"""Draws a run of ``ratatoskr demo``, as a terminal shows it, into docs/demo.svg.

    python docs/draw_demo.py

The rows scroll in the time that the demo takes; where pictures do not move, the end is shown. What
goes to stderr has a colour of its own.
"""

import subprocess
import sys
from html import escape
from pathlib import Path

from rich.cells import chop_cells

PICTURE = Path(__file__).parent / "demo.svg"

_COLUMNS, _ROWS = 88, 14
_CELL_WIDTH, _ROW_HEIGHT = 8.43, 20
_MARGIN = 14
_SECONDS, _PAUSE = 11, 7  # of the run, and after it


def draw() -> str:
    """Return the picture as SVG."""
    rows = [(name, row) for name, line in _run() for row in chop_cells(line, _COLUMNS) or [""]]
    width, height = round(_COLUMNS * _CELL_WIDTH), _ROWS * _ROW_HEIGHT
    head = _HEAD.format(
        width=width + 2 * _MARGIN,
        height=height + 2 * _MARGIN,
        seconds=_SECONDS + _PAUSE,
        end=100 * _SECONDS // (_SECONDS + _PAUSE),
        steps=len(rows) - 1,
        way=(len(rows) - 1) * _ROW_HEIGHT,
    )
    # The last row is at the bottom; the picture begins with the first one there.
    top = height - len(rows) * _ROW_HEIGHT
    texts = [
        f'<text class="{name}" y="{top + _ROW_HEIGHT * n + 15}">{escape(row, quote=False)}</text>'
        for n, (name, row) in enumerate(rows)
        if row
    ]
    window = f'<svg x="{_MARGIN}" y="{_MARGIN}" width="{width}" height="{height}">'
    return "\n".join([head, window, '<g class="rows">', *texts, "</g>", "</svg>", "</svg>", ""])


def _run() -> list[tuple[str, str]]:
    """The lines on the terminal, each with the name of the stream that it belongs to."""
    command = [sys.executable, "-m", "ratatoskr", "demo", "--fast"]
    run = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    lines = [("in", "$ ratatoskr demo")]
    lines += [("out", line) for line in run.stdout.splitlines()]
    return lines + [("err", line) for line in run.stderr.splitlines()]


_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img">
<title>A run of ratatoskr demo</title>
<style>
text {{ font: 14px ui-monospace, monospace; white-space: pre }}
.in {{ fill: #8ad4a1 }}
.out {{ fill: #d0d7de }}
.err {{ fill: #ffc473 }}
.rows {{ animation: run {seconds}s infinite }}
@keyframes run {{
  0% {{ transform: translateY({way}px); animation-timing-function: steps({steps}) }}
  {end}%, 100% {{ transform: none }}
}}
@media (prefers-reduced-motion: reduce) {{ .rows {{ animation: none }} }}
</style>
<rect width="100%" height="100%" rx="8" fill="#1b2229"/>"""


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
