"""``--dialect`` of ``ratatoskr decode``, and the guess at another one."""

import json

import pytest

from ratatoskr_proto import encode_event

TURN = b'id: 93:1\ndata: {"type": "text", "text": "Hi"}\n\nid: 93:2\ndata: {"type": "done"}\n\n'


def frames(*bodies, named=False):
    return b"".join(
        encode_event(
            body if isinstance(body, str) else json.dumps(body),
            event=body["type"] if named else None,
        )
        for body in bodies
    )


def choice(reason=None, **delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


STREAMS = {
    "turn": TURN,
    "openai-chat": frames(
        choice(role="assistant"),
        choice(reasoning_content="Hm."),
        choice(content="Hi"),
        choice("length"),
        "[DONE]",
    ),
    "openai-responses": frames(
        {"type": "response.created"},
        {"type": "response.reasoning_text.delta", "delta": "Hm."},
        {"type": "response.output_text.delta", "delta": "Hi"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ),
    "anthropic": frames(
        {"type": "message_start", "message": {}},
        {"type": "ping"},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "Hm."},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Hi"},
        },
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
        named=True,
    ),
    "gemini": frames(
        {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]},
    ),
}
ENDS = {
    "turn": "[done]",
    "openai-chat": "[done] stop_reason='length'",
    "openai-responses": "[done] stop_reason='completed'",
    "anthropic": "[done] stop_reason='end_turn'",
    "gemini": "[done] stop_reason='STOP'",
}


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_stream_is_decoded_in_its_dialect(decode, dialect):
    run = decode(STREAMS[dialect], "--dialect", dialect)
    assert [line["text"] for line in run.lines if line["type"] == "text"] == ["Hi"]
    thought = [line["text"] for line in run.lines if line["type"] == "reasoning"]
    assert thought == ([] if dialect == "turn" else ["Hm."])
    assert (run.said[0], run.code) == (ENDS[dialect], 0)
    done = run.lines[-1]
    assert (done["type"], f"stop_reason={done['stop_reason']!r}" in ENDS[dialect]) == (
        "done",
        dialect != "turn",
    )


@pytest.mark.parametrize("dialect", STREAMS)
def test_an_answer_that_is_cut_is_21(decode, dialect):
    half = STREAMS[dialect].partition(b"Hi")[0] + b'Hi"'
    whole, _, _ = half.rpartition(b"\n\n")
    run = decode(whole + b"\n\n", "--dialect", dialect)
    assert run.said[0].startswith("[connection_dropped] last_sse_id=")
    assert run.code == 21


@pytest.mark.parametrize("dialect", STREAMS)
@pytest.mark.parametrize("spoken", STREAMS)
def test_another_dialect_is_guessed_from_the_first_frames(decode, spoken, dialect):
    if spoken == dialect:
        return
    run = decode(STREAMS[spoken], "--dialect", dialect)
    hint = f"ratatoskr: this looks like {spoken}; try --dialect {spoken}"
    assert run.code in (21, 22)
    assert run.said[1] == hint


@pytest.mark.parametrize(
    ("body", "dialect"),
    [("[DONE]", "openai-chat"), ({"promptFeedback": {}}, "gemini"), ({"candidates": []}, "gemini")],
)
def test_one_frame_is_enough_for_a_guess(decode, body, dialect):
    run = decode(frames(body))
    assert run.said[1] == f"ratatoskr: this looks like {dialect}; try --dialect {dialect}"


def test_a_short_answer_in_the_dialect_itself_is_no_other(decode):
    run = decode(frames(choice(role="assistant")), "--dialect", "openai-chat")
    assert (len(run.said), run.code) == (2, 21)


@pytest.mark.parametrize("data", ["Hi", "[1]", "{}", '{"type": "tick"}', "[" * 200_000, '"x"'])
def test_any_other_event_stream_is_one_for_tail(decode, data):
    run = decode(encode_event(data) + encode_event(data))
    assert run.said[1] == "ratatoskr: this looks like some other event stream; try: ratatoskr tail"
    assert run.code == 22


@pytest.mark.parametrize("stream", [b"", b": ping\n\n", b"id: 1\n\n", b"data:\n\n"])
def test_a_stream_without_data_is_like_nothing(decode, stream):
    assert (len(decode(stream).said), decode(stream).code) == (2, 21)


def test_a_bad_frame_after_good_ones_is_no_other_dialect(decode):
    run = decode(TURN.partition(b"id: 93:2")[0] + frames(choice(content="Hi")))
    assert (run.said[0].partition("]")[0], len(run.said)) == ("[malformed_envelope", 2)


def test_a_dialect_is_for_events_only(decode):
    run = decode(TURN, "--wire", "--dialect", "anthropic")
    assert (len(run.said), run.code) == (1, 2)
    assert "with --wire there are only frames" in run.said[0]


def test_a_dialect_that_there_is_not_is_one_line_with_the_list(decode):
    run = decode(TURN, "--dialect", "klingon")
    assert (len(run.said), run.code) == (1, 2)
    assert all(name in run.said[0] for name in STREAMS)
