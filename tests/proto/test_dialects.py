"""The bundled dialects, row by row of the table in docs/dialects.md."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.feeding import decode_turn

from ratatoskr_proto import (
    Done,
    MalformedEnvelope,
    MalformedSseData,
    RatatoskrError,
    Reasoning,
    ServerError,
    SseConnectionDropped,
    Text,
    TurnDecoder,
    Unknown,
    encode_event,
)
from ratatoskr_proto.dialects import (
    ANTHROPIC,
    DIALECTS,
    GEMINI,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    TURN,
)

BUNDLED = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI]
every_bundled = pytest.mark.parametrize("dialect", BUNDLED, ids=lambda dialect: dialect.name)


def frame(body, event=None):
    return encode_event(body if isinstance(body, str) else json.dumps(body), event=event)


def short(item):
    """An item as a short tuple: what it is and what it says."""
    for kind in (Text, Reasoning, Done, ServerError, Unknown):
        if type(item) is kind:
            return kind, getattr(item, kind.__match_args__[0])
    return type(item), getattr(item, "reason", None)


def said(dialect, *frames, reason="end of stream"):
    """What the frames and the end of the body say, the same for every chunking."""
    stream = b"".join(each if isinstance(each, bytes) else frame(each) for each in frames)
    return [short(item) for item in decode_turn(stream, end=reason, dialect=dialect).items]


DROPPED = (SseConnectionDropped, "end of stream")


def choice(index=0, finish_reason=None, **delta):
    return {"index": index, "delta": delta, "finish_reason": finish_reason}


def chat(*choices, **more):
    return {"object": "chat.completion.chunk", "choices": [*choices], **more}


def delta(kind, **more):
    return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **more}}


def parts(*parts, **candidate):
    return {"candidates": [{"content": {"parts": [*parts]}, **candidate}]}


CHUNK = (Unknown, "chat.completion.chunk")
TYPED = [  # what holds wherever the type names the frame
    ({"type": "new", "object": "o"}, (Unknown, "new")),
    ({"type": 5, "object": "o"}, (Unknown, "o")),
    ({"type": None}, (Unknown, "message")),
]
ROWS = {
    OPENAI_CHAT: [
        (chat(choice(content="a")), (Text, "a")),
        (chat({"delta": {"content": "a"}}), (Text, "a")),  # without an index
        (chat({"index": None, "delta": {"content": "a"}}), (Text, "a")),
        (chat(choice(index=1, content="a")), CHUNK),
        (chat(choice(index=1, content="b"), choice(content="a")), (Text, "a")),
        (chat(choice(content="a"), choice(content="b")), (Text, "ab")),
        (chat({"text": "a", "index": 0}), (Text, "a")),  # old completions
        (chat({"text": "a", "delta": None}), (Text, "a")),
        (chat({"text": "b", "delta": {"content": "a"}}), (Text, "a")),
        (chat(choice(content=[{"type": "text", "text": "a"}, {"type": "x"}])), (Text, "a")),
        (chat(choice(content=[{"type": "text", "text": "a"}] * 2)), (Text, "aa")),
        (chat(choice(content="")), CHUNK),
        (chat(choice(content=None, tool_calls=[{}])), CHUNK),
        (chat(choice(reasoning_content="a")), (Reasoning, "a")),
        (chat(choice(reasoning="a")), (Reasoning, "a")),
        (chat(choice(reasoning_content="a", reasoning="b")), (Reasoning, "a")),
        (chat(choice(reasoning_content=None, reasoning="b")), (Reasoning, "b")),
        (chat(choice(content="a", reasoning="b")), (Reasoning, "b"), (Text, "a")),
        (chat(usage={"total_tokens": 3}), CHUNK),
        ({"choices": None}, (Unknown, "message")),
        ({}, (Unknown, "message")),
        ({"error": {"message": "busy", "code": 5}}, (ServerError, "busy")),
        ({"error": "busy"}, (ServerError, "busy")),
        ({"error": {"code": 5}}, (ServerError, '{"code": 5}')),
        ({"error": ["busy"]}, (ServerError, '["busy"]')),
        ({"error": {"message": ["busy"]}}, (ServerError, '{"message": ["busy"]}')),
        ({"error": None, **chat(choice(content="a"))}, (Text, "a")),
        *TYPED,
    ],
    OPENAI_RESPONSES: [
        ({"type": "response.output_text.delta", "delta": "a"}, (Text, "a")),
        (
            {"type": "response.output_text.delta", "delta": ""},
            (Unknown, "response.output_text.delta"),
        ),
        ({"type": "response.reasoning_text.delta", "delta": "a"}, (Reasoning, "a")),
        ({"type": "response.reasoning_summary_text.delta", "delta": "a"}, (Reasoning, "a")),
        (
            {"type": "response.reasoning_text.delta", "delta": ""},
            (Unknown, "response.reasoning_text.delta"),
        ),
        ({"type": "response.completed", "response": {}}, (Done, "completed")),
        ({"type": "response.completed"}, (Done, "completed")),
        (
            {
                "type": "response.incomplete",
                "response": {"incomplete_details": {"reason": "max_output_tokens"}},
            },
            (Done, "max_output_tokens"),
        ),
        (
            {"type": "response.incomplete", "response": {"incomplete_details": None}},
            (Done, "incomplete"),
        ),
        ({"type": "response.incomplete", "response": {}}, (Done, "incomplete")),
        ({"type": "response.incomplete"}, (Done, "incomplete")),
        (
            {"type": "response.failed", "response": {"error": {"message": "busy"}}},
            (ServerError, "busy"),
        ),
        (
            {"type": "response.failed", "response": {"error": None}},
            (ServerError, "response.failed"),
        ),
        ({"type": "response.failed"}, (ServerError, "response.failed")),
        ({"type": "error", "message": "busy"}, (ServerError, "busy")),
        ({"type": "error", "error": {"message": "busy"}}, (ServerError, "busy")),
        ({"type": "error", "code": 5}, (ServerError, '{"type": "error", "code": 5}')),
        ({"type": "response.created", "response": {}}, (Unknown, "response.created")),
        *TYPED,
    ],
    ANTHROPIC: [
        (delta("text_delta", text="a"), (Text, "a")),
        (delta("text_delta", text=""), (Unknown, "content_block_delta")),
        (delta("thinking_delta", thinking="a"), (Reasoning, "a")),
        (delta("thinking_delta", thinking=""), (Unknown, "content_block_delta")),
        (delta("input_json_delta", partial_json="{"), (Unknown, "content_block_delta")),
        ({"type": "ping"},),
        ({"type": "message_stop"}, (Done, None)),
        ({"type": "message_delta", "usage": {}}, (Unknown, "message_delta")),
        ({"type": "message_start", "message": {}}, (Unknown, "message_start")),
        ({"type": "error", "error": {"message": "Overloaded"}}, (ServerError, "Overloaded")),
        ({"type": "error", "message": "busy"}, (ServerError, "busy")),
        *TYPED,
    ],
    GEMINI: [
        (parts({"text": "a"}), (Text, "a")),
        (parts({"text": "a"}, {"text": "b"}), (Text, "ab")),
        (parts({"text": "a", "thought": True}), (Reasoning, "a")),
        (parts({"text": "a"}, {"text": "b", "thought": True}), (Reasoning, "b"), (Text, "a")),
        (parts({"text": ""}), (Unknown, "message")),
        (parts({"functionCall": {}}), (Unknown, "message")),
        (parts(), (Unknown, "message")),
        ({"candidates": [{"content": {}}]}, (Unknown, "message")),
        ({"candidates": [{}]}, (Unknown, "message")),
        ({"candidates": [{}, {"content": {"parts": [{"text": "b"}]}}]}, (Unknown, "message")),
        ({"candidates": []}, (Unknown, "message")),
        ({"usageMetadata": {}}, (Unknown, "message")),
        ({"error": {"code": 503, "message": "busy"}}, (ServerError, "busy")),
        *TYPED,
    ],
}


@pytest.mark.parametrize(
    ("dialect", "body", "expected"),
    [(dialect, body, items) for dialect, rows in ROWS.items() for body, *items in rows],
    ids=lambda value: getattr(value, "name", None),
)
def test_frame_says(dialect, body, expected):
    ends = bool(expected) and expected[-1][0] in (Done, ServerError)
    assert said(dialect, body) == [*expected, *([] if ends else [DROPPED])]


@every_bundled
def test_event_has_the_whole_body(dialect):
    for body, *expected in ROWS[dialect]:
        items = TurnDecoder(dialect=dialect).receive_data(frame(body))
        assert len(items) == len(expected)
        assert all((item.body, item.sse_id) == (body, (0, 1)) for item in items)


@pytest.mark.parametrize("dialect", [OPENAI_RESPONSES, ANTHROPIC])
def test_field_event_names_the_type_where_the_json_does_not(dialect):
    assert said(dialect, frame({"message": "busy"}, event="error")) == [(ServerError, "busy")]
    assert said(dialect, frame({"type": "x"}, event="error")) == [(Unknown, "x"), DROPPED]


@pytest.mark.parametrize("event", [None, "error", "ping"])
def test_in_chat_the_field_event_plays_no_part(event):
    assert said(OPENAI_CHAT, frame({"error": "busy"}, event)) == [(ServerError, "busy")]
    assert said(OPENAI_CHAT, frame({}, event)) == [(Unknown, event or "message"), DROPPED]


# Complete

STOPS = {
    OPENAI_CHAT: lambda reason: chat(choice(finish_reason=reason)),
    ANTHROPIC: lambda reason: {"type": "message_delta", "delta": {"stop_reason": reason}},
    GEMINI: lambda reason: {"candidates": [{"finishReason": reason}]},
}
FILLERS = [None, "", "null", 0, 5, 1.5, True, [], ["stop"], {}, {"a": 1}]


@pytest.mark.parametrize("dialect", STOPS, ids=lambda dialect: dialect.name)
def test_stop_reason_makes_the_end_of_the_body_a_good_end(dialect):
    *_, last = said(dialect, STOPS[dialect]("why"))
    assert last == (Done, "why")


@pytest.mark.parametrize("dialect", STOPS, ids=lambda dialect: dialect.name)
def test_a_filler_says_nothing_about_the_end(dialect):
    for filler in FILLERS:
        assert said(dialect, STOPS[dialect](filler))[-1] == DROPPED
        *_, last = said(dialect, STOPS[dialect]("why"), STOPS[dialect](filler))
        assert last == (Done, "why")


def test_gemini_has_fillers_of_its_own():
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    assert said(GEMINI, blocked)[-1] == (Done, "SAFETY")
    for filler in ("BLOCKED_REASON_UNSPECIFIED", *FILLERS):
        assert said(GEMINI, {"promptFeedback": {"blockReason": filler}})[-1] == DROPPED
    for filler in ("FINISH_REASON_UNSPECIFIED", *FILLERS):
        assert said(GEMINI, {"candidates": [{"finishReason": filler}], **blocked})[-1] == (
            Done,
            "SAFETY",
        )


def test_only_choice_0_completes_a_chat():
    assert said(OPENAI_CHAT, chat(choice(index=1, finish_reason="stop")))[-1] == DROPPED
    both = chat(choice(index=1, finish_reason="length"), choice(finish_reason="stop"))
    assert said(OPENAI_CHAT, both)[-1] == (Done, "stop")


def test_terminal_frame_takes_the_reason_that_was_said_before():
    stop = {"type": "message_stop"}
    assert said(ANTHROPIC, STOPS[ANTHROPIC]("end_turn"), stop)[-1] == (Done, "end_turn")
    assert said(OPENAI_CHAT, STOPS[OPENAI_CHAT]("stop"), "[DONE]")[-1] == (Done, "stop")
    usage = chat(usage={})
    assert said(OPENAI_CHAT, STOPS[OPENAI_CHAT]("stop"), usage, "[DONE]")[-1] == (Done, "stop")


def test_end_mark_ends_a_chat_and_is_no_json():
    (done,) = decode_turn(frame("[DONE]"), dialect=OPENAI_CHAT).items
    assert (done.stop_reason, done.body, done.sse_id) == (None, {}, (0, 1))
    for dialect in (OPENAI_RESPONSES, ANTHROPIC, GEMINI):
        assert said(dialect, frame("[DONE]")) == [(MalformedSseData, None)]
    for data in ("[DONE] ", " [DONE]", "[done]"):
        assert said(OPENAI_CHAT, frame(data)) == [(MalformedSseData, None)]


# Whatever comes


@every_bundled
@pytest.mark.parametrize("data", ["[]", "[1]", '"text"', '"[DONE]"', "5", "1.5", "null", "true"])
def test_json_that_is_no_object_is_malformed(dialect, data):
    assert said(dialect, frame(data)) == [(MalformedEnvelope, None)]


@pytest.mark.parametrize("content", [5, True, {"text": "a"}, ["a"], [{"type": "text"}]], ids=repr)
def test_a_content_that_is_no_text_is_malformed(content):
    assert said(OPENAI_CHAT, chat(choice(content=content)))[0] == (MalformedEnvelope, None)


NAMES = [
    *["type", "object", "error", "message", "choices", "index", "delta", "content", "text"],
    *["reasoning", "reasoning_content", "finish_reason", "response", "incomplete_details"],
    *["reason", "thinking", "stop_reason", "candidates", "parts", "thought", "finishReason"],
    *["promptFeedback", "blockReason"],
]
WORDS = [
    *["", "null", "text", "error", "ping", "message_stop", "message_delta", "content_block_delta"],
    *["text_delta", "thinking_delta", "response.output_text.delta", "response.completed"],
    *["response.reasoning_text.delta", "response.incomplete", "response.failed", "stop"],
]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=12,
)


def bent(value, odd):
    """A body with one of its members, at any depth, missing or made odd."""
    if isinstance(value, dict) and value:
        return st.sampled_from(sorted(value)).flatmap(
            lambda name: st.one_of(
                odd.map(lambda other: {**value, name: other}),
                st.just({key: each for key, each in value.items() if key != name}),
                bent(value[name], odd).map(lambda other: {**value, name: other}),
            )
        )
    if isinstance(value, list) and value:
        return st.one_of(odd, bent(value[0], odd).map(lambda first: [first, *value[1:]]))
    return odd


@every_bundled
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_a_frame_holds_becomes_events_or_an_error(dialect, data):
    good = st.sampled_from([body for body, *_ in ROWS[dialect]])
    body = data.draw(st.one_of(anything, good.flatmap(lambda body: bent(body, anything))))
    event = data.draw(st.sampled_from([None, *WORDS]))
    decoder = TurnDecoder(dialect=dialect)
    items = decoder.receive_data(frame(json.dumps(body), event))
    for item in items:
        assert isinstance(item, MalformedEnvelope) or item.body == body
    items += decoder.receive_eof()
    assert isinstance(items[-1], (Done, ServerError, RatatoskrError))


@every_bundled
def test_an_error_that_nests_too_deep_is_malformed_or_said(dialect):
    deep = "[" * 900 + "]" * 900
    [item] = TurnDecoder(dialect=dialect, loads=lambda text: nested(100_000)).receive_data(
        frame('{"x": 1}')
    )
    assert isinstance(item, MalformedEnvelope)
    items = TurnDecoder(dialect=dialect).receive_data(
        frame(f'{{"type": "error", "error": {deep}}}')
    )
    assert isinstance(items[-1], (ServerError, MalformedEnvelope, MalformedSseData))


def nested(depth):
    error = []
    for _ in range(depth):
        error = [error]
    return {"type": "error", "error": error}


# The table


def test_dialects_are_found_by_name():
    assert list(DIALECTS) == ["turn", "openai-chat", "openai-responses", "anthropic", "gemini"]
    assert list(DIALECTS.values()) == [TURN, *BUNDLED]
    assert [dialect.numbered for dialect in DIALECTS.values()] == [True, *[False] * 4]
    assert [dialect.flush_unfinished for dialect in BUNDLED] == [True, False, False, True]
    assert [dialect.end_marks for dialect in BUNDLED] == [{"[DONE]"}, set(), set(), set()]
    with pytest.raises(TypeError):
        DIALECTS["mine"] = TURN


def test_turn_is_a_dialect_like_the_others():
    assert TurnDecoder(dialect=TURN).receive_data(
        b'id: 42:1\ndata: {"type":"reasoning","text":"a"}\n\n'
    ) == [Unknown("reasoning", sse_id=(42, 1), body={"type": "reasoning", "text": "a"})]
