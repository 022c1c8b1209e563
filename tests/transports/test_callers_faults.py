"""A fault of the code that a stream calls, a source or the caller's, breaks the stream."""

import gzip
import json

import anyio
import pytest
from support.frames import done, text
from support.modes import AsyncFace, events_over, every_mode, next_error, turn_over

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Event,
    MalformedSseData,
    SseConnectionDropped,
    SseId,
    TurnState,
    encode_event,
)
from ratatoskr_transports import SyncTurnStream, TurnStream

FIRST = text(1, "a", turn=7)
DONE = done(2, turn=7)
BAD = encode_event("no JSON", id="7:2")
CLOSED = SseConnectionDropped(None, "closed")


class FaultyEvent(Event):
    type = "text"

    @classmethod
    def from_body(cls, sse_id, body):
        raise LookupError("a bug of the caller's")


def faulty_loads(error):
    def loads(text):
        raise error

    return loads


@every_mode
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"loads": faulty_loads(ZeroDivisionError("a bug"))}, ZeroDivisionError),
        ({"loads": faulty_loads(KeyboardInterrupt())}, KeyboardInterrupt),
        ({"loads": faulty_loads(StopIteration())}, RuntimeError),
        ({"loads": faulty_loads(StopAsyncIteration())}, RuntimeError),
        ({"event_types": DEFAULT_EVENT_TYPES.with_types(FaultyEvent)}, LookupError),
    ],
    ids=["loads", "ctrl-c", "stop", "stop-async", "event-class"],
)
def test_bug_in_code_of_the_caller_comes_through_once_and_breaks_the_stream(
    mode, options, expected, caplog
):
    async def main():
        turn, source = turn_over(mode, FIRST + DONE, **options)
        async with turn:
            assert type(await next_error(turn)) is expected
            assert await next_error(turn) == await next_error(turn) == CLOSED
            assert turn.state is TurnState.FAILED
        assert source.closed == 1

    mode.run(main)
    assert caplog.records == []


def gzipped_turn_over(mode, *steps, **options):
    body = mode.body(*steps)
    body.content_encoding = "gzip"
    return AsyncFace((SyncTurnStream if mode.sync else TurnStream)(body, **options))


@every_mode
@pytest.mark.parametrize("error", [ZeroDivisionError("a bug"), KeyboardInterrupt()], ids=repr)
def test_bug_of_the_caller_in_a_coded_body_breaks_the_stream_too(mode, error):
    def loads(text):
        if "done" in text:
            raise error
        return json.loads(text)

    async def main():
        turn = gzipped_turn_over(mode, gzip.compress(FIRST), gzip.compress(DONE), loads=loads)
        assert (await anext(turn)).text == "a"
        assert await next_error(turn) is error
        assert await next_error(turn) == SseConnectionDropped(SseId(7, 1), "closed")

    mode.run(main)


@every_mode
def test_body_in_another_coding_breaks_the_stream_after_the_events_before(mode):
    async def main():
        turn = gzipped_turn_over(mode, gzip.compress(FIRST) + b"no gzip")
        assert (await anext(turn)).text == "a"
        errors = [await next_error(turn) for _ in range(2)]
        assert errors == [SseConnectionDropped(SseId(7, 1), "protocol")] * 2

    mode.run(main)


@every_mode
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ZeroDivisionError("a bug"), ZeroDivisionError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (StopIteration(), RuntimeError),
        (StopAsyncIteration(), RuntimeError),
    ],
    ids=["bug", "ctrl-c", "stop", "stop-async"],
)
def test_foreign_exception_of_a_source_comes_through_once_and_breaks_the_stream(
    mode, error, expected
):
    async def main():
        turn, source = turn_over(mode, FIRST, error, DONE)
        async with turn:
            assert (await anext(turn)).text == "a"
            assert type(await next_error(turn)) is expected
            assert (await next_error(turn)).reason == "closed"
        assert source.closed == 1

    mode.run(main)


@every_mode
@pytest.mark.parametrize("odd", [None, 0, 5, "", "data: a\n\n", [100], ()], ids=repr)
def test_source_that_gives_anything_but_bytes_breaks_the_stream(mode, odd):
    async def main():
        events, _ = events_over(mode, odd, b"data: a\n\n")
        with pytest.raises(TypeError, match="source must return bytes, not " + type(odd).__name__):
            await anext(events)
        assert await next_error(events) == CLOSED

    mode.run(main)


@every_mode
@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_source_may_give_bytes_of_any_kind(mode, kind):
    async def main():
        events, _ = events_over(mode, kind(b"data: a\n\n"), kind(b""))
        assert [event.data async for event in events] == ["a"]

    mode.run(main)


@every_mode
def test_source_that_ends_with_end_of_stream_of_anyio_has_ended(mode):
    async def main():
        turn, _ = turn_over(mode, FIRST, anyio.EndOfStream())
        await anext(turn)
        assert await next_error(turn) == SseConnectionDropped(SseId(7, 1), "end of stream")
        events, _ = events_over(mode, encode_event("a"), anyio.EndOfStream())
        assert [event.data async for event in events] == ["a"]

    mode.run(main)


def fail_to_close(mode, source, error):
    def close():
        raise error

    async def aclose():
        raise error

    if mode.sync:
        source.close = close
    else:
        source.aclose = aclose


@every_mode
def test_connection_that_cannot_be_closed_is_closed_well_enough(mode):
    async def main():
        turn, source = turn_over(mode, BAD)
        fail_to_close(mode, source, OSError("gone already"))
        assert await next_error(turn) == MalformedSseData("no JSON")
        await turn.aclose()

    mode.run(main)


@every_mode
def test_bug_in_closing_comes_through_and_the_stream_is_closed(mode):
    async def main():
        turn, source = turn_over(mode, FIRST)
        fail_to_close(mode, source, ZeroDivisionError("a bug"))
        with pytest.raises(ZeroDivisionError):
            await turn.aclose()
        await turn.aclose()
        assert await next_error(turn) == CLOSED

    mode.run(main)


@every_mode
@pytest.mark.parametrize("error", [StopIteration(), StopAsyncIteration()], ids=repr)
def test_bug_in_closing_never_looks_like_the_end_of_the_stream(mode, error):
    async def main():
        turn, source = turn_over(mode, FIRST)
        fail_to_close(mode, source, error)
        await anext(turn)
        assert type(await next_error(turn)) is RuntimeError
        assert await next_error(turn) == SseConnectionDropped(SseId(7, 1), "end of stream")

    mode.run(main)
