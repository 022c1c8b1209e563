"""The terminal app, driven key by key: how turns go and how they end."""

import asyncio
import json

import pytest
from support.frames import chunk, frame
from support.raw_server import CHUNKED, LAST_CHUNK, serving
from support.terminal_app import (
    FakeTurn,
    answering,
    done,
    drive,
    idle_again,
    is_enabled,
    screen,
    send,
    shown,
    text,
    until,
)

import ratatoskr_proto
from ratatoskr._shown.labels import ending_label
from ratatoskr.demo_server import DemoServer, Script
from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr_proto import (
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    ProtocolError,
    RatatoskrError,
    ServerError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    TurnIdFlip,
)

ERRORS = [
    MalformedSseData("not-json"),
    MalformedSseId("x\x1b[31m"),
    MalformedEnvelope("[]"),
    TurnIdFlip(42, 43),
    EventTooLarge(100),
    SseConnectionDropped(SseId(93, 1), "reset"),
    SseConnectionDropped(None, "read timeout"),
    SseConnectFailed(503, "[bold]busy[/]", "status"),
    SseConnectFailed(None, "", "refused"),
]


# How turns end


@pytest.mark.no_cover  # no line that other tests do not reach
def test_bad_data_shows_its_label_and_the_next_message_works():
    def first(peer):
        assert json.loads(peer.read_request()) == {"message": "one"}
        peer.send(
            CHUNKED, chunk(frame(1, 93, type="text", text="Hi")), chunk(b"data: not-json\n\n")
        )

    def second(peer):
        assert json.loads(peer.read_request()) == {"message": "two"}
        assert peer.header("x-key") == "secret"
        frames = [frame(1, 93, type="text", text="Better"), frame(2, 93, type="done")]
        peer.send(CHUNKED, *map(chunk, frames), LAST_CHUNK)

    handlers = iter([first, second])

    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "one")
        await until(pilot, lambda: "[malformed_sse_data]" in shown(app))
        assert shown(app) == "> one\nHi\n[malformed_sse_data] raw='not-json'\n"
        assert (app.state, app.is_running) == (AppState.IDLE, True)
        await send(pilot, "two")
        await until(pilot, lambda: "[done]" in shown(app))
        assert shown(app).endswith("raw='not-json'\n> two\nBetter\n[done]\n")

    with serving(lambda peer: next(handlers)(peer)) as server:
        drive(RatatoskrApp(server.url, headers=[("X-Key", "secret")]), scenario)


async def served(pilot, query, message="Hello"):
    """Send a message to a demo server of the test's own, and wait for the end of the turn."""
    app = pilot.app
    async with DemoServer(Script()).listening() as base_url:
        app._conversation.url = f"{base_url}/turns{query}"
        await send(pilot, message)
        await until(pilot, lambda: shown(app).count("\n[") > 0)
        await idle_again(pilot)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_a_turn_of_over_1000_events_with_the_empty_frame_1078():
    async def scenario(pilot):
        await served(pilot, "")
        assert shown(pilot.app).startswith("> Hello\nYou said: Hello\n\nRatatoskr runs up and")
        assert shown(pilot.app).endswith("\n[done]\n")
        await pilot.pause()
        server = pilot.app._conversation.names[0]
        assert screen(pilot.app)[-2] == f" idle · {server} · last 93:1100 · 1099 events · N/s"

    drive(RatatoskrApp("http://127.0.0.1/"), scenario)


def test_its_own_demo_server_answers():
    async def scenario(pilot):
        await send(pilot, "Hello")
        await until(pilot, lambda: "You said: Hello" in shown(pilot.app))
        assert pilot.app.state is AppState.STREAMING
        await pilot.press("escape")
        assert "\n[cancelled] last_sse_id=93:" in shown(pilot.app)

    drive(RatatoskrApp(), scenario)


def test_errors_are_all_of_them():
    public = {value for value in vars(ratatoskr_proto).values() if isinstance(value, type)}
    errors = {value for value in public if issubclass(value, RatatoskrError)}
    assert {type(error) for error in ERRORS} == errors - {RatatoskrError, ProtocolError}


def failing(error, where):
    return FakeTurn(opening=error) if where == "opening" else FakeTurn(text("Hi"), error)


@pytest.mark.no_cover  # no line that other tests do not reach
@pytest.mark.parametrize("where", ["opening", "reading"])
def test_each_error_shows_its_label_and_the_next_message_works(where):
    turns = [failing(error, where) for error in ERRORS]

    async def scenario(pilot):
        app = pilot.app
        for error, turn in zip(ERRORS, turns, strict=True):
            before = shown(app)
            await send(pilot, "Hello")
            await idle_again(pilot)
            said = "Hi\n" if where == "reading" else ""
            assert shown(app) == f"{before}> Hello\n{said}{ending_label(error)}\n"
            assert app.query_one("#message").placeholder == "Type a message; Enter sends it"
            assert turn.left is (where == "reading")
        await send(pilot, "Hello")
        await until(pilot, lambda: shown(app).endswith("> Hello\n[done]\n"))

    drive(answering(*turns, FakeTurn(done())), scenario)


def test_an_error_event_shows_its_label():
    event = ServerError("out of [b]mead[/b]", sse_id=SseId(93, 1), body={})

    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        assert shown(pilot.app) == "> one\n[error] message='out of [b]mead[/b]'\n"

    drive(answering(FakeTurn(event)), scenario)


def test_a_turn_without_a_terminal_event_was_dropped():
    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        assert "[connection_dropped] last_sse_id=93:1 reason='end of stream'" in shown(pilot.app)
        assert is_enabled(pilot.app, "resume")

    drive(answering(FakeTurn(text("Hi"))), scenario)


def test_a_body_of_another_media_type_is_read_if_asked_to():
    async def scenario(pilot):
        await send(pilot, "one")
        await idle_again(pilot)
        assert shown(pilot.app) == (
            "> one\n[connect_failed] status=200 reason='content-type' body=''\n"
            "[content-type] start with --any-type to read it anyway\n"
        )

    drive(answering(FakeTurn(opening=SseConnectFailed(200, "", "content-type"))), scenario)


class SomebodysError(RatatoskrError):
    """One that has no label."""


def test_any_other_exception_is_a_bug_that_ends_only_the_turn():
    errors = [
        KeyError("secret"),
        ExceptionGroup("secret", [OSError()]),
        SomebodysError("secret"),
    ]

    async def scenario(pilot):
        app = pilot.app
        for error in errors:
            before = shown(app)
            await send(pilot, "one")
            await idle_again(pilot)
            assert shown(app) == f"{before}> one\nHi\n[bug] {type(error).__name__}\n"
        await send(pilot, "two")
        await until(pilot, lambda: "[done]" in shown(app))

    drive(answering(*(FakeTurn(text("Hi"), each) for each in errors), FakeTurn(done())), scenario)


def test_a_turn_that_cannot_be_made():
    lines = {
        "[not_sent] the URL must be one": ValueError("the URL must be one"),
        "[bug] KeyError": KeyError("secret"),
    }

    async def scenario(pilot):
        app = pilot.app
        for line in lines:
            before = shown(app)
            await send(pilot, "one")
            assert shown(app) == f"{before}> one\n{line}\n"
            assert app.state is AppState.IDLE
            assert app.query_one("#message").text == "one"  # to be sent again
        await send(pilot, "two")
        await until(pilot, lambda: "[done]" in shown(app))

    drive(answering(*lines.values(), FakeTurn(done())), scenario)


def test_a_wrong_url_is_a_line(nobody_listens):
    urls = {
        "[not_sent] the URL must start with http:// or https://": "ftp://127.0.0.1/",
        "[connect_failed] status=None reason='refused": nobody_listens,
    }

    async def scenario(pilot):
        app = pilot.app
        for line, app._conversation.url in urls.items():
            app.query_one("#message").text = ""
            await send(pilot, "one")
            await until(pilot, lambda line=line: line in shown(app))
            await idle_again(pilot)

    drive(RatatoskrApp("http://127.0.0.1/"), scenario)


def test_without_a_server_of_its_own_the_app_goes_on(monkeypatch):
    def listening(self):
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(DemoServer, "listening", listening)

    async def scenario(pilot):
        await send(pilot, "one")
        assert shown(pilot.app) == (
            "[no_server] Too many open files\n> one\n[not_sent] the demo server is not up\n"
        )

    drive(RatatoskrApp(), scenario)


# The worker by itself


def test_the_worker_takes_any_turn():
    async def scenario(pilot):
        app = pilot.app
        worker = app._stream_turn_worker(FakeTurn(text("Hi"), MalformedSseData("not-json")))
        await worker.wait()
        assert shown(app) == "Hi\n[malformed_sse_data] raw='not-json'\n"
        assert (app.state, app.is_running) == (AppState.IDLE, True)

    drive(answering(), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
def test_a_second_worker_ends_the_first():
    async def scenario(pilot):
        app = pilot.app
        first = FakeTurn(text("first"), asyncio.Event(), text("never"))
        app._stream_turn_worker(first)
        await until(pilot, lambda: "first" in shown(app))
        await app._stream_turn_worker(FakeTurn(text("second"), done())).wait()
        assert shown(app) == "first\n[cancelled] last_sse_id=93:1\nsecond\n[done]\n"
        assert (app.state, first.left) == (AppState.IDLE, True)

    drive(answering(), scenario)
