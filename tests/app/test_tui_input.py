"""The message that is written in the terminal app, and how the app is left."""

import asyncio

import pytest
from support.terminal_app import (
    FakeTurn,
    answering,
    done,
    drive,
    idle_again,
    send,
    shown,
    text,
    until,
)
from textual import events
from textual._xterm_parser import XTermParser

from ratatoskr.tui import AppState


def written(app):
    return app.query_one("#message").text


def test_lines_are_broken_pasted_and_sent():
    async def scenario(pilot):
        app = pilot.app
        await pilot.press("a", "ctrl+j", "b", "alt+enter", "c")
        assert written(app) == "a\nb\nc"
        assert app.query_one("#message").outer_size.height == 5
        app.post_message(events.Paste("1\r\n2\r\t\x1b[31m"))
        await until(pilot, lambda: written(app) == "a\nb\nc1\n2\n\t\\x1b[31m")
        await pilot.press("enter")
        await idle_again(pilot)
        assert app.asked == ["a\nb\nc1\n2\n\t\\x1b[31m"]
        assert shown(app) == "> a\n  b\n  c1\n  2\n  \t\\x1b[31m\n[done]\n"
        assert (written(app), app.query_one("#message").outer_size.height) == ("", 3)

    drive(answering(FakeTurn(done())), scenario)


def test_keys_that_come_in_one_go_are_taken_in_their_order():
    async def scenario(pilot):
        app = pilot.app
        for key in ["a", "ctrl+j", "b", "enter", "c"]:
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: written(app) == "c")
        assert app.asked == ["a\nb"]

    drive(answering(FakeTurn(asyncio.Event())), scenario)


def test_alt_enter_of_a_terminal_breaks_the_line():
    (event,) = XTermParser().feed("\x1b\r")
    assert event.key == "ctrl+j"


def test_up_and_down_recall_messages():
    async def scenario(pilot):
        app = pilot.app
        await pilot.press("up")
        assert written(app) == ""
        for message in ("one", "two\nlines", "two\nlines"):
            await send(pilot, message)
            await idle_again(pilot)
        await pilot.press("d", "up")
        assert written(app) == "two\nlines"
        await pilot.press("up")  # within the message
        assert written(app) == "two\nlines"
        await pilot.press("up", "up")
        assert written(app) == "one"
        await pilot.press("down", "down")
        assert written(app) == "d"
        await pilot.press("down")
        assert written(app) == "d"

    drive(answering(*(FakeTurn(done()) for _ in range(3))), scenario)


def test_ctrl_c_cancels_and_then_asks_before_it_quits():
    turn = FakeTurn(text("Hi"), asyncio.Event())

    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "one")
        await until(pilot, lambda: "Hi" in shown(app))
        await pilot.press("ctrl+c")
        assert (app.state, app.is_running) == (AppState.IDLE, True)
        await pilot.press("ctrl+c", "escape")
        assert app.is_running
        await pilot.press("ctrl+c", "ctrl+c")
        await until(pilot, lambda: not app.is_running)

    app = answering(turn)
    drive(app, scenario)
    assert (turn.left, app.return_code) == (True, 0)


@pytest.mark.parametrize("keys", [["ctrl+s", "ctrl+c"], ["ctrl+c", "ctrl+s"]])
def test_what_is_saved_is_left_without_a_question(keys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        await pilot.press(*keys)
        await until(pilot, lambda: not pilot.app.is_running)

    drive(answering(FakeTurn(text("Hi"), done())), scenario)
    assert (tmp_path / "ratatoskr-turn-93.txt").read_text() == "> one\nHi\n[done]\n"


def test_an_empty_transcript_is_left_at_once():
    async def scenario(pilot):
        await pilot.press("f1", "ctrl+c", "ctrl+c")
        await until(pilot, lambda: not pilot.app.is_running)

    drive(answering(), scenario)
