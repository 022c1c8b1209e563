"""Streams that reconnect, over every adapter and real connections."""

import functools
import logging
import threading
import time
from typing import Any

import anyio
import anyio.to_thread
import pytest
from support.adapters import ADAPTERS, every_adapter, every_async_adapter
from support.frames import chunk, done, text
from support.modes import play
from support.raw_server import CHUNKED, HEAD, LAST_CHUNK, TIMEOUT, serving

from ratatoskr_proto import (
    ReconnectPolicy,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    encode_event,
)

FAST = ReconnectPolicy(attempts=3, floor=0.001, ceiling=0.002)
PATIENT = ReconnectPolicy(floor=TIMEOUT * 10, ceiling=TIMEOUT * 10)
# The server closes each connection, so no client may keep one for the next request.
ANSWER = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
BUSY = b"HTTP/1.1 503 Later\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
NO_MORE = b"HTTP/1.1 204 No\r\n\r\n"
SECRET = "hunter2"


DONE = done(4)


class Script:
    """A server that handles each connection by the next of the steps, and notes the requests."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.heads = []
        self.bodies = []
        self.asked = []

    def __call__(self, peer):
        self.bodies.append(peer.read_request())
        self.heads.append(peer.head.decode().lower())
        self.asked.append(peer.header("last-event-id"))
        peer.send(*self.steps.pop(0))


def dropping(*frames):
    """Some frames, and the connection is cut."""
    return [ANSWER + b"".join(map(chunk, frames))]


def whole(*frames):
    return [*dropping(*frames), LAST_CHUNK]


@every_adapter
def test_turn_is_taken_up_with_a_get_wherever_it_is_to_be_resumed(adapter, caplog):
    script = Script(
        dropping(text(1), text(2)), [BUSY], whole(text(2), text(3)), [], dropping(text(3) + DONE)
    )
    with serving(script) as server, caplog.at_level(logging.INFO, "ratatoskr_transports"):
        outcome = adapter.run_turn(
            server.url.replace("://", f"://me:{SECRET}@") + f"?key={SECRET}",
            json={"message": SECRET},
            headers={"X-Key": SECRET, "Content-Language": "en", "Last-Event-ID": "1:1"},
            reconnect=FAST,
            resume_url=f"{server.url}/resume?key={SECRET}",
        )
    assert ([event.sse_id.seq for event in outcome.items], outcome.error) == ([1, 2, 3, 4], None)
    assert outcome.stream.reconnects == 4
    assert script.asked == ["1:1", "42:2", "42:2", "42:3", "42:3"]
    lines = [head.split("\r\n") for head in script.heads]
    again = f"get /turns/resume?key={SECRET} http/1.1"
    assert [each[0] for each in lines] == [f"post /turns?key={SECRET} http/1.1"] + [again] * 4
    assert script.bodies[1:] == [b""] * 4
    for each in lines:
        assert f"x-key: {SECRET}" in each
        assert "accept: text/event-stream" in each
    for each in lines[1:]:
        assert [line for line in each if line.startswith("content-")] == []
    records = [each for each in caplog.records if each.name == "ratatoskr_transports"]
    assert [each.levelname for each in records] == ["INFO"] * 4
    assert SECRET not in caplog.text


@every_adapter
def test_turn_is_resumed_at_its_own_url_by_default_and_gives_up_there(adapter):
    script = Script(dropping(text(1)), *[[BUSY]] * 3)
    with serving(script) as server:
        outcome = adapter.run_turn(server.url, content="x", reconnect=FAST)
    assert [event.sse_id.seq for event in outcome.items] == [1]
    reason = outcome.error.reason.split("; ")
    assert reason[0].startswith("cut body")
    assert reason[1:] == ["reconnect failed: status 503"]
    assert outcome.error.last_sse_id == (42, 1)
    assert [head.split(" http")[0] for head in script.heads] == ["post /turns"] + ["get /turns"] * 3


@every_adapter
def test_resumed_turn_is_resumed_again_from_its_first_request_on(adapter):
    script = Script([BUSY], [], dropping(text(2)), whole(DONE))
    with serving(script) as server:
        outcome = adapter.run_resumed(server.url, "42:1", reconnect=FAST)
    assert ([event.sse_id.seq for event in outcome.items], outcome.error) == ([2, 4], None)
    assert script.asked == ["42:1", "42:1", "42:1", "42:2"]


@every_adapter
def test_events_go_on_until_the_server_says_that_there_are_no_more(adapter):
    one, two = encode_event("a", retry_ms=1), encode_event("b", id="7 → é")
    script = Script([BUSY], whole(one), dropping(two, b"id: 8\n"), [BUSY], [NO_MORE])
    with serving(script) as server:
        outcome = adapter.run_events(server.url, content="x", reconnect=FAST)
    assert [item.data for item in outcome.items] == ["a", "b"]
    stream = outcome.stream
    assert (outcome.error, stream.reconnects, stream.last_event_id) == (None, 4, "7 → é")
    assert script.asked == [None, None, None, "7 → é", "7 → é"]
    # The request is the same each time.
    assert {head.split(" http")[0] for head in script.heads} == {"get /turns"}
    assert script.bodies == [b"x"] * 5


@every_adapter
def test_id_that_no_header_can_carry_ends_the_stream(adapter):
    script = Script(whole(encode_event("a", id="\x01")))
    with serving(script) as server:
        outcome = adapter.run_events(server.url, reconnect=FAST)
    assert outcome.error == SseConnectionDropped(None, "end of stream; reconnect failed: protocol")
    assert (server.connections, outcome.stream.last_event_id) == (1, "\x01")


@every_adapter
def test_stream_without_a_policy_does_not_go_on(adapter):
    script = Script(dropping(text(1)))
    with serving(script) as server:
        outcome = adapter.run_turn(server.url)
    assert (server.connections, outcome.stream.reconnects) == (1, 0)
    assert type(outcome.error) is SseConnectionDropped


def silent(peer):
    """Drops the first connection in mid-turn; the next one is not answered."""
    peer.read_request()
    if peer.server.connections == 1:
        peer.send(CHUNKED, chunk(text(1)))
    else:
        peer.server.signal.set()
        peer.wait_for_close()


async def until_it_waits(turn):
    while not turn.reconnects:
        await anyio.lowlevel.checkpoint()
    await anyio.wait_all_tasks_blocked()


async def until_it_connects(server):
    assert await anyio.to_thread.run_sync(server.signal.wait, TIMEOUT)


@pytest.mark.parametrize("way", ["closed", "cancelled"])
@pytest.mark.parametrize("place", ["waits", "connects"])
@every_async_adapter
def test_end_of_a_stream_that_waits_or_connects_again_is_at_once_and_for_good(adapter, place, way):
    async def scenario(open_stream, server):
        policy = PATIENT if place == "waits" else FAST
        turn = open_stream("stream_turn", server.url, reconnect=policy)
        errors = []

        async def read():
            try:
                async for _ in turn:
                    pass
            except SseConnectionDropped as error:
                errors.append(error)

        closed = SseConnectionDropped(SseId(42, 1), "closed")
        async with turn:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await (until_it_waits(turn) if place == "waits" else until_it_connects(server))
                if way == "closed":
                    await turn.aclose()
                else:
                    tasks.cancel_scope.cancel()
            assert errors == ([closed] if way == "closed" else [])
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(turn)
            assert caught.value == closed
        assert turn.reconnects == 1
        assert server.connections == (1 if place == "waits" else 2)

    with serving(silent) as server:
        play(adapter, scenario, server)


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each.is_sync], ids=str)
def test_sync_stream_that_waits_is_ended_by_another_thread(adapter):
    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url, reconnect=PATIENT)

        def close():
            while not turn.reconnects:
                time.sleep(0)
            turn.stream.close()

        thread = threading.Thread(target=close)
        async with turn:
            await anext(turn)
            thread.start()
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(turn)
            thread.join(TIMEOUT)
        assert caught.value == SseConnectionDropped(SseId(42, 1), "closed")
        assert server.connections == 1

    with serving(silent) as server:
        play(adapter, scenario, server)


@every_async_adapter
def test_closing_after_another_connection_was_made_cancels_nothing_of_the_caller(adapter):
    async def scenario(open_stream, server):
        async with open_stream("stream_turn", server.url, reconnect=FAST) as turn:
            assert (await anext(turn)).sse_id.seq == 1
            assert (await anext(turn)).sse_id.seq == 2
            await turn.aclose()
            await anyio.lowlevel.checkpoint()
            await turn.aclose()
        await anyio.lowlevel.checkpoint()
        assert turn.reconnects == 1

    with serving(Script(dropping(text(1)), dropping(text(2)))) as server:
        play(adapter, scenario, server)


@every_adapter
def test_policy_must_be_one_and_the_request_one_that_may_be_sent_again(adapter):
    cases: list[tuple[Any, ...]] = [
        ("stream_turn", [], {"reconnect": 3}, TypeError, "reconnect must be a ReconnectPolicy"),
        ("stream_events", [], {"reconnect": True}, TypeError, "reconnect must be a Reconnect"),
        ("stream_events", [], {"method": "POST"}, ValueError, "its method must be GET"),
        ("reconnect_turn", ["42:1"], {"method": "POST"}, ValueError, "its method must be GET"),
        ("stream_events", [], {"method": b"GET"}, TypeError, "the method must be a str"),
        ("stream_turn", [], {"resume_url": "ftp://host/"}, ValueError, "must start with http"),
        ("stream_turn", [], {"resume_url": "http://a b/"}, ValueError, "a space"),
        ("stream_turn", [], {"resume_url": b"http://host/"}, TypeError, "URL must be a str"),
        (
            "stream_turn",
            [],
            {"resume_url": "http://host/", "reconnect": None},
            ValueError,
            "resume_url is used with reconnect only",
        ),
    ]

    async def scenario(open_stream):
        for function, arguments, options, kind, words in cases:
            with pytest.raises(kind, match=words):
                open_stream(function, "http://host/", *arguments, **{"reconnect": FAST, **options})
        open_stream("stream_events", "http://host/", method="get", reconnect=FAST)

    play(adapter, scenario)


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each.is_httpx], ids=str)
def test_cookies_of_the_client_go_with_the_next_request_if_they_can(adapter):
    head = CHUNKED.replace(b"\r\n\r\n", b"\r\nSet-Cookie: stick=7\r\n\r\n")
    script = Script([head, chunk(text(1))], whole(DONE))
    with serving(script) as server:
        assert adapter.run_turn(server.url, reconnect=FAST).error is None
    assert ["cookie: stick=7" in each for each in script.heads] == [False, True]

    head = CHUNKED.replace(b"\r\n\r\n", b"\r\nSet-Cookie: stick=\x01\r\n\r\n")
    with serving(Script([head, chunk(text(1))])) as server:
        error = adapter.run_turn(server.url, reconnect=FAST).error
    assert (error.last_sse_id, error.reason.split("; ")[1]) == (
        (42, 1),
        "reconnect failed: protocol",
    )


@every_adapter
def test_first_request_that_nobody_answers_is_sent_again_only_if_that_is_safe(adapter):
    with serving(Script([], [], [], [])) as server:
        assert adapter.run_turn(server.url, reconnect=FAST).error.reason.startswith("closed")
        assert server.connections == 1
    with serving(Script([], [], [], [])) as server:
        outcome = adapter.run_events(server.url, reconnect=FAST)
        assert isinstance(outcome.error, SseConnectFailed)
        assert (server.connections, outcome.stream.reconnects) == (4, 3)


@every_adapter
def test_on_wait_is_called_before_every_wait_with_the_error_and_the_seconds(adapter):
    waits = []

    def note(error, seconds):
        waits.append((error, seconds, len(script.asked)))

    policy = ReconnectPolicy(attempts=3, floor=0.001, ceiling=0.002, jitter=0)
    script = Script(dropping(text(1)), [BUSY], whole(DONE))
    with serving(script) as server:
        outcome = adapter.run_turn(server.url, reconnect=policy, on_wait=note)
    assert outcome.error is None
    (lost, *first), (refused, *second) = waits
    assert (type(lost), lost.last_sse_id) == (SseConnectionDropped, (42, 1))
    assert refused == SseConnectFailed(503, "", "status")
    assert (first, second) == ([0.001, 1], [0.002, 2])

    waits.clear()
    script = Script([BUSY], whole(DONE))
    with serving(script) as server:
        adapter.run_resumed(server.url, "42:1", reconnect=policy, on_wait=note)
    assert waits == [(refused, 0.001, 1)]

    waits.clear()
    script = Script([BUSY], whole(DONE), [NO_MORE])
    with serving(script) as server:
        adapter.run_events(server.url, reconnect=policy, on_wait=note)
    assert waits == [
        (refused, 0.001, 1),
        (SseConnectionDropped(None, "end of stream"), 0.001, 2),
    ]


@every_adapter
def test_exception_of_on_wait_closes_the_stream_and_comes_through(adapter):
    def fail(error, seconds):
        raise ZeroDivisionError

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url, reconnect=PATIENT, on_wait=fail)
        async with turn:
            await anext(turn)
            with pytest.raises(ZeroDivisionError):
                await anext(turn)
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(turn)
            assert caught.value == SseConnectionDropped(SseId(42, 1), "closed")
        resumed = open_stream("reconnect_turn", server.url, "42:1", reconnect=PATIENT, on_wait=fail)
        with pytest.raises(ZeroDivisionError):
            await resumed.__aenter__()
        assert server.connections == 2

    with serving(Script(dropping(text(1)), [BUSY])) as server:
        play(adapter, scenario, server)


@every_adapter
def test_on_wait_must_be_a_plain_function(adapter):
    async def wait(error, seconds):
        raise AssertionError

    class Waiter:
        async def __call__(self, error, seconds):
            raise AssertionError

    cases = [
        (3, "on_wait must be a plain function, not int"),
        (wait, "on_wait must be a plain function"),
        (Waiter(), "on_wait must be a plain function"),
        (functools.partial(wait, None), "on_wait must be a plain function"),
    ]

    async def scenario(open_stream):
        for on_wait, words in cases:
            for function, *arguments in (
                ["stream_turn"],
                ["reconnect_turn", "42:1"],
                ["stream_events"],
            ):
                for reconnect in (FAST, None):
                    with pytest.raises(TypeError, match=words):
                        open_stream(
                            function,
                            "http://host/",
                            *arguments,
                            reconnect=reconnect,
                            on_wait=on_wait,
                        )
        open_stream("stream_turn", "http://host/", reconnect=FAST, on_wait=[].append)
        open_stream("stream_turn", "http://host/", on_wait=print)  # never called

    play(adapter, scenario)
