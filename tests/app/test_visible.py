"""Which parts of a server's text are escaped before a terminal sees it, and which are left
alone.
"""

import pytest

from ratatoskr._shown.visible import HalfKeeper, printable, visible

pytestmark = pytest.mark.no_cover  # no line that other tests do not reach

HARMFUL = [
    *[chr(code) for code in range(0x20) if chr(code) not in "\t\n"],
    *[chr(code) for code in range(0x7F, 0xA0)],
    *"\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u061c\u200b\u200e\u200f\u2060\u2064\u206f\ufeff\U000e0001\U000e0041\U000e007f",
    *"\ud800\udbff\udc00\udfff",
]


@pytest.mark.parametrize("function", [visible, printable])
@pytest.mark.parametrize("char", HARMFUL, ids=ascii)
def test_harmful_characters_are_escaped_as_repr_does(function, char):
    shown = function(f"a{char}b")
    assert shown == f"a{repr(char)[1:-1]}b"
    assert shown.isprintable()


def test_each_of_many_is_escaped():
    assert visible("\x1b[31m\x00\x00\x9b") == r"\x1b[31m\x00\x00\x9b"


@pytest.mark.parametrize("function", [visible, printable])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain, 'quoted' \"twice\" and \\x1b as text",
        "[bold] [/] [link=https://example.com]x[/link]",
        "Ратато́ск 世界樹 يركض शाखा \U0001f43f\ufe0f \U0001f469\u200d\U0001f680",
        "no-break\xa0space, soft\xadhyphen, zero\u200c\u200dwidth",
        "\U0001f1e9\U0001f1ea \U0001f3f4",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    ],
)
def test_all_other_text_is_left_alone(function, text):
    assert function(text) == text


def test_tabs_and_line_feeds_stay_unless_it_is_to_be_one_line():
    assert visible("a\tb\nc") == "a\tb\nc"
    assert printable("a\tb\nc") == r"a\tb\nc"


@pytest.mark.parametrize("tags", ["gb", "gbeng", "gbxxx\x7f", "gb\x7f", "usca\x7f"])
def test_tags_that_are_no_flag_of_a_country_are_escaped(tags):
    flag = "\U0001f3f4"
    tagged = "".join(chr(0xE0000 + ord(char)) for char in tags)
    assert visible(flag + tagged) == flag + repr(tagged)[1:-1]


def test_surrogates_that_are_a_pair_become_one_character():
    assert visible("\ud83d\udc3f \udc3f\ud83d \ud83d\ud83d\udc3f") == (
        "\U0001f43f \\udc3f\\ud83d \\ud83d\U0001f43f"
    )


@pytest.mark.parametrize(
    ("pieces", "whole", "rest"),
    [
        (["a\ud83d", "\udc3fb"], ["a", "\U0001f43fb"], ""),
        (["\ud83d", "", "\udc3f"], ["", "", "\U0001f43f"], ""),
        (["\ud83d", "b"], ["", "\\ud83db"], ""),
        (["\ud83d", "\ud83d"], ["", "\\ud83d"], "\\ud83d"),
        (["\udc3f", "a"], ["\\udc3f", "a"], ""),
    ],
    ids=ascii,
)
def test_a_half_is_kept_until_more_comes(pieces, whole, rest):
    halves = HalfKeeper()
    assert [visible(halves.add(piece)) for piece in pieces] == whole
    assert visible(halves.rest()) == rest
    assert halves.rest() == ""
