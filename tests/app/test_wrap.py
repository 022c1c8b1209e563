"""Lines of any text become rows that fit, hold every character, and can be made bit by bit."""

import random

import pytest
from rich.cells import cell_len

from ratatoskr.tui.wrap import expand_tabs, wrap

ALPHABETS = {
    "words": list("ab  "),
    "tabs": list("ab \t"),
    "wide": ["世", "a", "e\u0301", " ", "🐿\ufe0f", "\U0001f469\u200d\U0001f680"],
    "flags": ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7", "a", " ", "👍\U0001f3fd"],
}


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("", 5, [""]),
        ("abcde", 5, ["abcde"]),
        ("abcdefg", 5, ["abcde", "fg"]),
        ("ab cd ef", 5, ["ab cd ", "ef"]),
        ("ab cdef", 5, ["ab ", "cdef"]),
        ("abcde  f", 5, ["abcde ", " f"]),
        ("世界樹", 4, ["世界", "樹"]),
        ("世界樹", 5, ["世界", "樹"]),
        ("世", 1, ["世"]),
        ("e\u0301e\u0301e\u0301", 2, ["e\u0301e\u0301", "e\u0301"]),
        ("a\tb", 9, ["a\tb"]),
        ("a\tbc", 9, ["a\t", "bc"]),
        ("🇩🇪🇫🇷🇸🇪", 4, ["🇩🇪🇫🇷", "🇸🇪"]),
        ("🇩🇪🇫🇷🇸🇪", 5, ["🇩🇪🇫🇷", "🇸🇪"]),
        ("x🇩🇪🇫🇷🇸", 4, ["x🇩🇪", "🇫🇷🇸"]),
        ("👍🏽👍🏽", 3, ["👍🏽", "👍🏽"]),
        ("aaa\u0301\tb", 4, ["aaa\u0301", "\t", "b"]),
    ],
)
def test_rows(line, width, rows):
    assert wrap(line, width) == rows


@pytest.mark.parametrize("alphabet", ALPHABETS.values(), ids=ALPHABETS)
def test_rows_fit_and_can_be_made_bit_by_bit(alphabet):
    chance = random.Random(1)
    for _ in range(500):
        line = "".join(chance.choices(alphabet, k=chance.randrange(60)))
        width = chance.randrange(8, 20)
        rows = wrap(line, width)
        assert "".join(rows) == line
        for row in rows:
            assert cell_len(expand_tabs(row).removesuffix(" ")) <= width or row.endswith("\t")
        cut = chance.randrange(len(line) + 1)
        *begun, last = wrap(line[:cut], width)
        assert begun + wrap(last + line[cut:], width) == rows


def test_characters_without_a_width_end_a_row_at_some_time():
    rows = wrap("e" + "\u0301" * 10_000, 20)
    assert max(map(len, rows)) <= 160


def test_tabs_go_to_the_next_multiple_of_eight_cells():
    assert expand_tabs("a\tb\t") == "a       b       "
    assert expand_tabs("世界世界\tb") == "世界世界        b"
