"""Nothing that a server sends commands the terminal, is read as markup, or ends the app."""

import asyncio

import pytest
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving
from support.terminal_app import (
    TIMEOUT,
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
from textual import events

from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr.tui.pace import DrawingPace
from ratatoskr.tui.status import TurnStatus
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


class Flood(FakeTurn):
    """A turn without an end, and without a moment's rest."""

    def __init__(self):
        super().__init__()
        self.given = 0

    async def __anext__(self):
        self.given += 1
        return text("squirrel ", self.given)


async def reached(condition):
    """As ``until``; Pilot would wait for the app to have nothing to do."""
    async with asyncio.timeout(TIMEOUT):
        while not condition():
            await asyncio.sleep(0)


def test_keys_work_while_a_turn_never_rests():
    turn = Flood()

    async def scenario(pilot):
        app = pilot.app
        drawn = []
        transcript = app.query_one("#transcript")
        add = transcript.add

        def count_and_add(pieces):
            drawn.append(pieces)
            add(pieces)

        transcript.add = count_and_add
        app.query_one("#message").text = "one"
        app.post_message(events.Key("enter", None))
        await reached(lambda: turn.given > 2000)
        app.post_message(events.Key("H", "H"))
        await reached(lambda: app.query_one("#message").text == "H")
        assert app.state is AppState.STREAMING
        app.post_message(events.Key("escape", None))
        await reached(lambda: turn.left)
        assert app.state is AppState.IDLE
        assert "\n[cancelled] last_sse_id=93:" in shown(app)
        assert len(drawn) < turn.given / 10

    drive(answering(turn), scenario)


def test_figures_of_a_turn():
    now = [100.0]
    status = TurnStatus(lambda: now[0])
    assert status.line("idle", 80) == "idle"
    status.start(None)
    assert status.line("streaming", 80) == ("streaming · 0 events · 0/s · silent 0.0 s")
    for seq in range(1, 101):
        now[0] += 0.05
        status.count(SseId(93, seq))
        status.line("streaming", 80)
    now[0] += 2.0
    assert status.line("streaming", 80) == (
        "streaming · last 93:100 · 100 events · 0/s · silent 2.0 s"
    )
    status.bytes_came()
    assert status.line("streaming", 40) == "streaming 93:100 0.0s 100ev 0/s"
    status.end()
    assert status.line("idle", 80) == "idle · last 93:100 · 100 events · 14/s"
    status.start(SseId(93, 100))
    assert (status.last_id, status.line("idle", 40)) == (SseId(93, 100), "idle 93:100 0ev 0/s")


@pytest.mark.no_cover  # no line that other tests do not reach
def test_keep_alives_end_the_silence():
    heard = []

    class Tapped(FakeTurn):
        def tap(self, receive):
            heard.append(receive)

    async def scenario(pilot):
        await send(pilot, "one")
        await until(pilot, lambda: heard)
        pilot.app._status._heard_at -= 100
        assert "silent 10" in pilot.app._status.line("streaming", 80)
        heard[0](b":\n")
        assert "silent 0" in pilot.app._status.line("streaming", 80)

    drive(answering(Tapped(asyncio.Event())), scenario)


def test_drawing_leaves_time_for_reading():
    now = [0.0]
    pace = DrawingPace(lambda: now[0])
    assert pace.start_drawing()
    now[0] = 0.25
    assert not pace.start_drawing()  # it is not done yet
    pace.done()
    drawn = []
    for now[0] in (0.5, 0.74, 0.75, 0.8):
        if pace.start_drawing():
            drawn.append(now[0])
    assert drawn == [0.75]
    now[0] = 5.75
    assert pace.start_drawing()  # the one before never said that it was done
