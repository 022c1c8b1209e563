"""The answers of other servers, over every adapter."""

import json
from dataclasses import dataclass

import httpx
import pytest
from support.adapters import ASYNC_ADAPTERS, every_adapter
from support.frames import chunk
from support.modes import AsyncFace, every_mode, play
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Event,
    ReconnectPolicy,
    SseConnectionDropped,
    SseId,
    TurnState,
    encode_event,
)
from ratatoskr_proto.dialects import ANTHROPIC, DIALECTS, GEMINI, OPENAI_CHAT
from ratatoskr_transports import SyncTurnStream, TurnStream
from ratatoskr_transports.httpx import wrap_sync


def openai(**choice):
    return encode_event(json.dumps({"choices": [{"index": 0, **choice}]}))


def gemini(**candidate):
    return encode_event(json.dumps({"candidates": [candidate]}))


@dataclass(frozen=True)
class Tool(Event):
    type = "tool"


HELLO = openai(delta={"content": "Hello"})
STOP = openai(delta={}, finish_reason="stop")
END = encode_event("[DONE]")


@every_adapter
def test_answer_of_an_openai_server_is_read_to_its_end_mark(adapter):
    def handler(peer):
        peer.read_request()
        assert json.loads(peer.body) == {"stream": True}
        peer.send(CHUNKED, *map(chunk, (HELLO, STOP, END)), LAST_CHUNK)

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, json={"stream": True}, dialect=OPENAI_CHAT)
    text, unknown, done = outcome.items
    assert (text.text, unknown.type, done.stop_reason) == ("Hello", "message", "stop")
    stream = outcome.stream
    assert (outcome.error, stream.state, stream.turn_id) == (None, TurnState.DONE, 0)
    assert stream.last_sse_id == (0, 3)


@every_adapter
def test_answer_that_is_cut_off_is_never_called_complete(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(HELLO), LAST_CHUNK)

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, dialect=OPENAI_CHAT)
    assert [event.text for event in outcome.items] == ["Hello"]
    assert outcome.error == SseConnectionDropped(SseId(0, 1), "end of stream")


@every_mode
def test_answer_that_the_server_called_whole_is_whole_however_it_ends(mode):
    async def main():
        kind = SyncTurnStream if mode.sync else TurnStream
        for end in (ConnectionResetError(), TimeoutError(), b""):
            turn = AsyncFace(kind(mode.source(HELLO + STOP + b"da", end), dialect=OPENAI_CHAT))
            *_, done = [event async for event in turn]
            assert (done.stop_reason, done.terminal, turn.state) == ("stop", True, TurnState.DONE)
        # A server that says so with every piece cannot know.
        for end, whole in [(b"", True), (ConnectionResetError(), False)]:
            last = gemini(content={"parts": [{"text": "Hi"}]}, finishReason="STOP")
            turn = AsyncFace(kind(mode.source(last, end), dialect=GEMINI))
            assert (await anext(turn)).text == "Hi"
            if whole:
                assert (await anext(turn)).stop_reason == "STOP"
            else:
                with pytest.raises(SseConnectionDropped, match="reset"):
                    await anext(turn)

    mode.run(main)


@every_mode
def test_keep_alives_of_a_dialect_are_no_events_for_the_event_timeout(mode):
    """Real time, since nothing but the timeout ends this source."""

    async def main():
        ping = encode_event('{"type": "ping"}', event="ping")
        source = mode.source()
        if mode.sync:
            source.receive = lambda: ping
        else:

            async def receive():
                return ping

            source.receive = receive
        kind = SyncTurnStream if mode.sync else TurnStream
        turn = AsyncFace(kind(source, dialect=ANTHROPIC, event_timeout=0.01))
        with pytest.raises(SseConnectionDropped) as caught:
            await anext(turn)
        assert caught.value == SseConnectionDropped(None, "event timeout")

    mode.run(main)


@pytest.mark.parametrize("adapter", [each for each in ASYNC_ADAPTERS if each.is_httpx], ids=str)
@pytest.mark.parametrize("later", [False, True], ids=["at-once", "after-more"])
def test_connection_of_a_finished_answer_is_used_again(adapter, later):
    tail = [encode_event("{}")] if later else []

    def handler(peer):
        for _ in range(3):
            peer.read_request()
            peer.send(CHUNKED, *map(chunk, (HELLO, END, *tail)), LAST_CHUNK)

    async def scenario(open_stream, server):
        for _ in range(3):
            async with open_stream("stream_turn", server.url, dialect=OPENAI_CHAT) as turn:
                assert [event.type async for event in turn] == ["text", "done"]

    with serving(handler) as server:
        play(adapter, scenario, server, max_connections=1)
    assert server.connections == 1


@every_adapter
def test_dialect_without_ids_cannot_be_resumed(adapter):
    cases = [
        ({"dialect": OPENAI_CHAT, "reconnect": ReconnectPolicy()}, ValueError, "reconnect needs"),
        ({"dialect": "openai-chat"}, TypeError, "dialect must be a Dialect"),
        (
            {"dialect": GEMINI, "event_types": DEFAULT_EVENT_TYPES.with_types(Tool)},
            ValueError,
            "event_types is for",
        ),
    ]

    async def scenario(open_stream):
        for options, kind, words in cases:
            with pytest.raises(kind, match=words):
                open_stream("stream_turn", "http://host/", **options)
        open_stream("stream_turn", "http://host/", dialect=DIALECTS["turn"])
        for function, *arguments in (["reconnect_turn", "7:1"], ["stream_events"]):
            with pytest.raises(TypeError, match="unexpected keyword argument 'dialect'"):
                open_stream(function, "http://host/", *arguments, dialect=OPENAI_CHAT)

    play(adapter, scenario)


def test_response_can_be_wrapped_in_a_dialect():
    headers = {"content-type": "text/event-stream"}
    response = httpx.Response(200, headers=headers, content=HELLO + END)
    response.request = httpx.Request("GET", "http://test/")
    with wrap_sync(response, dialect=OPENAI_CHAT) as turn:
        assert [event.type for event in turn] == ["text", "done"]
    with pytest.raises(ValueError, match="resume_from"):
        wrap_sync(response, dialect=OPENAI_CHAT, resume_from=SseId(7, 1))


@every_mode
def test_bug_of_the_caller_in_what_the_end_flushes_comes_through(mode):
    def loads(text):
        raise ZeroDivisionError

    async def main():
        kind = SyncTurnStream if mode.sync else TurnStream
        turn = AsyncFace(kind(mode.source(b"data: {}"), dialect=GEMINI, loads=loads))
        with pytest.raises(ZeroDivisionError):
            await anext(turn)
        with pytest.raises(SseConnectionDropped, match="closed"):
            await anext(turn)

    mode.run(main)
