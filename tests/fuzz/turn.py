"""The turn decoder gives what the model gives, for every chunking, and for the frames of the wire
decoder; events, then at most one error; nothing kept of a turn that is over.
"""

import json
from typing import Any, NamedTuple

from support.turn_model import TurnModel

from fuzz.inputs import Choices, chosen, chunkings, receive, streams
from ratatoskr_proto import (
    Event,
    EventStreamDecoder,
    EventTooLarge,
    RatatoskrError,
    SseConnectionDropped,
    SseId,
    TurnDecoder,
    TurnState,
    encode_event,
)

DEFAULT_LIMIT = 16 * 1024 * 1024
DEEP = 300
RESUMES = [None, SseId(42, 0), SseId(42, 2), SseId(7, 1)]
BODIES = [
    {"type": "text", "text": "Grüße 🐿"},
    {"type": "text"},
    {"type": "text", "text": 1},
    {"type": "tool", "x": [None, 1e9, {"y": float("nan")}]},
    {"type": "error", "message": "busy"},
    {"type": "done"},
    ["type"],
    {},
]


def seeds() -> list[bytes]:
    frames = [
        encode_event(json.dumps(body), id=f"42:{seq}") for seq, body in enumerate(BODIES[:3], 1)
    ]
    turns = [[frames[0], encode_event(json.dumps(body), id="42:2")] for body in BODIES]
    turns += [[frames[0], frame] for frame in (b"id: 42:2\n\n", b"data: x\n\n", b": hi\n\n")]
    turns += [
        [b'retry: 5\nid: 42:1\ndata: {"type":"text",\ndata: "text":"a"}\n\n', *frames],
        [frames[0].replace(b"\n", b"\r\n"), encode_event("", id="x"), frames[0]],
        [b'id: 43:1\ndata: {"type":"done"}\n\n', frames[0]],
        [b'id: 42:1\ndata: {"type":"text","text":"\\ud800"}\n\n'],
        [b'id: 42:1\ndata: {"type":"x","more":' + b"[" * 90 + b"]" * 90 + b"}\n\n", frames[0]],
        [b'id: 42:1\ndata: {"type":"x","more":' + b"[" * 1500 + b"]" * 1500 + b"}\n\n"],
        [frames[0], "id: 42:٣\n".encode() + frames[1].partition(b"\n")[2]],
        [frames[0], b"id: 42:" + b"0" * 19 + b"3\n" + frames[1].partition(b"\n")[2]],
    ]
    return [
        chosen(limit, resume, [len(chunk) % 256 for chunk in chunks][:7]) + b"".join(chunks)
        for limit, resume in ((0, 0), (0, 2), (60, 0))
        for chunks in (turns if resume else turns + streams()[::3])
    ]


class Seen(NamedTuple):
    """All that can be seen of a decoder after a stream and its end. Items are told by their text
    and their body, since NaN is not equal to itself.
    """

    items: list[tuple[str, str]]
    state: TurnState
    last_sse_id: SseId | None
    turn_id: int | None
    retry_ms: int | None
    pending: bool
    end: list[Any]


def told(item: Any) -> tuple[str, str]:
    try:
        return repr(item), json.dumps(getattr(item, "body", None))
    except RecursionError:  # there are depths that can be read, and not written
        return repr(item), ""


def read(decoder: TurnDecoder | TurnModel, items: list[Any]) -> Seen:
    """See a decoder that has put out these items, and end its stream."""
    for item in items[:-1]:
        assert isinstance(item, Event)
        assert not item.terminal
    ids = [item.sse_id for item in items if isinstance(item, Event)]
    over = decoder.state
    last = items[-1] if items else None
    assert isinstance(last, RatatoskrError) == (over is TurnState.FAILED)
    assert (isinstance(last, Event) and last.terminal) == (over is TurnState.DONE)
    if ids:
        assert decoder.last_sse_id == ids[-1]
        assert {id.turn_id for id in ids} == {decoder.turn_id}
    pending = decoder.pending
    end = decoder.receive_eof()
    if over is TurnState.STREAMING:
        lost = "; unfinished event lost" if pending else ""
        assert end == [SseConnectionDropped(decoder.last_sse_id, f"end of stream{lost}")]
        assert decoder.state is TurnState.FAILED
    else:
        assert (end, decoder.state) == ([], over)
    if isinstance(decoder, TurnDecoder):
        assert_over(decoder)
    told_items = [told(item) for item in items]
    where = (decoder.last_sse_id, decoder.turn_id)
    return Seen(told_items, decoder.state, *where, decoder.retry_ms, pending, end)


def assert_over(decoder: TurnDecoder) -> None:
    """Nothing comes out any more, and nothing is kept."""
    before = (decoder.state, decoder.last_sse_id, decoder.turn_id, decoder.retry_ms)
    assert decoder.receive_data(b'retry: 9\nid: 42:9\ndata: {"type":"done"}\n\nx') == []
    assert decoder.receive_eof() == []
    after = (decoder.state, decoder.last_sse_id, decoder.turn_id, decoder.retry_ms)
    assert after == before
    assert not decoder.pending
    kept = [value for value in vars(decoder).values() if isinstance(value, bytes | list)]
    assert not any(kept)


def check(data: bytes) -> None:
    choices = Choices(data)
    limit = choices.byte() or DEFAULT_LIMIT
    resume_from = RESUMES[choices.byte() % len(RESUMES)]
    sizes = choices.bytes()
    stream = choices.rest()
    results = []
    for chunks in chunkings(stream, sizes):
        decoder = TurnDecoder(resume_from, max_event_bytes=limit)
        items = [item for chunk in chunks for item in receive(decoder.receive_data, chunk)]
        results.append(read(decoder, items))
    # What JSON so deep is depends on who calls, and how deep that is.
    if stream.count(b"[") + stream.count(b"{") < DEEP:
        model = TurnModel(resume_from, limit)
        results.append(read(model, model.receive_data(stream)))
        for other in results[1:]:
            assert other == results[0]
        check_frames(stream, results[0], limit, resume_from)


def check_frames(stream: bytes, seen: Seen, limit: int, resume_from: SseId | None) -> None:
    """The frames of a wire decoder, given one by one, lead to the same items."""
    decoder = TurnDecoder(resume_from)
    items: list[Any] = []
    for frame in EventStreamDecoder(limit).receive_data(stream):
        if isinstance(frame, EventTooLarge):
            if decoder.state is TurnState.STREAMING:
                items.append(frame)
            break
        items += decoder.receive_sse(frame)
    assert [told(item) for item in items] == seen.items
    assert (decoder.last_sse_id, decoder.turn_id) == (seen.last_sse_id, seen.turn_id)
