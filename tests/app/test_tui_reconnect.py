"""The terminal app, when lost turns are resumed automatically."""

import contextlib
import re

import pytest
from support.terminal_app import FakeTurn, done, drive, idle_again, screen, send, shown, until

from ratatoskr.demo_server import DemoServer, Script
from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr.tui.status import TurnStatus
from ratatoskr_proto import ReconnectPolicy, SseConnectionDropped, SseId

LOST = SseConnectionDropped(SseId(93, 1), "reset")
IN_NO_TIME = ReconnectPolicy(floor=0.001, ceiling=0.01)


def connecting(policy=IN_NO_TIME, **options):
    return RatatoskrApp("http://127.0.0.1/", policy=policy, **options)


@contextlib.asynccontextmanager
async def dropping(app, query):
    """A demo server for the app."""
    async with DemoServer(Script()).listening() as base_url:
        app._conversation.url = f"{base_url}/turns?{query}"
        yield


def status(app):
    return screen(app)[-2]


@pytest.mark.no_cover  # no line that other tests do not reach
def test_f4_has_the_turns_from_the_next_one_on_go_on_by_themselves():
    async def scenario(pilot):
        app = pilot.app
        async with dropping(app, "drop-every=3&events=8&pace=0.001"):
            await send(pilot, "Hi")
            await idle_again(pilot)
            await pilot.press("f4")
            assert " · reconnect on · last 93:3 · " in status(app)
            await send(pilot, "Hi")
            await until(pilot, lambda: "[done]" in shown(app))
            await pilot.press("f4")
            assert " · last 94:8 · 8 events · " in status(app)
            await send(pilot, "Hi")
            await until(pilot, lambda: shown(app).count("[connection_dropped]") == 2)
        first, whole, last = re.findall(r"> Hi\n(.*?)(?=\[reconnect\]|\Z)", shown(app), re.DOTALL)
        assert whole == "You said: Hi\n\nRatatoskr runs up and do\n[done]\n"
        assert "[connection_dropped] last_sse_id=93:3" in first
        assert "[connection_dropped] last_sse_id=95:3" in last
        assert re.findall(r"\[reconnect\].*", shown(app)) == ["[reconnect] on", "[reconnect] off"]

    drive(connecting(), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_escape_ends_a_wait_at_once_and_ctrl_r_goes_on():
    policy = ReconnectPolicy(floor=1000, ceiling=1000, jitter=0)

    async def scenario(pilot):
        app = pilot.app
        async with dropping(app, "drop-every=3&events=4"):
            await send(pilot, "Hi")
            await until(pilot, lambda: "reconnecting in" in status(app))
            assert re.search(
                r" reconnecting in \d+ s · 127.0.0.1:\d+ · last 93:3 · 3 events$", status(app)
            )
            await pilot.press("escape")
            assert app.state is AppState.IDLE
            assert shown(app).endswith("\n[cancelled] last_sse_id=93:3\n")
            await until(pilot, lambda: app._worker.is_finished)
            await pilot.press("ctrl+r")
            await until(pilot, lambda: "[done]" in shown(app))
        assert shown(app).endswith(
            "[cancelled] last_sse_id=93:3\n[resume] last_sse_id=93:3\n[done]\n"
        )

    drive(connecting(policy, reconnect=True), scenario)


def test_f4_while_a_turn_runs_says_from_when_on():
    async def scenario(pilot):
        app = pilot.app
        async with dropping(app, "stall&at=3"):
            await send(pilot, "Hi")
            await until(pilot, lambda: "You said" in shown(app))
            await pilot.press("f4")
            assert shown(app).endswith("[reconnect] on from the next turn\n")
            assert "reconnect on" not in status(app)

    drive(connecting(), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_f4_does_nothing_where_somebody_else_opens_the_turns():
    async def scenario(pilot):
        await pilot.press("f4")
        assert shown(pilot.app) == ""

    drive(RatatoskrApp(open_turn=lambda target: FakeTurn(done())), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_the_key_is_in_the_footer_where_there_is_room():
    async def scenario(pilot):
        keys = "^F Search  F4 Reconnect"
        await until(pilot, lambda: screen(pilot.app)[-1].endswith(keys))

    drive(connecting(), scenario, size=(120, 24))


def test_the_status_line_counts_down():
    now = [0.0]
    status = TurnStatus(lambda: now[0])
    status.start(None)
    status.count(SseId(93, 1))
    status.wait(LOST, 2.5)
    said = [status.line("streaming", 78)]
    for now[0] in (1.0, 2.4, 2.5):
        said.append(status.line("streaming", 78))
    assert [line.partition(" · ")[0] for line in said] == [
        "reconnecting in 3 s",
        "reconnecting in 2 s",
        "reconnecting in 1 s",
        "reconnecting",
    ]
    status.wait(LOST, 4)
    assert status.line("streaming", 20).startswith("back in 4s 93:1 1ev")
    status.bytes_came()
    assert status.line("streaming", 78).startswith("streaming · ")
