"""The terminal app draws seldom enough to keep reading, and its status line says how fast."""

import asyncio

import pytest
from support.terminal_app import (
    TIMEOUT,
    FakeTurn,
    answering,
    drive,
    send,
    shown,
    text,
    until,
)
from textual import events

from ratatoskr.tui import AppState
from ratatoskr.tui.pace import DrawingPace
from ratatoskr.tui.status import TurnStatus
from ratatoskr_proto import SseId


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
