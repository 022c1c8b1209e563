"""The one way in which the tests feed a decoder: whole, byte by byte, and at random cuts."""

import itertools
import random
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

from ratatoskr_proto import EventStreamDecoder, SseId, TurnDecoder, TurnState

Result = TypeVar("Result")


class WireResult(NamedTuple):
    """All that can be seen of a wire decoder after a stream."""

    items: list[Any]
    last_event_id: str
    retry_ms: int | None
    pending: bool


class TurnResult(NamedTuple):
    """All that can be seen of a turn decoder after a stream."""

    items: list[Any]
    state: TurnState
    last_sse_id: SseId | None
    turn_id: int | None
    retry_ms: int | None
    pending: bool


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data in pieces, cut at these places."""
    places = [0, *sorted(cuts), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(places)]


def chunkings(data: bytes) -> Iterator[list[bytes]]:
    """The chunkings that every case must hold for: whole, byte by byte, and at random cuts."""
    yield [data]
    yield [data[place : place + 1] for place in range(len(data))]
    random_cuts = random.Random(len(data))
    for _ in range(6):
        number = random_cuts.randint(1, 8)
        yield cut(data, [random_cuts.randint(0, len(data)) for _ in range(number)])


def feed_wire(chunks: list[bytes], **options: Any) -> WireResult:
    """The result of a new wire decoder after these chunks and their end."""
    decoder = EventStreamDecoder(**options)
    items = [item for chunk in chunks for item in decoder.receive_data(chunk)]
    pending = decoder.pending
    items += decoder.receive_eof()
    return WireResult(items, decoder.last_event_id, decoder.retry_ms, pending)


def feed_turn(chunks: list[bytes], end: bool | str = False, **options: Any) -> TurnResult:
    """The result of a new turn decoder after these chunks and, if asked for, their end; ``end`` may
    be the reason for it.
    """
    decoder = TurnDecoder(**options)
    items = [item for chunk in chunks for item in decoder.receive_data(chunk)]
    if end:
        items += decoder.receive_eof(*[end] if isinstance(end, str) else [])
    return TurnResult(
        items,
        decoder.state,
        decoder.last_sse_id,
        decoder.turn_id,
        decoder.retry_ms,
        decoder.pending,
    )


def decode_wire(data: bytes, **options: Any) -> WireResult:
    """The result of a wire decoder after a stream, the same for every chunking."""
    return _agreed([feed_wire(chunks, **options) for chunks in chunkings(data)])


def decode_turn(data: bytes, end: bool | str = False, **options: Any) -> TurnResult:
    """The result of a turn decoder after a stream, the same for every chunking."""
    return _agreed([feed_turn(chunks, end, **options) for chunks in chunkings(data)])


def _agreed(results: list[Result]) -> Result:
    first = results[0]
    for other in results[1:]:
        assert other == first
    return first
