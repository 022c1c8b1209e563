"""What the keys of the terminal app do."""

import asyncio
import os

import pytest
from support.terminal_app import (
    FakeTurn,
    answering,
    done,
    drive,
    idle_again,
    is_enabled,
    resize,
    screen,
    send,
    shown,
    text,
    until,
)

from ratatoskr.demo_server import DemoServer, Script
from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr_proto import SseConnectFailed, SseConnectionDropped, SseId

DROPPED = SseConnectionDropped(SseId(93, 1), "reset")


def test_enter_sends_what_there_is_and_only_when_idle():
    gate = asyncio.Event()

    async def scenario(pilot):
        app = pilot.app
        await pilot.press("enter")
        assert (shown(app), app.state) == ("", AppState.IDLE)
        await pilot.press("H", "i", "enter")
        assert app.state is AppState.STREAMING
        await pilot.press("y", "o", "enter")
        assert app.asked == ["Hi"]
        gate.set()
        await idle_again(pilot)
        await pilot.press("u", "enter")
        await until(pilot, lambda: app.asked == ["Hi", "you"])
        await idle_again(pilot)
        assert shown(app) == "> Hi\n[done]\n> you\n[done]\n"

    drive(answering(FakeTurn(gate, done()), FakeTurn(done())), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_escape_cancels_at_once():
    turn = FakeTurn(text("Hi"), asyncio.Event(), text("never"))

    async def scenario(pilot):
        app = pilot.app
        await pilot.press("escape")
        assert shown(app) == ""
        await send(pilot, "one")
        await until(pilot, lambda: "Hi" in shown(app))
        await pilot.press("escape")
        assert app.state is AppState.IDLE
        assert shown(app) == "> one\nHi\n[cancelled] last_sse_id=93:1\n"
        await until(pilot, lambda: turn.left)
        await send(pilot, "two")
        await idle_again(pilot)
        assert shown(app) == "> one\nHi\n[cancelled] last_sse_id=93:1\n> two\n[done]\n"

    drive(answering(turn, FakeTurn(done())), scenario)


def test_ctrl_r_resumes_a_dropped_turn_until_it_is_done():
    async def scenario(pilot):
        app = pilot.app
        await pilot.press("ctrl+r")
        assert app.asked == []
        await send(pilot, "one")
        for _ in range(3):
            await idle_again(pilot)
            assert is_enabled(app, "resume")
            await pilot.press("ctrl+r")
        await until(pilot, lambda: "waiting" in shown(app))
        await pilot.press("escape")  # it is still a dropped one
        assert is_enabled(app, "resume")
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "[done]" in shown(app))
        assert not is_enabled(app, "resume")
        assert app.asked == ["one", *[SseId(93, 1)] * 2, SseId(93, 2), SseId(93, 3)]
        assert "[resume] last_sse_id=93:2\n" in shown(app)

    at = SseId(93, 1)
    turns = [
        FakeTurn(text("Hi"), DROPPED),
        FakeTurn(opening=SseConnectFailed(None, "", "refused"), last_sse_id=at),
        FakeTurn(text(" you", 2), SseConnectionDropped(SseId(93, 2), "reset"), last_sse_id=at),
        FakeTurn(text("waiting", 3), asyncio.Event(), last_sse_id=SseId(93, 2)),
        FakeTurn(done(4), last_sse_id=SseId(93, 3)),
    ]
    drive(answering(*turns), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_ctrl_r_does_nothing_while_a_turn_runs():
    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "one")
        await idle_again(pilot)
        await send(pilot, "two")
        await pilot.press("ctrl+r")
        assert app.asked == ["one", "two"]
        assert "[resume]" not in shown(app)

    drive(answering(FakeTurn(text("Hi"), DROPPED), FakeTurn(asyncio.Event())), scenario)


def test_a_turn_dropped_again_and_again_by_the_server_comes_whole():
    async def scenario(pilot):
        app = pilot.app
        async with DemoServer(Script()).listening() as base_url:
            app._conversation.url = f"{base_url}/turns?drop-every=3&events=8"
            await send(pilot, "Hi")
            for _ in range(2):
                await idle_again(pilot)
                await pilot.press("ctrl+r")
            await until(pilot, lambda: "[done]" in shown(app))
        said = [line for line in shown(app).splitlines() if not line.startswith("[")]
        assert "".join(said[1:]) == "You said: HiRatatoskr runs up and do"[: len("".join(said[1:]))]
        assert shown(app).count("[resume]") == 2
        await pilot.press("f3")
        await until(pilot, lambda: any("Ratatoskr" in row for row in screen(app)))

    drive(RatatoskrApp("http://127.0.0.1/"), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_a_new_message_gives_the_dropped_turn_up():
    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "one")
        await idle_again(pilot)
        await send(pilot, "two")
        await until(pilot, lambda: "[done]" in shown(app))
        assert not is_enabled(app, "resume")

    drive(answering(FakeTurn(text("Hi"), DROPPED), FakeTurn(done())), scenario)


async def click(pilot, key):
    """Click where the key bar shows a key."""
    x = screen(pilot.app)[-1].index(key) + 1
    await pilot.click("KeyBar", offset=(x, 0))


def test_a_key_in_the_key_bar_may_be_clicked_as_soon_as_it_does_something():
    gate = asyncio.Event()

    async def scenario(pilot):
        app = pilot.app
        await until(pilot, lambda: "F3 Markdown" in screen(app)[-1])
        await click(pilot, "F3 Markdown")
        assert not app.query_one("#answer").display
        await send(pilot, "one")
        await click(pilot, "F1 Help")
        gate.set()
        await idle_again(pilot)  # while the help is shown
        await click(pilot, "Esc Back")
        await until(pilot, lambda: is_enabled(app, "resume"))
        await click(pilot, "F3 Markdown")
        await until(pilot, lambda: app.query_one("#answer").display)

    drive(answering(FakeTurn(text("# Hi"), gate, DROPPED)), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_the_key_bar_is_whole_again_after_a_resize():
    async def scenario(pilot):
        await until(pilot, lambda: "F3 Markdown" in screen(pilot.app)[-1])
        await resize(pilot, 60, 12)
        assert screen(pilot.app)[-1].endswith("^C Quit")
        await resize(pilot, 40, 24)
        rows = ["Enter Send          Esc Cancel", "^R Resume           F1 Help"]
        assert screen(pilot.app)[-4:-2] == rows
        await resize(pilot, 120, 30)
        assert screen(pilot.app)[-1].endswith("^F Search  F4 Reconnect")

    drive(answering(), scenario)


def test_ctrl_s_saves_to_a_new_file_each_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot):
        app = pilot.app
        await pilot.press("ctrl+s")
        (first,) = tmp_path.iterdir()
        assert first.name.startswith("ratatoskr-2")
        assert first.read_text() == ""
        await send(pilot, "Grüße")
        await idle_again(pilot)
        await pilot.press("ctrl+s", "ctrl+s")
        assert (tmp_path / "ratatoskr-turn-93.txt").read_text(encoding="utf-8") == (
            f"[saved] {first}\n> Grüße\nHi\t\\x1b you\n[done]\n"
        )
        assert f"[saved] {tmp_path / 'ratatoskr-turn-93-2.txt'}\n" in shown(app)

    drive(answering(FakeTurn(text("Hi\t\x1b you"), done())), scenario, size=(20, 24))


def test_a_place_that_cannot_be_written_is_a_line(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    async def scenario(pilot):
        await pilot.press("ctrl+s")
        assert shown(pilot.app) == "[not_saved] No such file or directory\n"

    drive(answering(), scenario)
    os.chdir(tmp_path)


MARKDOWN = (
    "# Title\n\nSee [here](https://example.com), *now* [bold]x[/] &#x202e;\x1b[31m\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n" + "\n".join(f"- item {n}" for n in range(100))
)


def test_f3_shows_the_last_turn_as_markdown_and_the_transcript_again(monkeypatch):
    monkeypatch.setattr("ratatoskr.tui.markdown._MAX_LINES", 60)

    async def scenario(pilot):
        app = pilot.app
        assert not is_enabled(app, "markdown")
        await send(pilot, "one")
        await idle_again(pilot)
        await pilot.press("f3")
        await until(pilot, lambda: "Title" in screen(app)[0])
        said = "\n".join(screen(app))
        assert r"See here (https://example.com), now [bold]x[/] \u202e\x1b[31m" in said
        assert "# Title" not in said
        await pilot.press("ctrl+end")
        await until(pilot, lambda: "The rest is in the transcript." in "\n".join(screen(app)))
        await pilot.press("ctrl+home", "pagedown", "pageup")
        await until(pilot, lambda: "Title" in screen(app)[0])
        await pilot.press("f3")
        await until(pilot, lambda: screen(app)[18] == " [done]")
        await pilot.press("f3")
        await send(pilot, "two")
        await until(pilot, lambda: screen(app)[18] == " [done]")
        assert screen(app)[17] == " > two"

    drive(answering(FakeTurn(text(MARKDOWN), done()), FakeTurn(done())), scenario)
