"""Conversations in the dialects of model servers."""

import pytest
from support.terminal_app import (
    FakeTurn,
    answering,
    drive,
    idle_again,
    screen,
    send,
    shown,
    until,
)

from ratatoskr._connector import Connector
from ratatoskr.demo_server import PATHS, DemoServer, Script
from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr.tui.conversation import Conversation
from ratatoskr_proto import (
    Done,
    Reasoning,
    ServerError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    Text,
    Unknown,
)
from ratatoskr_proto.dialects import ANTHROPIC, DIALECTS, GEMINI, OPENAI_CHAT, TURN

CUT = SseConnectionDropped(SseId(0, 2), "end of stream")
DONE = Done("stop", sse_id=SseId(0, 9), body={})


class FakeConnector(Connector):
    """Keeps what it is asked to open."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def open(self, function, *args, **options):
        self.asked.append((function, *args, options))
        return FakeTurn()


def conversing(dialect=OPENAI_CHAT, **options):
    connector = FakeConnector()
    conversation = Conversation(
        options.pop("url", "http://127.0.0.1:9/v1"),
        connector,
        dialect=dialect,
        options={},
        on_wait=print,
        **options,
    )
    return conversation, connector.asked


def messages(asked):
    return [each["content"] for each in asked[-1][-1]["json"]["messages"]]


def test_messages_and_complete_answers_go_along():
    conversation, asked = conversing(keys={"model": "m"})
    for message, ending in [
        ("a", DONE),
        ("b", CUT),
        ("c", None),
        ("d", SseConnectFailed(1, "", "status")),
        ("e", DONE),
    ]:
        conversation.open(message, None)
        conversation.ended(ending, f"answer {message}")
    conversation.open("f", None)
    function, url, options = asked[-1]
    assert (function, url) == ("stream_turn", "http://127.0.0.1:9/v1")
    assert options["dialect"] is OPENAI_CHAT
    assert "reconnect" not in options
    assert options["json"]["model"] == "m"
    assert messages(asked) == ["a", "answer a", "b", "c", "e", "answer e", "f"]


def test_what_is_asked_again_is_asked_once():
    conversation, asked = conversing()
    conversation.open("a", None)
    conversation.ended(CUT, "cut")
    conversation.forget_last()
    conversation.open("a", None)
    assert messages(asked) == ["a"]
    conversation.ended(DONE, "whole")
    conversation.forget_last()  # it has an answer
    conversation.open("b", None)
    assert messages(asked) == ["a", "whole", "b"]


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (100, ["one", "1", "two", "22", "three"]),
        (14, ["one", "1", "two", "22", "three"]),
        (13, ["two", "22", "three"]),
        (9, ["three"]),
        (0, ["three"]),
    ],
)
def test_the_newest_that_fit_go_along_from_a_message_on(history, said):
    conversation, asked = conversing(history=history)
    for message, answer in [("one", "1"), ("two", "22")]:
        conversation.open(message, None)
        conversation.ended(DONE, answer)
    conversation.open("three", None)
    assert messages(asked) == said


def test_an_answer_without_text_is_not_sent():
    conversation, asked = conversing()
    conversation.open("a", None)
    conversation.ended(DONE, "")
    conversation.open("b", None)
    assert messages(asked) == ["a", "b"]


def test_a_server_of_turns_gets_the_message_alone():
    conversation, asked = conversing(TURN, keys={"room": 1})
    for message in ("a", "b"):
        conversation.open(message, None)
        conversation.ended(DONE, "answer")
    assert asked[-1][-1]["json"] == {"message": "b", "room": 1}
    assert "dialect" not in asked[-1][-1]


@pytest.mark.parametrize(
    ("url", "dialect", "keys", "names"),
    [
        ("http://user:secret@host:8000/x", TURN, {}, ["host:8000"]),
        ("https://host/", ANTHROPIC, {"model": "c\x1b"}, ["host", "anthropic", r"c\x1b"]),
        (
            "https://host/v1beta/models/g-2:streamGenerateContent",
            GEMINI,
            {},
            ["host", "gemini", "g-2"],
        ),
        ("http://[", OPENAI_CHAT, {"model": 7}, ["openai-chat", "7"]),
        (None, TURN, {}, []),
    ],
)
def test_names(url, dialect, keys, names):
    assert conversing(dialect, url=url, keys=keys)[0].names == names


def event(kind, *args, seq=1, **fields):
    return kind(*args, sse_id=SseId(0, seq), body={}, **fields)


def test_reasoning_is_folded_and_a_cut_answer_can_be_asked_for_again():
    turns = [
        FakeTurn(
            event(Unknown, "chat.completion.chunk"),
            event(Reasoning, "Let me"),
            event(Reasoning, " think.\nHm."),
            event(Text, "It is"),
            CUT,
        ),
        FakeTurn(event(Text, "It is so."), DONE),
        FakeTurn(event(ServerError, "overloaded")),
        FakeTurn(opening=SseConnectFailed(429, "", "status")),
    ]

    async def scenario(pilot):
        app = pilot.app
        await send(pilot, "Why?")
        await idle_again(pilot)
        assert shown(app) == (
            "> Why?\nLet me think.\nHm.\nIt is\n"
            "[connection_dropped] last_sse_id=0:2 reason='end of stream'\n"
            "[cut] This answer is not complete. Ctrl-R asks for it again.\n"
        )
        await pilot.pause()
        assert screen(app)[1:3] == [" ▸ reasoning (F6 unfolds it)", " It is"]
        await pilot.press("f6")
        await pilot.pause()
        assert screen(app)[1:4] == [" Let me think.", " Hm.", " It is"]
        assert screen(app)[-2] == " idle · anthropic · 4 events · N/s"
        await pilot.press("ctrl+r")
        await idle_again(pilot)
        assert "\n[again]\nIt is so.\n[done]" in shown(app)
        await pilot.press("ctrl+r")
        assert app.asked == ["Why?", "Why?"]
        await send(pilot, "And?")
        await idle_again(pilot)
        await pilot.press("ctrl+r")
        await idle_again(pilot)
        assert app.asked == ["Why?", "Why?", "And?", "And?"]
        assert shown(app).count("[cut]") == 2  # where there was an answer, if without text

    drive(answering(*turns, dialect=ANTHROPIC), scenario)


@pytest.mark.no_cover  # no line that other tests do not reach
@pytest.mark.parametrize("dialect", [each for each in DIALECTS.values() if each is not TURN])
def test_the_demo_server_answers_in_each_dialect_and_a_cut_answer_is_had_again(dialect):
    async def scenario(pilot):
        app = pilot.app
        async with DemoServer(Script(events=5)).listening() as base_url:
            app._conversation.url = base_url + PATHS[dialect.name]
            await send(pilot, "Hello")
            await until(pilot, lambda: "[cut]" in shown(app))
            assert "[connection_dropped] last_sse_id=0:" in shown(app)
            await pilot.press("ctrl+r")
            await until(pilot, lambda: "[done]" in shown(app))
            assert "\n[again]\nYou said: Hello" in shown(app)
            await send(pilot, "Bye")
            await until(pilot, lambda: shown(app).count("[done]") == 2)
            assert "\n> Bye\nYou said: Bye" in shown(app)
            assert app.state is AppState.IDLE

    headers = [("X-Fault", f"ends-early,at=3,times=1,id={dialect.name}")]
    options = {"headers": headers, "dialect": dialect, "keys": {"model": "mimir"}}
    drive(RatatoskrApp("http://127.0.0.1/", **options), scenario)


@pytest.mark.parametrize("dialect", [TURN, GEMINI])
def test_an_answer_in_another_dialect_is_recognised_unless_some_of_it_is_understood(dialect):
    async def scenario(pilot):
        app = pilot.app
        async with DemoServer(Script(events=4)).listening() as base_url:
            for spoken in ("openai-chat", "anthropic"):
                app._conversation.url = base_url + PATHS[spoken]
                await send(pilot, "Hi")
                await idle_again(pilot)
                hint = f"[dialect] this looks like {spoken}; start with --dialect {spoken}"
                assert shown(app).splitlines()[-1] == hint
            app._conversation.url = f"{base_url}{PATHS[dialect.name]}?bad-json"
            await send(pilot, "Hi")
            await idle_again(pilot)
            assert shown(app).count("[dialect]") == 2

    keys = {"messages": [], "stream": True}
    drive(RatatoskrApp("http://127.0.0.1/", dialect=dialect, keys=keys), scenario)
