"""The transcript by itself: what it follows, and what stays in place."""

import pytest
from support.terminal_app import drive, resize, screen
from textual.app import App

from ratatoskr.tui.scrollback import Kind, Scrollback
from ratatoskr.tui.transcript import Transcript


class Shown(App[None]):
    """An app with nothing but a transcript, its rows of 79 columns."""

    def __init__(self, **limits):
        super().__init__()
        self.transcript = Transcript(Scrollback(**limits))

    def compose(self):
        yield self.transcript


def lines(count):
    return [(Kind.EVENT, f"line {number}") for number in range(count)]


def test_it_follows_the_end_unless_one_reads_above():
    async def scenario(pilot):
        app, transcript = pilot.app, pilot.app.transcript
        transcript.focus()
        transcript.add([(Kind.TEXT, "\n".join(f"line {number}" for number in range(100)))])
        await pilot.pause()
        assert screen(app)[-1] == "line 99"
        await pilot.press("pageup")
        await pilot.pause()
        top = screen(app)[0]
        assert top < "line 80"
        transcript.add([(Kind.TEXT, "\nmore")])
        await pilot.pause()
        assert screen(app)[0] == top
        transcript.follow()
        transcript.add([(Kind.TEXT, "\nand more")])
        await pilot.pause()
        assert screen(app)[-2:] == ["more", "and more"]

    drive(Shown(), scenario)


def test_what_one_reads_stays_in_place_while_lines_are_dropped():
    async def scenario(pilot):
        app, transcript = pilot.app, pilot.app.transcript
        transcript.add(lines(100))
        transcript.scroll_to(y=50, animate=False)
        await pilot.pause()
        assert screen(app)[0] == "line 50"
        transcript.add(lines(10))
        await pilot.pause()
        assert screen(app)[0] == "line 50"
        transcript.add(lines(60))
        await pilot.pause()
        assert screen(app)[0] == "line 70"  # the first that is left

    drive(Shown(max_lines=100), scenario)


SIZES = [(20, 10), (200, 50), (60, 8), (80, 24)]


@pytest.mark.no_cover  # no line that other tests do not reach
def test_resizing_keeps_the_end():
    async def scenario(pilot):
        transcript = pilot.app.transcript
        transcript.add([(Kind.TEXT, " ".join(f"word {number}" for number in range(500)))])
        whole = transcript.text
        for size in SIZES:
            await resize(pilot, *size)
            assert transcript.text == whole
            assert "word 499" in "\n".join(screen(pilot.app)).replace("\n", " ")

    drive(Shown(), scenario)


@pytest.mark.parametrize("place", ["in a long line", "in a list"])
def test_resizing_keeps_the_place_that_one_reads(place):
    async def scenario(pilot):
        app, transcript = pilot.app, pilot.app.transcript
        words = " ".join(f"word {number}" for number in range(1500))
        transcript.add([(Kind.TEXT, words), *lines(200)])
        y = 70 if place == "in a long line" else 200
        transcript.scroll_to(y=y, animate=False)
        await pilot.pause()
        top = screen(app)[0]
        for size in [(40, 24), (200, 50), (60, 8), (80, 24)]:
            await resize(pilot, *size)
            assert top[:9] in " ".join(screen(app)[:2])
        assert screen(app)[0] == top

    drive(Shown(), scenario)
