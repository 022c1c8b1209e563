"""The short ways for common frames give what the general way gives, on streams that mix both.

The general way is the reference's reading of the wire, each of its frames judged by itself through
``receive_sse``, which none of the short ways is part of.
"""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.feeding import feed_turn, feed_wire

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    EventTypes,
    ServerSentEvent,
    SseId,
    Text,
    TurnDecoder,
    TurnState,
)
from ratatoskr_proto.testing import chunkings, reference_decode

TEXT = '{"type":"text","text":"a"}'
IDS = [
    *("id: 42:1", "id: 42:2", "id: 42:3", "id: 42:10"),  # as in nearly every frame
    *("id:42:4", "id: 042:4", "id: 42:007", "id: 42:4 ", "id:  42:4", "id: 42:4\0", "id: 42:\0"),
    *("id: 43:1", "id: 42:x", "id: 42:", "id: 42:４", "id: 42:²", f"id: 42:{'1' * 20}", "id: 42"),
    *("id", "id: ", "ID: 42:5", "id: 42:5\ndata", "id : 42:5"),
]
DATA = [
    *(f"data: {TEXT}", f"data: {TEXT}", 'data: {"type":"text","text":"\\u00e9é🐿"}'),
    *(f"data:{TEXT}", f"data: {TEXT} ", f"data:  {TEXT}", f"data: {TEXT}x", f"data: {TEXT}{TEXT}"),
    *("data: ", "data:", "data", "data:  ", "Data: 1", f"data : {TEXT}"),
    *('data: {"type":"text",\n"text":"a"}', 'data: {"type":"text",\ndata: "text":"a"}'),
    *('data: {"type":"text","text":1}', 'data: {"type":"text"}', 'data: {"type":1}', "data: [1]"),
    *('data: {"type":"text","text":"a","text":"b"}', 'data: {"text":"a","type":"text"}'),
    *("data: NaN", 'data: {"type":"other","x":NaN}', f'data: {{"type":"o","x":{"1" * 5000}}}'),
    *(f"data: {'[' * 100_000}", "data: [", 'data: {"type":"text","text":"a', "data: not-json"),
    *('data: {"type":"done"}', 'data: {"type":"error","message":"m"}', 'data: "\x01"'),
]
OTHER = ["event: e", ": c", ":", "retry: 5", "retry: 9", "retry", "", "x", "\x85", "\u2028"]

line_ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
usual_blocks = st.builds("{}\n{}".format, st.sampled_from(IDS[:4]), st.sampled_from(DATA[:3]))
any_blocks = st.lists(st.sampled_from(IDS + DATA + OTHER), max_size=5).map("\n".join)


@st.composite
def streams(draw):
    blocks = draw(st.lists(usual_blocks | any_blocks, max_size=8))
    line_end = draw(line_ends)
    data = "".join(f"{block}\n\n" for block in blocks).replace("\n", line_end).encode()
    return data, draw(chunkings(data))


def general_turn(data, **options):
    """What a turn decoder makes of the frames of a stream, one by one."""
    decoder = TurnDecoder(**options)
    items = [item for frame in reference_decode(data) for item in decoder.receive_sse(frame)]
    return items, decoder.state, decoder.last_sse_id, decoder.turn_id


def stream(*blocks):
    data = "".join(f"{block}\n\n" for block in blocks).encode()
    return data, [data]


NUL_ID = stream(f"id: 42:1\ndata: {TEXT}", f"id: 42:2\0\ndata: {TEXT}", f"data: {TEXT}")
OVER_BLOCKS = stream(f"id: 42:1\ndata: {TEXT}", "id: 42:2\ndata: [", "1]")
# One odd line in an otherwise usual block between usual ones.
ONE_ODD = [
    *(f"{line}\ndata: {TEXT}" for line in IDS + OTHER),
    *(f"id: 42:2\n{line}" for line in DATA + OTHER),
    *(f"id: 42:2\ndata: {TEXT}\n{line}" for line in IDS + DATA + OTHER),
]


@settings(max_examples=40)
@given(streams())
@example(NUL_ID)
@example(stream(f"data: {TEXT}", "data: x\n"))
def test_wire_of_any_mix_is_that_of_the_reference(case):
    data, chunks = case
    assert feed_wire(chunks).items == reference_decode(data)


class Other(Text):
    """A text event of somebody else's: the table names it in place of ours."""


OPTIONS = {
    "default": {},
    "resumed": {"resume_from": SseId(42, 2)},
    "own loads": {"loads": lambda text: json.loads(text)},
    "own text": {"event_types": DEFAULT_EVENT_TYPES.with_types(Other)},
    "no types": {"event_types": EventTypes()},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@settings(max_examples=15)
@given(case=streams())
@example(case=NUL_ID)
@example(case=OVER_BLOCKS)
def test_turn_of_any_mix_is_that_of_its_frames_one_by_one(options, case):
    data, chunks = case
    check_turn(data, chunks, **options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_turn_with_one_odd_line_is_that_of_its_frames_one_by_one(options):
    for block in ONE_ODD:
        before = (f"id: 42:0\ndata: {TEXT}", f"id: 42:1\ndata: {TEXT}")
        data, chunks = stream(*before, block, f"data: {TEXT}", f"id: 42:9\ndata: {TEXT}")
        check_turn(data, chunks, **options)


def check_turn(data, chunks, **options):
    expected = general_turn(data, **options)
    for pieces in (chunks, [data]):
        result = feed_turn(pieces, **options)
        assert (result.items, *result[1:4]) == expected
        assert [type(item) for item in result.items] == [type(item) for item in expected[0]]


def test_events_of_the_short_way_are_like_any_other():
    (event,) = [
        item
        for item in feed_turn(stream(f"id: 42:1\ndata: {TEXT}", f"id: 42:2\ndata: {TEXT}")[1]).items
        if item.sse_id.seq == 2
    ]
    same = Text("a", sse_id=SseId(42, 2), body=json.loads(TEXT))
    assert (event, hash(event), repr(event)) == (same, hash(same), repr(same))
    assert type(event.sse_id) is SseId
    assert type(feed_wire(stream("id: 1\ndata: x")[1]).items[0]) is ServerSentEvent


def test_nothing_counts_after_the_end_however_the_limit_divides_a_chunk():
    before = [f"id: 42:{seq}\ndata: {TEXT}" for seq in range(1, 4)]
    end = 'id: 42:4\ndata: {"type":"done"}'
    after = [f"retry: 5\nid: 42:{seq}\ndata: {TEXT}" for seq in range(5, 30)]
    _, chunks = stream(*before, end, *after)
    for limit in range(50, 250):
        result = feed_turn(chunks, max_event_bytes=limit)
        assert (len(result.items), result.last_sse_id) == (4, (42, 4))
        assert (result.state, result.retry_ms, result.pending) == (TurnState.DONE, None, False)


def test_own_loads_reads_every_frame():
    read = []

    def loads(text):
        read.append(text)
        return {"type": "text", "text": "mine"}

    _, chunks = stream(*(f"id: 42:{seq}\ndata: {TEXT}" for seq in range(1, 5)))
    assert [event.text for event in feed_turn(chunks, loads=loads).items] == ["mine"] * 4
    assert read == [TEXT] * 4
