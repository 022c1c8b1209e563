"""Searching, copying, times and recordings in the terminal app, and the frames as they came."""

import asyncio
import json
import os
import re

import pytest
from support.frames import frame
from support.terminal_app import (
    FakeTurn,
    answering,
    done,
    drive,
    idle_again,
    screen,
    send,
    shown,
    text,
    until,
)

from ratatoskr._shown.recording import RecordedStream
from ratatoskr.tui.frames import FrameLog
from ratatoskr.tui.screens import UnsavedScreen
from ratatoskr.tui.scrollback import Kind


class Tapped(FakeTurn):
    """A turn whose body came in these chunks."""

    reconnects = 0

    def __init__(self, *script, body=()):
        super().__init__(*script)
        self._body = body

    def tap(self, receive):
        self._receive = receive

    async def __aenter__(self):
        for chunk in self._body:
            self._receive(chunk)
        return self


def marked(app):
    """The parts of the screen that are marked, in reverse."""
    strips = app.screen._compositor.render_strips()
    reverse = [each for strip in strips[:-5] for each in strip if each.style and each.style.reverse]
    return [each.text for each in reverse if each.text.isprintable() and "i" in each.text]


def test_search_goes_from_match_to_match():
    async def scenario(pilot):
        app = pilot.app
        transcript = app.query_one("#transcript")
        transcript.add([(Kind.EVENT, f"line\t{n} is [here]") for n in range(100)])
        await pilot.press("tab", "slash", *"LINE", "tab")
        await pilot.press("ctrl+f", "home", "shift+end", *"7 Is [", "enter")
        await until(pilot, lambda: any("line    87 is" in row for row in screen(app)))
        assert set(marked(app)) == {"7 is ["}
        for key, line in [("n", 97), ("n", 7), ("n", 17), ("N", 7), ("N", 97), ("N", 87)]:
            await pilot.press(key)
            await until(pilot, lambda line=line: any(f" {line} is" in row for row in screen(app)))
        await pilot.press("slash", "home", "shift+end", *"nowhere", "enter")
        await until(pilot, lambda: screen(app)[-2] == " nothing matches nowhere")
        await pilot.press("ctrl+f")
        assert screen(app)[-2] == " idle"
        await pilot.press("escape", "n")
        assert app.query_one("#message").text == "n"

    drive(answering(), scenario)


def test_ctrl_y_copies_the_answer_escaped_or_what_is_selected():
    async def scenario(pilot):
        app = pilot.app
        await pilot.press("ctrl+y")
        assert screen(app)[-2] == " there is nothing to copy yet"
        await send(pilot, "one")
        await idle_again(pilot)
        await pilot.press("ctrl+y")
        assert app.clipboard == "a\tb\n\\x1b[31m\\u202e" + "x" * 100
        assert screen(app)[-2] == " copied 118 characters"
        await pilot.mouse_down("#transcript", offset=(2, 1))
        await pilot.hover("#transcript", offset=(5, 3))
        await pilot.mouse_up("#transcript", offset=(5, 3))
        await pilot.press("ctrl+y")
        assert app.clipboard == "\tb\n\\x1b[31m\\u202e" + "x" * 68
        await pilot.press("ctrl+c")
        assert isinstance(app.screen, UnsavedScreen)  # though there is a selection

    said = "a\tb\n\x1b[31m\u202e" + "x" * 100
    drive(answering(FakeTurn(text(said), done())), scenario)


def test_times_are_shown_on_a_key():
    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "one")
        await idle_again(pilot)
        before = shown(app)
        await pilot.press("f7")
        await pilot.pause()
        first, second, third, last = screen(app)[:4]
        assert re.fullmatch(r" \d\d:\d\d:\d\d > one", first)
        assert re.fullmatch(r" \d\d:\d\d:\d\d x{68}", second)
        assert third == " " * 10 + "x" * 12
        assert re.fullmatch(r" \d\d:\d\d:\d\d \[done\]", last)
        await pilot.press("f7")
        await pilot.pause()
        assert screen(app)[:2] == [" > one", " " + "x" * 77]
        assert shown(app) == before

    drive(answering(FakeTurn(text("x" * 80), done())), scenario)


def test_turns_are_recorded_from_the_next_one_on(tmp_path):
    bodies = [frame(1, type="text", text="Hi"), frame(2, type="done")]
    turns = [Tapped(text("Hi"), done(), body=bodies) for _ in range(4)]

    async def scenario(pilot):
        for number in range(4):
            await send(pilot, "one")
            await idle_again(pilot)
            if number in (1, 2):
                await pilot.press("f8")
        assert "[record] off\n> one\nHi\n[done]\n[record] on\n" in shown(pilot.app)

    drive(answering(*turns, record=str(tmp_path / "turns.jsonl")), scenario)
    names = ["turns-2.jsonl", "turns-3.jsonl", "turns.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name in names:
        with open(tmp_path / name, "rb") as file:
            stream = RecordedStream(file.read)
            assert list(stream) == bodies
            assert stream.end_reason == "end of stream"


@pytest.mark.no_cover  # no line that other tests do not reach
def test_a_recording_that_cannot_be_written_is_a_line(tmp_path):
    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        line = f"[not_recorded] cannot write {str(tmp_path)!r}: Is a directory"
        assert shown(pilot.app).startswith(f"> one\n{line}")
        assert shown(pilot.app).endswith("Hi\n[done]\n")

    drive(answering(Tapped(text("Hi"), done(), body=[b":\n"]), record=str(tmp_path)), scenario)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_recording_that_fails_is_one_line_and_the_turn_goes_on():
    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        line = "[not_recorded] cannot write '/dev/full': No space left on device"
        assert shown(pilot.app) == f"> one\n{line}\nHi\n[done]\n"

    turn = Tapped(text("Hi"), done(), body=[b":\n", b":\n"])
    drive(answering(turn, record="/dev/full"), scenario)


FRAMES = [
    (b'retry: 250\nid: 93:1\nevent: word\ndata: {"a"', None),
    (b": 1}\n\n: keep-alive\n\nid: 93:2\n\n", None),
    (b"id: 93:3\ndata:\n\ndata: \x1b[31m\tx\n\n", None),
]
ROWS = [
    "retry: 250 ms",
    '93:1 word {"a": 1}',
    "comment keep-alive",
    "93:2 skipped: an id and no data",
    "93:3 skipped: empty data",
    r"93:3 message \x1b[31m\tx",
]


def test_f5_shows_the_frames_of_the_turn_as_they_came():
    gate = asyncio.Event()

    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "one")
        await until(pilot, lambda: "Hi" in shown(app))
        await pilot.press("f5")
        await until(pilot, lambda: "keep-alive" in "\n".join(screen(app)))
        now = screen(app)
        assert now[0] == " 2 events · 1 comments · 2 skipped · retry 250 ms · last id 93:3"
        rows = [" ".join(row.split()) for row in now[1:7]]
        assert [row.split(" B ")[1].removeprefix("- ") for row in rows] == ROWS
        await pilot.press("tab", "right", "pageup", "ctrl+end")
        gate.set()
        await idle_again(pilot)
        await pilot.press("f5")
        await until(pilot, lambda: screen(app)[0] == " > one")

    turn = Tapped(text("Hi"), gate, done(), body=[chunk for chunk, _ in FRAMES])
    drive(answering(turn), scenario)


def test_frames_are_counted_over_connections_and_the_newest_are_kept():
    now = [10.0]
    log = FrameLog(lambda: now[0])
    now[0] = 11.5
    log.receive(b"id: 1\ndata: cut")
    log.receive(b"data: whole\n\n" * 6000, reconnects=1)
    assert (log.added, len(log.frames)) == (6001, 5000)
    first, last = log.frames[0], log.frames[-1]
    assert (last.seconds, last.size, last.what, last.data) == (1.5, 13, "message", "whole")
    assert first == last
    log.clear()
    log.receive(b"", reconnects=1)
    log.receive(b"data: " + b"x" * (16 * 1024 * 1024) + b"\n\n", reconnects=1)
    assert [each.what for each in log.frames] == [
        "another connection",
        "skipped: an event of more than 16777216 bytes",
    ]


def test_frames_of_json_stay_on_their_row():
    log = FrameLog()
    log.receive(f"data: {json.dumps('x' * 10_000)}\ndata: \u2028\n\n".encode())
    assert len(log.frames[0].data) == 500
    assert log.frames[0].text.isprintable()
