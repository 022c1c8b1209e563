"""Nothing that a server sends commands the terminal, is read as markup, or ends the app."""

import pytest
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving
from support.terminal_app import (
    FakeTurn,
    answering,
    done,
    drive,
    idle_again,
    resize,
    screen,
    send,
    shown,
    text,
    until,
)

from ratatoskr.tui import RatatoskrApp
from ratatoskr_proto import SseId, Unknown

HARMLESS = "[bold]x[/] [/] [link=https://example.com]y[/link] [@click=app.quit]z[/] \\["
HOSTILE = {
    "\x1b]0;title\x07\x1b[2J": r"\x1b]0;title\x07\x1b[2J",
    "\x00\r\x08\x7f": r"\x00\r\x08\x7f",
    "\x9b31m\x85!": r"\x9b31m\x85!",
    "\u202egpj.exe\u2066\u2069": r"\u202egpj.exe\u2066\u2069",
    "\ud800 \udfff": r"\ud800 \udfff",
    HARMLESS: HARMLESS,
}


@pytest.mark.no_cover  # no line that other tests do not reach
def test_hostile_text_is_shown_and_not_obeyed():
    def turn(said):
        body = {"type": said, "x": said}
        return FakeTurn(text(said), Unknown(said, sse_id=SseId(93, 2), body=body), done())

    async def scenario(pilot):
        app = pilot.app
        for said, seen in HOSTILE.items():
            before = len(shown(app))
            await send(pilot, said.replace("\x85", ""))  # it is a line end in the input
            await idle_again(pilot)
            added = shown(app)[before:]
            echo = seen.replace("\\x85", "")
            assert added.startswith(f"> {echo}\n{seen}\n[{seen[:60]}")
            assert len(added) < 2000
            rows = screen(app)
            assert f" {seen}" in rows
            assert all(row.isprintable() for row in rows)
            await pilot.press("f3")
            assert all(row.isprintable() for row in screen(app))

    drive(answering(*map(turn, HOSTILE)), scenario, size=(160, 50))


@pytest.mark.no_cover  # no line that other tests do not reach
def test_tabs_and_line_feeds_are_kept():
    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        await pilot.pause()
        assert "\na\tb\n\nc\n" in shown(pilot.app)
        assert screen(pilot.app)[1:4] == [" a       b", "", " c"]

    drive(answering(FakeTurn(text("a\tb\n\n"), text("c"), done())), scenario)


def test_labels_are_bounded():
    event = Unknown("t" * 100_000, sse_id=SseId(93, 1), body={"x": "y" * 100_000})

    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        assert len(shown(pilot.app)) < 1000

    drive(answering(FakeTurn(event, done())), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_json_nested_900_deep_over_a_connection():
    deep = b'{"type":"deep","x":' + b"[" * 900 + b"]" * 900 + b"}"
    frames = [b"id: 93:1\ndata: " + deep + b"\n\n", b'id: 93:2\ndata: {"type":"done"}\n\n']

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *map(chunk, frames), LAST_CHUNK)

    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        assert "\n[deep] " in shown(pilot.app)
        assert shown(pilot.app).endswith("\n[done]\n")

    with serving(handler) as server:
        drive(RatatoskrApp(server.url), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_a_megabyte_without_a_space():
    pieces = [text("x" * 50_000, seq) for seq in range(1, 21)]

    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "one")
        await until(pilot, lambda: "x" in shown(app))
        await resize(pilot, 120, 20)
        await idle_again(pilot)
        assert shown(app).count("x") == 1_000_000
        await pilot.press("f3", "f3", "H", "i")
        assert app.query_one("#message").text == "Hi"

    drive(answering(FakeTurn(*pieces, done(21))), scenario, size=(80, 10))
