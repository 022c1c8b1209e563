"""Wraps lines of text into rows of cells, in time and memory that grow with the text alone."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from rich.cells import cell_len, get_character_cell_size

_TAB = 8
_MAX_CHARS_A_CELL = 8  # of characters without a width there could be any number in a row
_MAX_KNOWN = 20_000
# A flag is two letters; a joiner, an emoji style or a skin tone changes the character before it.
_CLUSTERS = re.compile("[\U0001f1e6-\U0001f1ff]{2}|[\u200d\ufe0f\U0001f3fb-\U0001f3ff]")


def wrap(line: str, width: int) -> list[str]:
    """Cut a line into rows of at most ``width`` cells, after a space or a tab where it can.

    The rows hold all its characters, so one space may stand after the last cell. When more text
    comes, only the last row needs to be cut again with it.
    """
    if line.isascii() and "\t" not in line:
        if len(line) <= width:
            return [line]
        fit = _ascii_fit(width)
    else:
        fit = _any_fit(line, width)
    rows = []
    start = 0
    while (end := fit(start)) < len(line):
        if line[end] == " ":
            end += 1
        else:
            place = max(line.rfind(" ", start, end), line.rfind("\t", start, end))
            end = place + 1 or end
        rows.append(line[start:end])
        start = end
    if start < len(line) or not rows:
        rows.append(line[start:])
    return rows


def expand_tabs(row: str) -> str:
    """Replace the tabs of a row by spaces up to the next multiple of eight cells."""
    if "\t" not in row:
        return row
    shown = ""
    for index, part in enumerate(row.split("\t")):
        if index:
            shown += " " * (_TAB - cell_len(shown) % _TAB)
        shown += part
    return shown


def _ascii_fit(width: int) -> Callable[[int], int]:
    return lambda start: start + width


def _any_fit(line: str, width: int) -> Callable[[int], int]:
    """Make the function that returns the end of a row that starts at an index, by its cells alone.
    A row always has a character.
    """
    cells = bytearray(map(_CELLS.__getitem__, line))
    for match in _CLUSTERS.finditer(line):
        at = match.start()
        if match[0] == "\u200d":
            cells[at : at + 2] = bytes(len(line[at : at + 2]))
        elif len(match[0]) == 2:
            cells[at : at + 2] = (cell_len(match[0]), 0)
        elif at:
            cells[at - 1] += cell_len(line[at - 1 : at + 1]) - cell_len(line[at - 1])
            cells[at] = 0
    before = array("L", accumulate(cells, initial=0))  # the cells before each character

    def fit(start: int) -> int:
        limit = min(len(line), start + width * _MAX_CHARS_A_CELL)
        at, column = start, 0
        while True:
            tab = line.find("\t", at, limit)
            stop = limit if tab < 0 else tab
            end = bisect_right(before, before[at] + width - column, at + 1, stop + 1) - 1
            if end < stop or tab < 0:
                break
            column += before[tab] - before[at]
            column += _TAB - column % _TAB
            end = tab
            if column > width:
                break
            at = tab + 1
        return max(end, start + 1)

    return fit


class _Cells(dict[str, int]):
    """How many cells each character takes."""

    def __missing__(self, char: str) -> int:
        size = get_character_cell_size(char)
        if len(self) < _MAX_KNOWN:
            self[char] = size
        return size


_CELLS = _Cells()
