"""What a stream says at and after its end, over a source without sockets, sync and async."""

import logging
import traceback

import pytest
from support.frames import done, text
from support.modes import events_over, every_mode, next_error, turn_over

from ratatoskr_proto import (
    MalformedSseData,
    SseConnectionDropped,
    SseId,
    TurnState,
    encode_event,
)

FIRST = encode_event('{"type":"text","text":"a"}', id="7:1", retry_ms=50)
SECOND = text(2, "b", turn=7)
EMPTY = encode_event("", id="7:3")
DONE = done(4, turn=7)
BAD = encode_event("no JSON", id="7:5")
CLOSED = SseConnectionDropped(None, "closed")


@every_mode
def test_end_is_said_each_time_and_the_source_is_closed_once(mode):
    async def main():
        turn, source = turn_over(mode, FIRST + DONE)
        assert [event.type async for event in turn] == ["text", "done"]
        for _ in range(3):
            assert type(await next_error(turn)) is StopAsyncIteration
        await turn.aclose()
        assert type(await next_error(turn)) is StopAsyncIteration
        assert (source.closed, turn.state) == (1, TurnState.DONE)

    mode.run(main)


@every_mode
def test_turn_is_over_with_its_terminal_event_whatever_follows(mode):
    async def main():
        turn, source = turn_over(mode, DONE + BAD, OSError("never read"))
        assert [event.type async for event in turn] == ["done"]
        assert len(source.steps) == 1

    mode.run(main)


@every_mode
def test_turn_left_after_its_terminal_event_is_not_broken(mode):
    async def main():
        turn, source = turn_over(mode, DONE)
        async with turn:
            assert (await anext(turn)).terminal
        assert type(await next_error(turn)) is StopAsyncIteration
        assert (turn.state, source.closed) == (TurnState.DONE, 1)

    mode.run(main)


@every_mode
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([FIRST + BAD], MalformedSseData("no JSON")),
        ([FIRST], SseConnectionDropped(SseId(7, 1), "end of stream")),
        ([FIRST + b"data", ConnectionResetError()], "reset (ConnectionResetError)"),
    ],
    ids=["protocol", "eof", "reset"],
)
def test_error_is_raised_again_as_a_fresh_equal_copy_without_cause_and_context(
    mode, steps, expected
):
    async def main():
        turn, source = turn_over(mode, *steps)
        assert (await anext(turn)).text == "a"
        errors = [await next_error(turn) for _ in range(3)]
        try:
            raise ValueError("what the caller is at")
        except ValueError:
            errors.append(await next_error(turn))
        if isinstance(expected, str):
            reason = f"{expected}; unfinished event lost"
            assert errors[0] == SseConnectionDropped(SseId(7, 1), reason)
        else:
            assert errors[0] == expected
        assert len(set(errors)) == 1
        assert len({id(error) for error in errors}) == len(errors)
        assert [(error.__cause__, error.__context__) for error in errors] == [(None, None)] * 4
        assert (turn.state, turn.last_sse_id, source.closed) == (TurnState.FAILED, (7, 1), 1)
        await turn.aclose()
        assert await next_error(turn) == errors[0]

    mode.run(main)


@every_mode
def test_traceback_of_an_error_does_not_grow_from_one_time_to_the_next(mode):
    async def main():
        turn, _ = turn_over(mode)
        depths = [
            len(traceback.extract_tb((await next_error(turn)).__traceback__)) for _ in range(4)
        ]
        assert depths[1] == depths[2] == depths[3]

    mode.run(main)


@every_mode
def test_what_one_chunk_brought_is_told_as_it_is_handed_out(mode):
    async def main():
        turn, _ = turn_over(mode, FIRST + SECOND + EMPTY + DONE)
        seen = []
        async for event in turn:
            assert turn.last_sse_id == event.sse_id
            assert turn.turn_id == 7
            seen.append((event.sse_id.seq, turn.state))
        streaming = TurnState.STREAMING
        assert seen == [(1, streaming), (2, streaming), (4, TurnState.DONE)]

    mode.run(main)


@every_mode
def test_turn_closed_early_resumes_after_what_was_handed_out(mode):
    async def main():
        turn, _ = turn_over(mode, FIRST + SECOND + DONE)
        assert (turn.last_sse_id, turn.turn_id, turn.state) == (None, None, TurnState.STREAMING)
        await anext(turn)
        await turn.aclose()
        assert (turn.last_sse_id, turn.turn_id, turn.state) == ((7, 1), 7, TurnState.FAILED)
        assert await next_error(turn) == SseConnectionDropped(SseId(7, 1), "closed")

    mode.run(main)


@every_mode
def test_resumed_turn_stands_where_it_was_resumed(mode):
    async def main():
        turn, _ = turn_over(mode, FIRST + SECOND, resume_from=SseId(7, 1))
        assert (turn.last_sse_id, turn.turn_id) == ((7, 1), 7)
        assert (await anext(turn)).text == "b"
        assert turn.last_sse_id == (7, 2)

    mode.run(main)


@every_mode
def test_last_event_id_is_that_of_what_was_handed_out(mode):
    async def main():
        wire = encode_event("a", id="1") + encode_event("b", id="2") + b"id: 3\n\n"
        events, _ = events_over(mode, wire, last_event_id="0")
        seen = [events.last_event_id]
        async for event in events:
            assert event.id == events.last_event_id
            seen.append(event.id)
        # The last id came without an event, after all of them.
        assert [*seen, events.last_event_id] == ["0", "1", "2", "3"]

    mode.run(main)


@every_mode
def test_events_closed_before_the_end_was_seen_never_look_complete(mode):
    async def main():
        events, source = events_over(mode, encode_event("a", id="1"))
        await anext(events)
        await events.aclose()
        await events.aclose()
        assert await next_error(events) == await next_error(events) == CLOSED
        assert (source.closed, events.last_event_id) == (1, "1")

    mode.run(main)


@every_mode
def test_break_and_an_exception_in_the_loop_body_close_the_source_and_come_through(mode, caplog):
    async def main():
        turn, source = turn_over(mode, FIRST + SECOND)
        async with turn:
            async for _ in turn:
                break
        assert source.closed == 1
        turn, source = turn_over(mode, FIRST + SECOND)

        async def fail():
            async with turn:
                async for _ in turn:
                    raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError) as caught:
            await fail()
        assert source.closed == 1
        assert caught.value.__context__ is None
        assert await next_error(turn) == SseConnectionDropped(SseId(7, 1), "closed")

    with caplog.at_level(logging.DEBUG):
        mode.run(main)
    assert [record for record in caplog.records if "ratatoskr" in record.name] == []


@every_mode
def test_entering_twice_is_the_same_stream_and_after_leaving_it_is_closed(mode):
    async def main():
        turn, source = turn_over(mode, FIRST + SECOND)
        async with turn:
            await anext(turn)
            async with turn:
                assert (await anext(turn)).text == "b"
            assert source.closed == 1
            assert (await next_error(turn)).reason == "closed"
        assert source.closed == 1
        async with turn:
            assert (await next_error(turn)).reason == "closed"

    mode.run(main)


@every_mode
@pytest.mark.parametrize("steps", [[BAD], [b"data", ConnectionResetError()]], ids=["bad", "lost"])
def test_what_a_caller_does_to_an_error_changes_no_later_one(mode, steps):
    async def main():
        turn, _ = turn_over(mode, *steps)
        first = await next_error(turn)
        first.add_note("seen")
        name = first.__match_args__[-1]
        was = getattr(first, name)
        setattr(first, name, "changed")
        second = await next_error(turn)
        assert (getattr(second, name), hasattr(second, "__notes__")) == (was, False)

    mode.run(main)


@every_mode
def test_first_end_of_a_stream_is_its_end_for_good(mode):
    async def main():
        turn, _ = turn_over(mode, FIRST, SECOND, event_timeout=1e-9)
        late = await next_error(turn)  # the time is up at once
        assert late == SseConnectionDropped(None, "event timeout")
        await turn.aclose()
        assert await next_error(turn) == late
        turn, source = turn_over(mode, FIRST, ConnectionResetError())
        await anext(turn)
        await turn.aclose()
        assert await next_error(turn) == SseConnectionDropped(SseId(7, 1), "closed")
        assert len(source.steps) == 1

    mode.run(main)
