"""Streams that reconnect, over scripted sources and a clock of our own.

test_reconnect_property.py does this at random.
"""

import logging
from types import SimpleNamespace

import pytest
from support.frames import done, text
from support.modes import AsyncFace, every_mode
from support.reconnecting import RESET, World, busy, read, seqs

from ratatoskr_proto import (
    Comment,
    MalformedSseData,
    ReconnectPolicy,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    TurnState,
    encode_comment,
    encode_event,
)
from ratatoskr_transports import SyncTurnStream, TurnStream
from ratatoskr_transports._streams import loops
from ratatoskr_transports._streams.sources import Refused

WHY = "reset (ConnectionResetError)"


@every_mode
def test_turn_goes_on_over_other_connections(mode, caplog):
    async def main():
        world = World(
            mode,
            [b"retry: 3000\n" + text(1) + text(2) + b"data", RESET],
            busy(retry_after="Sun, 06 Nov 1994 08:50:00 GMT"),  # 20 seconds later by then
            Refused(SseConnectFailed(None, "", "refused")),
            [text(1), text(2) + text(3)],  # too much, and then an end without the terminal event
            [done(4)],
            chance=1.0,
        )
        turn = world.turn()
        tapped = []
        turn.tap(tapped.append)
        assert (await read(turn)) == (
            [*(await read_plain(text(1) + text(2) + text(3) + done(4)))],
            None,
        )
        assert world.asked == [None, "42:2", "42:2", "42:2", "42:3"]
        # 3 seconds and half of that at random; what Retry-After said; the third wait; short again.
        assert world.waits == [4.5, 1.5 * (23 - 4.5), 18.0, 4.5]
        assert (turn.reconnects, turn.retry_ms, turn.status) == (4, 3000, 200)
        assert turn.headers["connection-number"] == "5"
        assert (turn.state, turn.last_sse_id) == (TurnState.DONE, (42, 4))
        assert b"".join(tapped).count(b"data:") == 6
        assert [source.closed for source in world.sources] == [1, 1, 1]

    async def read_plain(wire):
        plain = AsyncFace((SyncTurnStream if mode.sync else TurnStream)(mode.source(wire)))
        return [event async for event in plain]

    with caplog.at_level(logging.DEBUG, "ratatoskr_transports"):
        mode.run(main)
    dropped = f"[connection_dropped] last_sse_id=42:2 reason='{WHY}; unfinished event lost'"
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("INFO", f"[reconnecting] seconds=4.500 {dropped}"),
        (
            "INFO",
            "[reconnecting] seconds=27.750 [connect_failed] status=503 reason='status' body=''",
        ),
        (
            "INFO",
            "[reconnecting] seconds=18.000 [connect_failed] status=None reason='refused' body=''",
        ),
        (
            "INFO",
            "[reconnecting] seconds=4.500 "
            "[connection_dropped] last_sse_id=42:3 reason='end of stream'",
        ),
    ]


@every_mode
def test_what_was_decoded_before_the_loss_is_handed_out_first(mode):
    async def main():
        world = World(mode, [text(1) + text(2) + text(3), RESET], [done(4)])
        turn = world.turn()
        async with turn:
            for seq in (1, 2, 3):
                assert (await anext(turn)).sse_id.seq == seq
                assert world.asked == [None]
            assert turn.reconnects == 0
            assert (await anext(turn)).terminal
        assert world.asked == [None, "42:3"]

    mode.run(main)


@every_mode
def test_turn_that_is_lost_before_its_first_event_is_lost(mode):
    async def main():
        world = World(mode, [b"retry: 1\n\nid: 42:1\nda", RESET])
        turn = world.turn()
        lost = SseConnectionDropped(None, f"{WHY}; unfinished event lost")
        assert await read(turn) == ([], lost)
        assert (world.asked, world.waits, turn.reconnects) == ([None], [], 0)

    mode.run(main)


@every_mode
def test_request_that_starts_a_turn_is_not_sent_again(mode, caplog):
    async def main():
        world = World(mode, busy(retry_after="1"))
        assert await read(world.turn()) == ([], busy().error)
        assert (world.asked, world.waits) == ([None], [])

    mode.run(main)
    assert [each.levelname for each in caplog.records] == ["WARNING"]


@every_mode
def test_other_first_requests_are_sent_again_if_that_is_worth_it(mode):
    async def main():
        world = World(mode, busy(), busy(), [text(8), done(9)])
        turn = world.turn(resume_from=SseId(42, 7))
        events, error = await read(turn)
        assert (seqs(events), error, turn.reconnects) == ([8, 9], None, 2)
        assert (world.asked, world.waits) == ([None, "42:7", "42:7"], [1, 2])

        world = World(mode, busy(), busy(), busy(), busy(429))
        turn = world.turn(resume_from=SseId(42, 7))
        assert await read(turn) == ([], busy(429).error)
        assert (turn.last_sse_id, turn.reconnects) == ((42, 7), 3)

        world = World(mode, busy(), busy(404))
        assert await read(world.events()) == ([], busy(404).error)
        assert world.asked == [None, ""]
        world = World(mode, busy(204))
        assert await read(world.events()) == ([], busy(204).error)

    mode.run(main)


@every_mode
@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        (busy(404), "status 404"),
        (busy(204), "status 204"),
        (Refused(SseConnectFailed(200, "<html>", "content-type")), "content-type"),
        (Refused(SseConnectFailed(None, "", "tls (SSLError)")), "tls (SSLError)"),
    ],
    ids=repr,
)
def test_final_refusal_ends_in_one_error_that_says_from_where_to_resume(
    mode, refusal, reason, caplog
):
    async def main():
        world = World(mode, [text(1) + text(2), RESET], busy(), refusal)
        turn = world.turn()
        events, error = await read(turn)
        expected = SseConnectionDropped(SseId(42, 2), f"{WHY}; reconnect failed: {reason}")
        assert (seqs(events), error) == ([1, 2], expected)
        assert (turn.state, turn.last_sse_id, turn.reconnects) == (TurnState.FAILED, (42, 2), 2)
        with pytest.raises(SseConnectionDropped) as caught:
            await anext(turn)
        assert (caught.value, caught.value.__context__) == (expected, None)

    mode.run(main)
    assert [each.levelname for each in caplog.records] == ["WARNING"]


@every_mode
def test_attempts_without_progress_are_used_up(mode):
    async def main():
        # Openings and replays are not progress.
        replay = [text(1), text(2), RESET]
        world = World(mode, replay, replay, replay, replay)
        events, error = await read(world.turn())
        assert (seqs(events), error) == ([1, 2], SseConnectionDropped(SseId(42, 2), WHY))
        assert world.waits == [1, 2, 4]

        world = World(mode, *[[text(seq), RESET] for seq in range(1, 9)], [done(9)])
        events, error = await read(world.turn(ReconnectPolicy(attempts=1, jitter=0)))
        assert (len(events), error, world.waits) == (9, None, [1] * 8)

    mode.run(main)


@every_mode
def test_error_of_the_protocol_is_final_and_as_it_is(mode):
    async def main():
        world = World(mode, [text(1), RESET], [text(2) + encode_event("?", id="42:3")])
        turn = world.turn()
        events, error = await read(turn)
        assert (seqs(events), error) == ([1, 2], MalformedSseData("?"))
        assert (turn.last_sse_id, turn.reconnects) == ((42, 2), 1)

    mode.run(main)


@every_mode
def test_events_go_on_after_a_clean_end_too_until_the_server_says_that_there_are_no_more(mode):
    async def main():
        comments = [encode_comment("a"), b"id: 1\n\n"]
        world = World(
            mode,
            [encode_event("a", id="0"), RESET],
            [*comments, b"data: never"],
            [encode_event("b"), encode_event("b")],
            busy(),
            [],
            busy(204),
        )
        events = world.events(comments=True)
        items, error = await read(events)
        assert error is None
        assert items == [
            ("message", "a", "0"),
            Comment("a"),
            ("message", "b", "1"),
            ("message", "b", "1"),
        ]
        assert world.asked == [None, "0", "1", "1", "1", "1"]
        # An id that moved is progress, and so is an event that is like the one before.
        assert world.waits == [1, 1, 1, 2, 4]
        assert (events.last_event_id, events.reconnects) == ("1", 5)
        for _ in range(2):
            with pytest.raises(StopAsyncIteration):
                await anext(events)

    mode.run(main)


@every_mode
def test_events_that_only_ever_end_are_given_up(mode):
    async def main():
        world = World(mode, [encode_event("a", id="x")], [encode_comment("no progress")], [], [])
        events = world.events(comments=True)
        items, error = await read(events)
        assert (len(items), error) == (2, SseConnectionDropped(None, "end of stream"))
        assert (events.last_event_id, world.asked) == ("x", [None, "x", "x", "x"])

    mode.run(main)


@every_mode
def test_event_timeout_counts_the_reading_on_all_connections_and_is_final(mode, monkeypatch):
    async def main():
        world = World(mode)
        monkeypatch.setattr(loops, "time", SimpleNamespace(monotonic=lambda: world.now))

        def taking(seconds, outcome):
            def step():
                world.now += seconds
                return outcome

            async def async_step():
                return step()

            return step if mode.sync else async_step

        world.answers = [
            [taking(9, text(1)), taking(6, RESET)],
            [taking(3, encode_comment("alive")), taking(2, encode_comment("alive"))],
        ]
        policy = ReconnectPolicy(floor=50, ceiling=60)
        events, error = await read(world.turn(policy, event_timeout=10))
        assert seqs(events) == [1]
        assert error == SseConnectionDropped(SseId(42, 1), "event timeout")
        assert world.waits == [50]

    mode.run(main)


@every_mode
@pytest.mark.parametrize(
    ("bug", "expected"), [(ZeroDivisionError(), ZeroDivisionError), (StopIteration(), RuntimeError)]
)
def test_bug_in_connecting_again_comes_through_and_breaks_the_stream(mode, bug, expected):
    def answer():
        raise bug

    async def main():
        world = World(mode, [text(1), RESET], answer)
        turn = world.turn()
        async with turn:
            await anext(turn)
            with pytest.raises(expected):
                await anext(turn)
            with pytest.raises(SseConnectionDropped, match="closed"):
                await anext(turn)

    mode.run(main)


@every_mode
def test_event_that_is_equal_to_the_last_one_of_the_connection_before_is_progress(mode):
    async def main():
        event = encode_event("a", id="x")
        world = World(mode, [event], [event], [event], busy(204))
        items, error = await read(world.events())
        assert ([item.data for item in items], error) == (["a"] * 3, None)
        assert world.waits == [1, 1, 1]

    mode.run(main)
