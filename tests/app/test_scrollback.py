"""What the transcript keeps, against a string from which characters are dropped one by one."""

import random

import pytest

from ratatoskr.tui.scrollback import Kind, Scrollback

PIECES = ["", "a", "ab cd", "\n", "\n\n", "x\ny", "one\ntwo\n", "word " * 5, "世界" * 4, "\n" * 9]
KINDS = [Kind.TEXT, Kind.TEXT, Kind.TEXT, Kind.EVENT]


def kept_of(text, max_lines, max_chars):
    """What is kept of a text: lines are dropped at its start, and then characters."""
    while text.count("\n") > max_lines:
        text = text[text.index("\n") + 1 :]
    while len(text) - text.count("\n") > max_chars:
        text = text.removeprefix("\n") if text[0] == "\n" else text[1:].removeprefix("\n")
    return text


def rows_of(scrollback):
    return [row.text for row in scrollback.rows]


def compare(chance):
    max_lines, max_chars = chance.randrange(1, 9), chance.randrange(1, 60)
    kept = Scrollback(chance.randrange(1, 9), max_lines=max_lines, max_chars=max_chars)
    everything = Scrollback(kept.width)
    text = ""
    for _ in range(30):
        pieces = [(chance.choice(KINDS), chance.choice(PIECES)) for _ in range(chance.randrange(3))]
        for kind, piece in pieces:
            if kind is Kind.TEXT:
                text += piece
            else:
                text += ("\n" if text and not text.endswith("\n") else "") + f"{piece}\n"
        text = kept_of(text, max_lines, max_chars)
        before = rows_of(kept)
        dropped = kept.add(pieces)
        everything.add(pieces)
        assert kept.text == text
        assert everything.text.endswith(text)
        assert "".join(rows_of(kept)) == text.replace("\n", "")
        shared = before[dropped + 1 : -1]  # the first may have been cut, the last may go on
        assert rows_of(kept)[1 : 1 + len(shared)] == shared
    rows = rows_of(everything)
    everything.wrap_again(everything.width)
    assert rows_of(everything) == rows  # as if it had come at once


def test_the_newest_lines_and_characters_are_kept():
    for seed in range(60):
        compare(random.Random(seed))


@pytest.mark.no_cover  # no line that other tests do not reach
def test_a_place_is_found_again_at_any_width():
    scrollback = Scrollback(10)
    words = " ".join(f"word{number}" for number in range(20))
    scrollback.add([(Kind.EVENT, "one"), (Kind.EVENT, ""), (Kind.TEXT, f"{words}\n{words}")])
    for number in range(len(scrollback.rows)):
        scrollback.wrap_again(10)
        place = scrollback.place_of(number)
        for width in (5, 33, 10):
            scrollback.wrap_again(width)
            row = scrollback.rows[scrollback.row_of(place)]
            assert row.line is place.line
            assert row.start <= place.offset <= row.end
        assert scrollback.row_of(place) == number
    assert scrollback.place_of(len(scrollback.rows)) is None


def test_a_place_that_was_dropped_is_the_first_row():
    scrollback = Scrollback(max_lines=2)
    scrollback.add([(Kind.EVENT, "one")])
    place = scrollback.place_of(0)
    scrollback.add([(Kind.EVENT, "two"), (Kind.EVENT, "three")])
    assert scrollback.row_of(place) == 0


@pytest.mark.no_cover  # no line that other tests do not reach
def test_of_a_hundred_thousand_lines_only_those_that_are_kept_are_made(monkeypatch):
    wrapped = []

    def wrap(line, width):
        wrapped.append(line)
        return [line]

    monkeypatch.setattr("ratatoskr.tui.scrollback.wrap", wrap)
    scrollback = Scrollback()
    scrollback.add([(Kind.TEXT, "\n" * 100_000 + "end")])
    assert len(wrapped) == 20_001
    assert scrollback.text == "\n" * 20_000 + "end"


def test_matches_are_found_in_both_directions_and_around():
    scrollback = Scrollback(10)
    scrollback.add([(Kind.TEXT, "ab AB\nno\nab"), (Kind.REASONING, "ab"), (Kind.EVENT, "xab")])
    lines = {id(row.line): number for number, row in enumerate(scrollback.rows)}
    places = [(0, 0), (0, 3), (2, 0), (4, 1)]

    def walk(backwards):
        place = None
        for _ in range(6):
            place = scrollback.find("aB", place, backwards=backwards)
            yield lines[id(place.line)], place.offset

    assert list(walk(False)) == [*places, *places[:2]]
    assert list(walk(True)) == [*reversed(places), *reversed(places[2:])]
    assert scrollback.find("nowhere", None) is None
    assert scrollback.find("nowhere", scrollback.place_of(0), backwards=True) is None


def test_a_place_in_folded_reasoning_is_the_row_before():
    scrollback = Scrollback(10)
    scrollback.folded = False
    scrollback.add([(Kind.EVENT, "x"), (Kind.REASONING, "one\ntwo\nthree"), (Kind.TEXT, "text")])
    place = scrollback.place_of(3)
    scrollback.folded = True
    scrollback.wrap_again(10)
    assert rows_of(scrollback) == ["x", "▸ reasoning (F6 unfolds it)", "text"]
    assert scrollback.row_of(place) == 1
