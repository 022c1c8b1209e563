"""How the screen of the terminal app looks, row by row."""

import asyncio
import json

import pytest
from support.terminal_app import (
    FakeTurn,
    answering,
    done,
    drive,
    idle_again,
    is_enabled,
    screen,
    seen,
    send,
    shown,
    text,
    until,
)

from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr_proto import SseConnectionDropped, SseId, Unknown

pytestmark = pytest.mark.no_cover  # no line that other tests do not reach

BORDER_TOP, BORDER_END = "▊" + "▔" * 78 + "▎", "▊" + "▁" * 78 + "▎"
KEYS = " Enter Send  Esc Cancel  ^R Resume  F1 Help  ^C Quit  ^S Save  F3 Markdown"
HELP_KEYS = " Esc Back"
IDLE_HINT = "Type a message; Enter sends it"
STREAMING_HINT = "Esc cancels; the next message can be typed meanwhile"


def rows(transcript, hint, status, keys=KEYS):
    """The rows of a screen of 80 columns and 24 lines."""
    assert len(transcript) <= 19
    middle = f"▊  {hint:<74}  ▎"
    blank = [""] * (19 - len(transcript))
    return [*transcript, *blank, BORDER_TOP, middle, BORDER_END, status, keys]


def test_screen_when_idle_with_its_own_server():
    async def scenario(pilot):
        line = " A demo server of the app's own answers. F1 shows the keys."
        server = pilot.app._conversation.names[0]
        assert server.startswith("127.0.0.1:")
        await seen(pilot, rows([line], IDLE_HINT, f" idle · {server}"))

    drive(RatatoskrApp(), scenario)


def test_screen_while_streaming_and_when_done():
    async def scenario(pilot):
        app = pilot.app
        gate = asyncio.Event()
        body = {"type": "tool_call", "name": "saw [x]"}
        tool = Unknown("tool_call", sse_id=SseId(93, 2), body=body)
        app.turns.append(FakeTurn(text("Hi\nyou"), tool, text("!", 3), gate, done(4)))
        await send(pilot, "Hello [bold]you[/]")
        await until(pilot, lambda: "!" in shown(app))
        label_line = json.dumps({"type": "tool_call", "sse_id": "93:2", "body": body})
        said = f"[tool_call] {label_line}"
        transcript = [" > Hello [bold]you[/]", " Hi", " you", f" {said[:74]}".rstrip()]
        await pilot.pause()
        status = " streaming · last 93:3 · 3 events · N/s · silent N s"
        now = screen(app)
        assert now[:3] == transcript[:3]
        assert "".join(now[3:5]).replace(" ", "") == said.replace(" ", "")
        assert now[5:] == rows(["", "", "", "", "", " !"], STREAMING_HINT, status)[5:]
        assert (app.state, is_enabled(app, "cancel")) == (AppState.STREAMING, True)
        assert not is_enabled(app, "send")
        gate.set()
        await idle_again(pilot)
        await pilot.pause()
        status = " idle · last 93:4 · 4 events · N/s"
        assert screen(app)[6:] == rows(["", "", "", "", "", "", " [done]"], IDLE_HINT, status)[6:]
        assert is_enabled(app, "send")
        assert not is_enabled(app, "cancel")

    turns = []
    app = RatatoskrApp(open_turn=lambda _: turns.pop(0))
    app.turns = turns
    drive(app, scenario)


def test_screen_after_an_error():
    async def scenario(pilot):
        await send(pilot, "Hello")
        await idle_again(pilot)
        transcript = [
            " > Hello",
            " Hi",
            " [connection_dropped] last_sse_id=93:1 reason='reset'",
        ]
        status = " idle · last 93:1 · 1 events · N/s"
        await seen(pilot, rows(transcript, IDLE_HINT, status))
        assert is_enabled(pilot.app, "resume")

    drive(answering(FakeTurn(text("Hi"), SseConnectionDropped(SseId(93, 1), "reset"))), scenario)


def test_help_and_back():
    async def scenario(pilot):
        app = pilot.app
        await pilot.press("f1")
        await until(pilot, lambda: "Ctrl-R" in "\n".join(screen(app)))
        now = screen(app)
        assert now[1].startswith("  Ratatoskr talks to a chat server or to a model. Each answer")
        assert "  Esc        cancels the turn that is running" in now
        assert now[-1] == HELP_KEYS
        await pilot.press("end")
        await until(pilot, lambda: "20,000 lines" in "\n".join(screen(app)))
        await pilot.press("escape")
        await until(pilot, lambda: screen(app)[-1] == KEYS)
        await pilot.press("tab", "question_mark")
        await until(pilot, lambda: screen(app)[-1] == HELP_KEYS)
        await pilot.press("q", "tab", "question_mark")
        await until(pilot, lambda: app.query_one("#message").text == "?")

    drive(answering(), scenario)


def test_screen_of_20_columns():
    async def scenario(pilot):
        await send(pilot, "Hello there, squirrel")
        await idle_again(pilot)
        await pilot.pause()
        rows = screen(pilot.app)
        assert rows.pop(11).startswith(" idle 93:2 2ev")
        assert rows == [
            " > Hello there,",
            " squirrel",
            " xxxxxxxxxxxxxxxxx",
            " xxxxxxxx and",
            " words",
            " [done]",
            *[""] * 2,
            "▊" + "▔" * 18 + "▎",
            "▊  Type a          ▎",
            "▊" + "▁" * 18 + "▎",
            "Enter SendEsc Cancel",
            "^R Resume F1 Help",
            "^C Quit   ^S Save",
            "F3 MarkdowF5 Frames",
        ]

    drive(answering(FakeTurn(text("x" * 25 + " and words"), done())), scenario, size=(20, 16))


def test_screen_of_a_few_lines():
    async def scenario(pilot):
        await until(pilot, lambda: screen(pilot.app)[-1] == KEYS)
        assert screen(pilot.app) == ["", f" {IDLE_HINT}", " idle", KEYS]

    drive(answering(), scenario, size=(80, 4))
