"""The arguments of the adapters' functions, the same for every adapter."""

import inspect
import itertools
import logging

import httpx
import httpx2
import pytest
from support.adapters import ADAPTERS, every_adapter
from support.frames import chunk, done, text
from support.modes import AsyncFace, every_mode, play
from support.raw_server import CHUNKED, LAST_CHUNK, TO_CLOSE, serving

import ratatoskr_transports.anyio
import ratatoskr_transports.httpx
import ratatoskr_transports.trio
from ratatoskr_proto import ReconnectPolicy, SseConnectFailed, SseConnectionDropped, encode_event
from ratatoskr_transports import EventStream, SourceLost, SyncEventStream

FAST = ReconnectPolicy(attempts=3, floor=0.001, ceiling=0.002)
BUSY = b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n"
NO_MORE = b"HTTP/1.1 204 No\r\n\r\n"


class Script:
    """A server that notes the requests, and answers each with the next of the answers."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.heads = []
        self.bodies = []

    def __call__(self, peer):
        self.bodies.append(peer.read_request())
        self.heads.append(peer)
        peer.send(self.answers.pop(0))

    def asked(self, name):
        return [peer.header(name) for peer in self.heads]

    def lines(self):
        return [peer.head.decode().split(" HTTP/")[0] for peer in self.heads]


def cut(*frames):
    return CHUNKED + b"".join(map(chunk, frames))


def whole(*frames):
    return cut(*frames) + LAST_CHUNK


@every_adapter
def test_function_for_the_headers_is_called_for_each_connection(adapter):
    tokens = iter(["one", "two", "three"])
    script = Script(cut(text(1)), BUSY, whole(done(2)))
    with serving(script) as server:
        outcome = adapter.run_turn(
            server.url,
            json={},
            headers=lambda: {"X-Token": next(tokens), "Content-Language": "en"},
            reconnect=FAST,
        )
    assert outcome.error is None
    assert script.asked("x-token") == ["one", "two", "three"]
    assert script.asked("content-language") == ["en", None, None]
    assert script.asked("content-type") == ["application/json", None, None]


@every_adapter
def test_exception_of_the_function_for_the_headers_closes_the_stream_and_comes_through(adapter):
    calls = []

    def headers():
        calls.append(None)
        if len(calls) == 2:
            raise LookupError
        return []

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url, headers=headers, reconnect=FAST)
        assert calls == []
        async with turn:
            await anext(turn)
            with pytest.raises(LookupError):
                await anext(turn)
            with pytest.raises(SseConnectionDropped, match="closed"):
                await anext(turn)

    with serving(Script(cut(text(1)))) as server:
        play(adapter, scenario, server)


@every_adapter
def test_headers_of_a_function_are_checked_like_others(adapter):
    async def returned():
        raise AssertionError

    async def scenario(open_stream):
        with pytest.raises(TypeError, match="headers must be a plain function"):
            open_stream("stream_turn", "http://host/", headers=returned)
        for headers, kind, words in [
            ([("X-Key", "hunter2\r\n")], ValueError, "the value of x-key"),
            ({"Host": "hunter2"}, ValueError, "the header host"),
            ("hunter2", TypeError, "headers must be"),
        ]:
            stream = open_stream(
                "stream_events", "http://127.0.0.1:9/", headers=lambda h=headers: h
            )
            with pytest.raises(kind, match=words):
                await stream.__aenter__()
            with pytest.raises(SseConnectionDropped, match="closed"):
                await anext(stream)

    play(adapter, scenario)


@every_adapter
def test_post_is_resumed_with_a_get_after_the_last_id(adapter):
    script = Script(
        cut(encode_event("a", id="1"), b"id: 2\n\n"), BUSY, whole(encode_event("b")), NO_MORE
    )
    with serving(script) as server:
        outcome = adapter.run_events(
            server.url,
            method="POST",
            json={"a": 1},
            reconnect=FAST,
            resume_url=f"{server.url}/more",
        )
    assert [(item.data, item.id) for item in outcome.items] == [("a", "1"), ("b", "2")]
    assert outcome.error is None
    assert script.lines() == ["POST /turns"] + ["GET /turns/more"] * 3
    assert script.asked("last-event-id") == [None, "2", "2", "2"]
    assert script.bodies == [b'{"a": 1}', b"", b"", b""]


@every_adapter
@pytest.mark.parametrize("last_event_id", ["", "7"])
def test_post_that_is_lost_before_any_id_is_an_error_at_once(adapter, last_event_id):
    options = {"method": "POST", "reconnect": FAST, "last_event_id": last_event_id}
    for answer, kind in [
        (BUSY, SseConnectFailed),
        (cut(b": alive\n\n"), SseConnectionDropped),
        (cut(b"id\n\ndata: a\n\n"), SseConnectionDropped),
    ]:
        with serving(Script(answer)) as server:
            outcome = adapter.run_events(server.url, resume_url=f"{server.url}/more", **options)
        assert type(outcome.error) is kind
        assert (server.connections, outcome.stream.reconnects) == (1, 0)


@every_adapter
def test_get_can_be_resumed_at_another_url_from_the_start(adapter):
    script = Script(whole(encode_event("a")), NO_MORE)
    with serving(script) as server:
        adapter.run_events(
            server.url, last_event_id="7", reconnect=FAST, resume_url=f"{server.url}/more"
        )
    assert script.lines() == ["GET /turns", "GET /turns/more"]
    assert script.asked("last-event-id") == ["7", "7"]


@every_adapter
def test_id_that_the_server_takes_back_is_sent_no_more(adapter):
    script = Script(whole(b"id\ndata: a\n\n"), NO_MORE)
    with serving(script) as server:
        outcome = adapter.run_events(server.url, last_event_id="7", reconnect=FAST)
    assert [item.id for item in outcome.items] == [""]
    assert script.asked("last-event-id") == ["7", None]


@every_adapter
def test_any_media_type_is_taken_if_asked_for(adapter):
    answer = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    wire = text(1) + done(2)
    for run in (adapter.run_turn, adapter.run_events):
        with serving(Script(answer % b"200 OK" + wire)) as server:
            outcome = run(server.url, any_media_type=True)
        assert (len(outcome.items), outcome.error) == (2, None)
        with serving(Script(answer % b"201 Made" + wire)) as server:
            assert run(server.url, any_media_type=True).error.reason == "status"
    with serving(Script(answer % b"200 OK" + wire)) as server:
        outcome = adapter.run_resumed(server.url, "42:1", any_media_type=True)
    assert [event.type for event in outcome.items] == ["done"]
    with serving(Script(answer % b"200 OK")) as server:
        assert adapter.run_events(server.url).error.reason == "content-type"


@every_adapter
def test_event_that_lacks_its_last_line_end_is_told_of_or_handed_out(adapter):
    for body, ended_mid_event, flushed in [
        (b"data: a\n\n", False, ["a"]),
        (b"data: a\n\ndata: b", True, ["a", "b"]),
        (b"data: a\n\ndata: b\n", True, ["a", "b"]),
        (b"data: a\n\n: bye", True, ["a"]),
    ]:
        with serving(Script(TO_CLOSE + body)) as server:
            outcome = adapter.run_events(server.url)
        assert ([item.data for item in outcome.items], outcome.error) == (["a"], None)
        assert outcome.stream.ended_mid_event is ended_mid_event
        with serving(Script(TO_CLOSE + body)) as server:
            outcome = adapter.run_events(server.url, flush_unfinished=True)
        assert [item.data for item in outcome.items] == flushed
        assert outcome.stream.ended_mid_event is (ended_mid_event and len(flushed) == 1)
    with serving(Script(cut(b"data: a\n\ndata: b"))) as server:
        outcome = adapter.run_events(server.url, flush_unfinished=True)
    assert ([item.data for item in outcome.items], outcome.stream.ended_mid_event) == (["a"], True)


@every_mode
def test_body_has_not_ended_mid_event_before_it_has_ended(mode):
    async def main():
        kind = SyncEventStream if mode.sync else EventStream
        events = AsyncFace(kind(mode.source(b"data: a\n\ndata: b"), flush_unfinished=True))
        assert events.ended_mid_event is False
        assert [(item.data, events.ended_mid_event) async for item in events] == [
            ("a", False),
            ("b", False),
        ]
        closed = AsyncFace(kind(mode.source(b"data: a\n\ndata: b")))
        await anext(closed)
        await closed.aclose()
        assert closed.ended_mid_event is False

    mode.run(main)


@every_mode
def test_source_can_say_why_it_was_lost(mode):
    async def main():
        kind = SyncEventStream if mode.sync else EventStream
        for reason in ("reset", "cut body (of mine)", "read timeout"):
            events = AsyncFace(kind(mode.source(b"data: a\n\ndata", SourceLost(reason))))
            assert (await anext(events)).data == "a"
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(events)
            assert caught.value.reason == f"{reason}; unfinished event lost"
        events = AsyncFace(kind(mode.source(b"data: a\n\n", SourceLost("end of stream"))))
        assert [item.data async for item in events] == ["a"]

    mode.run(main)


def test_source_is_lost_for_a_reason_with_a_word():
    for reason, kind in [("", ValueError), ("gone", ValueError), (None, TypeError)]:
        with pytest.raises(kind, match="reason must"):
            SourceLost(reason)
    lost = SourceLost("reset (OSError)")
    assert (lost.reason.word, str(lost)) == ("reset", "reset (OSError)")


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_url_of_the_library_is_taken_and_its_password_stays_out_of_the_log(library, caplog):
    requests = []

    def handler(request):
        requests.append(request)
        headers = {"content-type": "text/event-stream"}
        return library.Response(200, headers=headers, content=b"data: a\n\n")

    module = ratatoskr_transports.httpx
    mine = {"Authorization": "Mine"}
    base = {"base_url": "http://me:p%20w@test/", "headers": {"Authorization": "Client's"}}
    url = "http://me:p%20w@test/path"
    cases = [
        (library.URL(url), {}, {}, "Basic bWU6cCB3"),
        (url, {}, {}, "Basic bWU6cCB3"),
        (url, {}, mine, "Mine"),
        ("/path", base, {}, "Basic bWU6cCB3"),
        (library.URL("http://test/path"), {}, {}, None),
    ]
    with caplog.at_level(logging.INFO):
        for given, settings, headers, authorization in cases:
            transport = library.MockTransport(handler)
            with library.Client(transport=transport, **settings) as client:
                with module.stream_events_sync(client, given, headers=headers) as events:
                    assert [item.data for item in events] == ["a"]
                assert str(requests[-1].url) == "http://test/path"
                assert requests[-1].headers.get("authorization") == authorization
    assert [each for each in caplog.records if each.name in ("httpx", "httpx2")]
    assert "p%20w" not in caplog.text


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_resume_url_may_be_a_url_of_the_library(library):
    with library.Client(verify=False) as client:
        ratatoskr_transports.httpx.stream_turn_sync(
            client, "http://test/", reconnect=FAST, resume_url=library.URL("http://test/more")
        )


FUNCTIONS = {
    "stream_turn": ["http://host/"],
    "reconnect_turn": ["http://host/", "7:1"],
    "stream_events": ["http://host/"],
}


@every_adapter
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_name_the_function_that_was_called(adapter, name):
    async def scenario(open_stream):
        called = f"{name}_sync" if adapter.is_sync else name
        with pytest.raises(TypeError, match=rf"^{called}\(\) got an unexpected keyword.* 'speed'"):
            open_stream(name, *FUNCTIONS[name], speed=1)
        with pytest.raises(TypeError, match=rf"^{called}\(\) takes .* positional arg"):
            open_stream(name, *FUNCTIONS[name], None, None, None)
        with pytest.raises(TypeError, match=rf"^{called}\(\) missing 1 required positional arg"):
            open_stream(name, *FUNCTIONS[name][:-1])

    play(adapter, scenario)


@every_adapter
@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_are_checked_in_one_order(adapter, name):
    """Each call has two invalid arguments, and the one that is first in the order is named."""
    order = {
        "content": [object()],
        "headers": [3],
        "last_event_id": ["\n"],
        "reconnect": [3],
        "on_wait": [3],
        "any_media_type": [3],
        "event_timeout": ["1"],
    }
    words = ["content must", "headers must", "last-event-id", "reconnect", "on_wait must"]
    words = [*words, "any_media_type must", "event_timeout must"]
    module = adapter.module
    function = getattr(module, f"{name}_sync" if adapter.is_sync else name)
    known = [
        (option, values[0], word)
        for (option, values), word in zip(order.items(), words, strict=True)
        if option in inspect.signature(function).parameters or option == "event_timeout"
    ]

    async def scenario(open_stream):
        for (first, value, word), (second, other, _) in itertools.pairwise(known):
            with pytest.raises((TypeError, ValueError), match=word):
                open_stream(name, *FUNCTIONS[name], **{first: value, second: other})

    play(adapter, scenario)


def test_nothing_half_is_resumed_after():
    with (
        httpx.Client(verify=False) as client,
        pytest.raises(ValueError, match="flush_unfinished cannot be used with reconnect"),
    ):
        ratatoskr_transports.httpx.stream_events_sync(
            client, "http://host/", flush_unfinished=True, reconnect=FAST
        )


@every_adapter
def test_retry_after_of_a_refusal_is_waited_for_over_a_real_connection(adapter):
    waits = []
    busy = BUSY.replace(b"Content-Length", b"Retry-After: 3\r\nContent-Length")
    policy = ReconnectPolicy(attempts=3, floor=0.001, ceiling=0.015, jitter=0)
    with serving(Script(busy, BUSY, whole(done(2)))) as server:
        outcome = adapter.run_resumed(
            server.url, "42:1", reconnect=policy, on_wait=lambda _, seconds: waits.append(seconds)
        )
    assert outcome.error is None
    assert waits == [0.015, 0.002]


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each.is_httpx], ids=str)
def test_client_that_was_spoilt_after_the_call_is_refused_on_entering(adapter):
    async def scenario(open_stream):
        turn = open_stream("stream_turn", "http://host/")
        open_stream.client.headers["X-Key"] = "\x01"
        with pytest.raises(ValueError, match="the value of x-key"):
            await turn.__aenter__()
        with pytest.raises(SseConnectionDropped, match="closed"):
            await anext(turn)

    play(adapter, scenario)
