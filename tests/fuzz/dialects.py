"""The bundled dialects: whatever JSON a frame holds, it gives events or one error of the family,
the same for every chunking; never an exception; and nothing is kept of an answer that is over.
"""

import json
from collections.abc import Iterator
from typing import Any

from fuzz.inputs import Choices, chosen, chunkings, receive
from ratatoskr_proto import (
    Done,
    Event,
    EventStreamDecoder,
    EventTooLarge,
    RatatoskrError,
    Reasoning,
    ServerError,
    SseConnectionDropped,
    Text,
    TurnDecoder,
    TurnState,
    Unknown,
    encode_event,
)
from ratatoskr_proto.dialects import ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES

DEFAULT_LIMIT = 16 * 1024 * 1024
REASONS = ["end of stream", "cut body", "reset", "read timeout"]
ODD = [None, True, 0, -1.5, "", "null", "x", [], [1], {}, {"text": 1}]
BODIES: dict[Any, list[Any]] = {
    OPENAI_CHAT: [
        {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": "a", "reasoning": "b"}}],
            "usage": None,
        },
        {"choices": [{"delta": {"content": [{"type": "text", "text": "a"}]}}]},
        {"choices": [{"index": 0, "text": "a", "finish_reason": "stop"}]},
        {"error": {"message": "busy", "code": 503}},
    ],
    OPENAI_RESPONSES: [
        {"type": "response.output_text.delta", "delta": "a"},
        {"type": "response.reasoning_text.delta", "delta": "a"},
        {"type": "response.completed", "response": {"status": "completed"}},
        {
            "type": "response.incomplete",
            "response": {"incomplete_details": {"reason": "max_output_tokens"}},
        },
        {"type": "response.failed", "response": {"error": {"message": "busy"}}},
        {"type": "error", "message": "busy", "error": {"message": "busy"}},
    ],
    ANTHROPIC: [
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "a"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
        {"type": "ping"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
    ],
    GEMINI: [
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "a"}, {"text": "b", "thought": True}]},
                    "finishReason": "STOP",
                }
            ]
        },
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"error": {"code": 503, "message": "busy"}},
    ],
}
NAMES = list(BODIES)


def variants(body: Any) -> Iterator[Any]:
    """The body with each member, at every depth, replaced by odd values and left out."""
    yield from ODD
    if isinstance(body, dict):
        for key, value in body.items():
            yield {name: each for name, each in body.items() if name != key}
            yield from ({**body, key: other} for other in variants(value))
    elif isinstance(body, list):
        for place, value in enumerate(body):
            for other in variants(value):
                yield [*body[:place], other, *body[place + 1 :]]


def seeds() -> list[bytes]:
    inputs = []
    for place, bodies in enumerate(BODIES.values()):
        odd = [encode_event(json.dumps(each)) for body in bodies for each in variants(body)]
        good = [encode_event(json.dumps(body)) for body in bodies]
        mark = encode_event("[DONE]") + good[0]
        streams = [good[0] + each for each in odd[:: len(odd) // 50]]
        streams += [*good, good[0] + mark, good[-1] + mark, b": ping\r\n\r\n" + good[0][:-2]]
        inputs += [chosen(place, 0, number % 4, [40]) + each for number, each in enumerate(streams)]
    return [*inputs, *(chosen(place, 40, 0, []) + b"data: {}\n\n" for place in range(len(NAMES)))]


def told(item: Any) -> tuple[str, str, str]:
    """An item as text, since NaN is not equal to itself."""
    if isinstance(item, Event):
        return repr(item), str(item.sse_id), json.dumps(item.body)
    return repr(item), "", ""


def check(data: bytes) -> None:
    choices = Choices(data)
    dialect = NAMES[choices.byte() % len(NAMES)]
    limit = choices.byte() or DEFAULT_LIMIT
    reason = REASONS[choices.byte() % len(REASONS)]
    sizes = choices.bytes()
    stream = choices.rest()
    results = []
    for chunks in chunkings(stream, sizes):
        decoder = TurnDecoder(dialect=dialect, max_event_bytes=limit)
        items = [item for chunk in chunks for item in receive(decoder.receive_data, chunk)]
        check_items(items, decoder)
        state = decoder.state
        end = decoder.receive_eof(reason)
        check_end(end, state)
        assert decoder.over
        assert decoder.receive_data(b'data: {"error": "late"}\n\n') == []
        assert not decoder.pending
        results.append(([told(item) for item in items], [told(item) for item in end], state))
    for other in results[1:]:
        assert other == results[0]
    check_frames(stream, results[0][0], limit, dialect)


def check_items(items: list[Any], decoder: TurnDecoder[Any]) -> None:
    """Events of the five classes, then at most one that is terminal, or one error."""
    assert all(isinstance(item, Text | Reasoning | Unknown) for item in items[:-1])
    if items:
        last = items[-1]
        assert isinstance(last, Text | Reasoning | Unknown | Done | ServerError | RatatoskrError)
        assert isinstance(last, RatatoskrError) == (decoder.state is TurnState.FAILED)
        assert isinstance(last, Done | ServerError) == (decoder.state is TurnState.DONE)
    ids = [item.sse_id for item in items if isinstance(item, Event)]
    assert ids == sorted(ids)
    assert decoder.last_sse_id == (ids[-1] if ids else None)
    assert decoder.turn_id == (0 if ids else None)


def check_end(end: list[Any], state: TurnState) -> None:
    """The last of the items of the end, if the answer was not over, says how it ended."""
    if state is not TurnState.STREAMING:
        assert end == []
        return
    assert all(isinstance(item, Text | Reasoning | Unknown) for item in end[:-1])
    assert isinstance(end[-1], Done | ServerError | SseConnectionDropped)


def check_frames(stream: bytes, seen: list[Any], limit: int, dialect: Any) -> None:
    """The frames of a wire decoder, given one by one, lead to the same items."""
    decoder = TurnDecoder(dialect=dialect)
    items: list[Any] = []
    for frame in EventStreamDecoder(limit).receive_data(stream):
        if isinstance(frame, EventTooLarge):
            if decoder.state is TurnState.STREAMING:
                items.append(frame)
            break
        items += decoder.receive_sse(frame)
    assert [told(item) for item in items] == seen
