"""The table of the turn's states, pair by pair, and what holds for all input."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.feeding import cut, feed_turn

from ratatoskr_proto import (
    Event,
    RatatoskrError,
    SseConnectionDropped,
    SseId,
    TurnDecoder,
    TurnState,
    encode_event,
)

STREAMING, DONE, FAILED = TurnState

# How to bring a new decoder into each state, and what may happen then.
INTO_STATE = {
    STREAMING: encode_event('{"type":"text","text":"a"}', id="42:1"),
    DONE: encode_event('{"type":"done"}', id="42:1"),
    FAILED: encode_event("not-json", id="42:1"),
}
INPUTS = {
    "skip": (encode_event("", id="bad"), STREAMING),
    "event": (encode_event('{"type":"text","text":"b"}', id="42:2"), STREAMING),
    "terminal": (encode_event('{"type":"error","message":"busy"}', id="42:2"), DONE),
    "error": (encode_event("{}", id="42:2"), FAILED),
    "too large": (b"data: " + b"x" * 200, FAILED),
    "eof": (None, FAILED),
}


@pytest.mark.parametrize(
    ("state", "happening"), list(itertools.product(TurnState, INPUTS)), ids=str
)
def test_every_pair_of_state_and_input(state, happening):
    decoder = TurnDecoder(max_event_bytes=100)
    decoder.receive_data(INTO_STATE[state])
    assert decoder.state is state
    assert decoder.over == (state is not STREAMING)
    data, next_state = INPUTS[happening]
    items = decoder.receive_eof() if data is None else decoder.receive_data(data)
    if state is STREAMING:
        assert decoder.state is next_state
        assert len(items) == (happening != "skip")
    else:
        assert decoder.state is state
        assert items == []


# Frames that mean something, near misses, and what stands between frames.
DATA = ["", " ", "{", "{}", "null", '{"type":"text","text":"a"}', '{"type":"text"}']
DATA += ['{"type":"done"}', '{"type":"error","message":"m"}', '{"type":"other"}', "x" * 300]
IDS = [None, "", "42:1", "42:2", "42:3", "43:1", "42", "0042:0003"]
frames = st.builds(
    lambda data, id: encode_event(data, id=id), st.sampled_from(DATA), st.sampled_from(IDS)
)
pieces = frames | st.sampled_from([b": hi\n\n", b"retry: 5\n", b"retry: 6\n\n", b"\n", b"data"])
turns = st.lists(pieces, max_size=12).map(b"".join) | st.binary(max_size=60)
resumes = st.sampled_from([None, SseId(42, 0), SseId(42, 2), SseId(43, 1)])
limits = st.sampled_from([40, 100, 10_000])


@st.composite
def cut_turns(draw):
    data = draw(turns)
    return data, cut(data, draw(st.lists(st.integers(0, len(data)), max_size=8)))


@given(cut_turns(), resumes, limits, st.booleans())
@example((INTO_STATE[DONE] + b"retry: 5\n", [INTO_STATE[DONE], b"retry: 5\n"]), None, 100, False)
def test_output_is_the_same_for_every_chunking(turn, resume_from, limit, end):
    data, chunks = turn
    options = {"resume_from": resume_from, "max_event_bytes": limit, "end": end}
    whole = feed_turn([data], **options)
    assert feed_turn(chunks, **options) == whole
    assert feed_turn([bytes([byte]) for byte in data], **options) == whole


@given(cut_turns(), resumes, limits)
def test_any_input_gives_events_and_at_most_one_error_which_is_last(turn, resume_from, limit):
    _, chunks = turn
    decoder = TurnDecoder(resume_from=resume_from, max_event_bytes=limit)
    items = [item for chunk in chunks for item in decoder.receive_data(chunk)]
    assert all(isinstance(item, Event) and not item.terminal for item in items[:-1])
    if decoder.state is FAILED:
        assert isinstance(items[-1], RatatoskrError)
    elif decoder.state is DONE:
        assert items[-1].terminal
    ids = [item.sse_id for item in items if isinstance(item, Event)]
    assert decoder.last_sse_id == (ids[-1] if ids else resume_from)
    assert {id.turn_id for id in ids} <= {decoder.turn_id}
    end = decoder.receive_eof()
    if items and decoder.state is DONE:
        assert end == []
    else:
        assert all(isinstance(error, SseConnectionDropped) for error in end)
