"""Timeouts: the event timeout over a clock of our own and over every adapter, and the others."""

import contextlib

import pytest
import trio
import trio.testing
from support.adapters import ADAPTERS, every_adapter
from support.frames import chunk, done, text
from support.modes import events_over, every_mode, next_error, play, turn_over
from support.raw_server import CHUNKED, LAST_CHUNK, serving

import ratatoskr_transports._streams.loops
import ratatoskr_transports.anyio
import ratatoskr_transports.trio
from ratatoskr_proto import (
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    encode_comment,
    encode_event,
)

SHORT = 0.3  # seconds: a timeout that is meant to pass
PACE = 0.02  # seconds between two signs of life
FIRST = text(1, "a", turn=7)
SECOND = text(2, "b", turn=7)
EMPTY = encode_event("", id="7:9")
DONE = done(3, turn=7)
COMMENT = encode_comment("alive")
EVENT_TIMEOUT = SseConnectionDropped(SseId(7, 1), "event timeout")


def taking(mode, clock, seconds, outcome):
    """A read that takes its time."""

    def step():
        clock.now += seconds
        return outcome

    async def async_step():
        return step()

    return step if mode.sync else async_step


@every_mode
@pytest.mark.parametrize("sign", [COMMENT, EMPTY, b"id: 7:8\n\n"], ids=["comment", "empty", "id"])
def test_signs_of_life_do_not_count_as_events(mode, clock, sign):
    async def main():
        signs = [taking(mode, clock, 4, sign) for _ in range(3)]
        turn, _ = turn_over(mode, FIRST, *signs, DONE, event_timeout=10)
        await anext(turn)
        assert await next_error(turn) == await next_error(turn) == EVENT_TIMEOUT

    mode.run(main)


@every_mode
def test_event_sets_the_time_back(mode, clock):
    async def main():
        steps = [taking(mode, clock, 9, each) for each in (FIRST, SECOND, DONE)]
        turn, _ = turn_over(mode, *steps, event_timeout=10)
        assert [event.sse_id.seq async for event in turn] == [1, 2, 3]

    mode.run(main)


@every_mode
def test_event_that_comes_late_is_handed_out_all_the_same(mode, clock):
    async def main():
        turn, _ = turn_over(mode, taking(mode, clock, 99, FIRST + DONE), event_timeout=10)
        assert [event.sse_id.seq async for event in turn] == [1, 3]

    mode.run(main)


@every_mode
def test_comments_that_are_handed_out_do_not_count_either(mode, clock):
    async def main():
        steps = [taking(mode, clock, 4, COMMENT) for _ in range(9)]
        events, _ = events_over(mode, FIRST, *steps, comments=True, event_timeout=10)
        await anext(events)
        assert [(await anext(events)).text for _ in range(3)] == ["alive"] * 3
        assert (await next_error(events)).reason == "event timeout"

    mode.run(main)


@every_mode
def test_time_in_the_loop_body_of_the_caller_does_not_count(mode, clock):
    async def main():
        steps = [taking(mode, clock, 4, each) for each in (FIRST, COMMENT, SECOND, DONE)]
        turn, _ = turn_over(mode, *steps, event_timeout=10)
        seen = []
        async for event in turn:
            seen.append(event.sse_id.seq)
            clock.now += 1000
        assert seen == [1, 2, 3]

    mode.run(main)


@every_mode
def test_without_an_event_timeout_a_stream_may_say_nothing_for_ever(mode, clock):
    async def main():
        steps = [taking(mode, clock, 1e6, COMMENT) for _ in range(9)]
        turn, _ = turn_over(mode, *steps, DONE, event_timeout=None)
        assert [event.type async for event in turn] == ["done"]

    mode.run(main)


@every_mode
def test_read_that_times_out_when_the_event_timeout_is_used_up_is_the_event_timeout(mode, clock):
    async def main():
        for seconds, reason in [(12, "event timeout"), (8, "read timeout (TimeoutError)")]:
            late = taking(mode, clock, seconds, TimeoutError())
            turn, _ = turn_over(mode, FIRST, late, event_timeout=10)
            await anext(turn)
            assert (await next_error(turn)).reason == reason

    mode.run(main)


@every_mode
def test_unfinished_event_is_told_of(mode, clock):
    async def main():
        late = taking(mode, clock, 10, b"x")
        turn, _ = turn_over(mode, FIRST + b"data: ", late, event_timeout=10)
        await anext(turn)
        assert (await next_error(turn)).reason == "event timeout; unfinished event lost"

    mode.run(main)


def keeping_alive(sign, head=FIRST):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED + chunk(head))
        while not peer.server.signal.wait(PACE):
            peer.send(chunk(sign))

    return handler


@every_adapter
@pytest.mark.parametrize("sign", [COMMENT, EMPTY], ids=["comment", "empty"])
def test_event_timeout_fires_however_many_signs_of_life_come(adapter, sign):
    with serving(keeping_alive(sign)) as server:
        outcome = adapter.run_turn(server.url, event_timeout=SHORT)
    assert [event.sse_id.seq for event in outcome.items] == [1]
    assert outcome.error == EVENT_TIMEOUT


@every_adapter
def test_event_timeout_fires_over_comments_that_are_handed_out(adapter):
    with serving(keeping_alive(COMMENT, encode_event("a"))) as server:
        outcome = adapter.run_events(server.url, event_timeout=SHORT, comments=True)
    assert {item.text for item in outcome.items[1:]} == {"alive"}
    assert outcome.error == SseConnectionDropped(None, "event timeout")


def falling_silent(peer):
    peer.read_request()
    peer.send(CHUNKED + chunk(FIRST))
    peer.server.wait_for_signal()


@every_adapter
def test_event_timeout_fires_in_silence_at_the_latest_with_the_read_timeout(adapter):
    async def scenario(open_stream, server):
        async with open_stream("stream_turn", server.url, event_timeout=SHORT) as turn:
            await anext(turn)
            assert await next_error(turn) == EVENT_TIMEOUT
            server.signal.set()

    with serving(falling_silent) as server:
        play(adapter, scenario, server, read_timeout=2 * SHORT)


def dripping(peer):
    """Send a chunk extension byte by byte, which is never a silence, nor anything of the body."""
    peer.read_request()
    peer.send(CHUNKED + chunk(FIRST) + b"5;")
    while not peer.server.signal.wait(PACE):
        peer.send(b"x")


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if not each.is_sync], ids=str)
def test_event_timeout_fires_in_the_middle_of_a_read_that_never_ends(adapter):
    with serving(dripping) as server:
        outcome = adapter.run_turn(server.url, event_timeout=SHORT)
    assert outcome.error == EVENT_TIMEOUT


@every_adapter
def test_read_timeout_fires_in_silence(adapter):
    async def scenario(open_stream, server):
        async with open_stream("stream_turn", server.url) as turn:
            await anext(turn)
            error = await next_error(turn)
            assert error.reason.word == "read timeout"
            assert await next_error(turn) == error
            server.signal.set()

    for patience in (1, 5, 25):  # the head, too, must come in time: on a busy machine it may not
        with serving(falling_silent) as server, contextlib.suppress(SseConnectFailed):
            play(adapter, scenario, server, read_timeout=patience * SHORT)
            return
    pytest.fail("the server never answered in time")


@every_adapter
def test_stream_within_its_timeouts_is_whole(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(FIRST), chunk(COMMENT), chunk(SECOND + DONE), LAST_CHUNK)

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, event_timeout=10)
    assert ([event.sse_id.seq for event in outcome.items], outcome.error) == ([1, 2, 3], None)


def test_every_byte_sets_the_read_timeout_back():
    async def main():
        ours, theirs = trio.testing.memory_stream_pair()

        async def serve():
            for byte in FIRST:
                await trio.sleep(50)  # of a clock that jumps
                await theirs.send_all(bytes([byte]))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            turn = ratatoskr_transports.trio.wrap(ours, read_timeout=60)
            assert (await anext(turn)).sse_id == (7, 1)
            with pytest.raises(SseConnectionDropped, match="read timeout"):
                await anext(turn)
            await turn.aclose()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


BAD = [
    ("1", TypeError),
    (True, TypeError),
    (b"1", TypeError),
    (0, ValueError),
    (-1.5, ValueError),
    (float("nan"), ValueError),
]


@every_adapter
@pytest.mark.parametrize("function", ["stream_turn", "stream_events"])
@pytest.mark.parametrize(("value", "kind"), BAD, ids=repr)
def test_event_timeout_must_be_more_than_no_seconds(adapter, function, value, kind):
    async def scenario(open_stream):
        with pytest.raises(kind, match="event_timeout must be"):
            open_stream(function, "http://127.0.0.1:9/", event_timeout=value)

    play(adapter, scenario)


@pytest.mark.parametrize("module", [ratatoskr_transports.anyio, ratatoskr_transports.trio])
@pytest.mark.parametrize("name", ["connect_timeout", "read_timeout"])
@pytest.mark.parametrize(("value", "kind"), BAD, ids=repr)
def test_timeouts_of_a_connection_must_be_more_than_no_seconds(module, name, value, kind):
    calls = [
        lambda **options: module.stream_turn("http://localhost/", **options),
        lambda **options: module.stream_events("http://localhost/", **options),
        lambda **options: module.reconnect_turn("http://localhost/", "7:1", **options),
    ]
    for call in calls:
        with pytest.raises(kind, match=f"{name} must be"):
            call(**{name: value})
        for good in (None, 1, 0.5, float("inf")):
            call(**{name: good})
