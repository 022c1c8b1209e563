"""What of a server's text is escaped before a terminal sees it, and what is left alone."""

import pytest

from ratatoskr._shown.visible import printable, visible

HARMFUL = [
    *[chr(code) for code in range(0x20) if chr(code) not in "\t\n"],
    *[chr(code) for code in range(0x7F, 0xA0)],
    *"\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
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
        "no-break\xa0space, soft\xadhyphen, zero\u200bwidth",
    ],
)
def test_all_other_text_is_left_alone(function, text):
    assert function(text) == text


def test_tabs_and_line_feeds_stay_unless_it_is_to_be_one_line():
    assert visible("a\tb\nc") == "a\tb\nc"
    assert printable("a\tb\nc") == r"a\tb\nc"
