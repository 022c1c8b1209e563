"""The turn layer, rule by rule of docs/turn-protocol.md."""

import copy
import json
import pickle

import pytest
from support.feeding import chunkings, decode_turn

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Done,
    Event,
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    ServerError,
    ServerSentEvent,
    SseConnectionDropped,
    SseId,
    Text,
    TurnDecoder,
    TurnIdFlip,
    TurnState,
    Unknown,
    encode_comment,
    encode_event,
)

STREAMING, DONE, FAILED = TurnState


def frame(id, **body):
    return encode_event(json.dumps(body), id=id)


def text(id, text="hi"):
    return frame(id, type="text", text=text)


def done(id):
    return frame(id, type="done")


def empty(id):
    return encode_event("", id=id)


def ids(items):
    return [str(item.sse_id) for item in items]


# The four cases that the project began with


def test_empty_data_skipped():
    decoder = TurnDecoder()
    first = decoder.receive_data(text("42:1"))
    assert decoder.receive_data(empty("42:2")) == []
    third = decoder.receive_data(text("42:3"))
    assert decoder.last_sse_id == (42, 3)
    last = decoder.receive_data(done("42:4"))
    assert decoder.last_sse_id == (42, 4)
    assert [type(event) for event in first + third + last] == [Text, Text, Done]


def test_malformed_data_raises():
    result = decode_turn(text("42:1") + encode_event("not-json", id="42:2"))
    assert ids(result.items[:1]) == ["42:1"]
    assert result.items[1:] == [MalformedSseData("not-json")]
    assert result.state is FAILED
    assert result.last_sse_id == (42, 1)


@pytest.mark.parametrize("data", [" ", "\t", "\n", "  \n "])
def test_whitespace_data_raises(data):
    result = decode_turn(encode_event(data, id="42:1"))
    assert result.items == [MalformedSseData(data)]


def test_malformed_data_truncation():
    [error] = decode_turn(encode_event("x" * 5000, id="42:1")).items
    assert error.raw == "x" * 200
    assert str(error) == f"malformed SSE data: {'x' * 200!r}"


# Rule 1: exactly empty data is skipped


@pytest.mark.parametrize("bad_id", ["", "nonsense", "43:2", "42:2:2"])
def test_rule_1_the_id_of_a_skipped_frame_is_not_looked_at(bad_id):
    result = decode_turn(text("42:1") + empty(bad_id) + text("42:3") + done("42:4"))
    assert ids(result.items) == ["42:1", "42:3", "42:4"]
    assert result.state is DONE


def test_rule_1_skipped_first_frame_fixes_nothing():
    result = decode_turn(empty("99:1"))
    assert (result.items, result.turn_id, result.last_sse_id) == ([], None, None)
    assert ids(decode_turn(empty("99:1") + text("42:1")).items) == ["42:1"]


def test_rule_1_skipped_last_frame_does_not_move_the_resume_point():
    result = decode_turn(text("42:1") + empty("42:2"), end=True)
    assert result.items[-1] == SseConnectionDropped(SseId(42, 1), "end of stream")


def test_rule_1_comment_keep_alive_after_an_id_is_no_frame():
    keep_alive = encode_comment("keep-alive") + b"\n"
    result = decode_turn(keep_alive + text("42:1") + keep_alive * 3 + done("42:2"))
    assert ids(result.items) == ["42:1", "42:2"]


def test_rule_1_frame_with_an_id_and_no_data_line_is_skipped_too():
    result = decode_turn(text("42:1") + b"id: 42:2\n\n" + done("42:3"))
    assert ids(result.items) == ["42:1", "42:3"]


# Rule 2: the id


@pytest.mark.parametrize(
    "raw",
    [
        *["42", "42:", ":1", "42:1:1", " 42:1", "42:1 ", "+42:1", "-1:1", "4_2:1", "a:b"],
        *["٤٢:1", "42:" + "1" * 20, "x" * 100],
    ],
)
def test_rule_2_an_id_that_is_not_turn_colon_seq_is_malformed(raw):
    result = decode_turn(text(raw))
    assert result.items == [MalformedSseId(raw)]
    assert result.items[0].raw == raw[:64]
    assert result.state is FAILED


def test_rule_2_frame_without_any_id_is_malformed():
    assert decode_turn(text(None)).items == [MalformedSseId("")]


def test_rule_2_frame_without_own_id_carries_the_one_before():
    result = decode_turn(text("42:1") + text(None) + b"id: 42:5\n\n" + done(None))
    assert ids(result.items) == ["42:1", "42:1", "42:5"]


def test_rule_2_id_buffer_starts_empty_on_a_resumed_connection_too():
    assert decode_turn(text(None), resume_from=SseId(42, 7)).items == [MalformedSseId("")]


def test_rule_2_comes_before_rule_4():
    assert decode_turn(encode_event("not-json", id="bad")).items == [MalformedSseId("bad")]


# Rule 3: one turn


def test_rule_3_another_turn_is_a_flip():
    result = decode_turn(text("42:1") + text("43:2") + done("42:3"))
    assert result.items[1:] == [TurnIdFlip(42, 43)]
    assert (result.state, result.last_sse_id, result.turn_id) == (FAILED, (42, 1), 42)


def test_rule_3_resume_from_fixes_the_turn():
    assert decode_turn(text("43:8"), resume_from=SseId(42, 7)).items == [TurnIdFlip(42, 43)]


def test_rule_3_comes_before_rule_4():
    data = text("42:1") + encode_event("not-json", id="43:2")
    assert decode_turn(data).items[1:] == [TurnIdFlip(42, 43)]


# Rule 4: JSON


@pytest.mark.parametrize("data", ["{", "'a'", "[" * 100_000, "9" * 5000, '{"type":"text"} x'])
def test_rule_4_what_loads_refuses_is_malformed_data(data):
    decoder = TurnDecoder()
    assert decoder.receive_data(encode_event(data, id="42:1")) == [MalformedSseData(data)]
    assert decoder.state is FAILED


def test_rule_4_what_loads_accepts_passes():
    data = '{"type":"text","text":"\\ud800","n":NaN,"deep":[[[[[[]]]]]]}'
    [event] = decode_turn(encode_event(data, id="42:1")).items
    assert event.text == "\ud800"


def test_rule_4_loads_may_be_another():
    [event] = decode_turn(encode_event("hello", id="42:1"), loads=as_text).items
    assert event == Text("hello", sse_id=SseId(42, 1), body={"type": "text", "text": "hello"})


def as_text(data):
    return {"type": "text", "text": data}


def test_rule_4_any_other_exception_is_the_callers_and_fails_the_turn():
    def loads(data):
        raise ZeroDivisionError(data)

    decoder = TurnDecoder(loads=loads)
    with pytest.raises(ZeroDivisionError):
        decoder.receive_data(text("42:1"))
    assert decoder.state is FAILED
    assert decoder.receive_data(text("42:2")) == decoder.receive_eof() == []


# Rule 5: the envelope


@pytest.mark.parametrize(
    "data",
    [
        *["null", "[]", '"text"', "1", "{}", '{"type":null}', '{"type":1}', '{"Type":"text"}'],
        *['{"type":"text"}', '{"type":"text","text":1}', '{"type":"error"}'],
        '{"type":"error","message":null}',
    ],
)
def test_rule_5_what_is_no_event_is_a_malformed_envelope(data):
    result = decode_turn(encode_event(data, id="42:1"))
    assert result.items == [MalformedEnvelope(data)]
    assert result.state is FAILED


def test_rule_5_raw_is_cut():
    data = json.dumps({"type": "text", "text": ["x" * 500]})
    assert decode_turn(encode_event(data, id="42:1")).items[0].raw == data[:200]


def test_rule_5_event_field_plays_no_part():
    data = encode_event('{"type":"text","text":"a"}', event="error", id="42:1")
    assert [type(item) for item in decode_turn(data).items] == [Text]


def test_rule_5_unknown_type_is_an_event():
    [event] = decode_turn(frame("42:1", type="usage", tokens=3)).items
    assert event == Unknown("usage", sse_id=SseId(42, 1), body={"type": "usage", "tokens": 3})


# Rule 6: replays after a resume


def test_rule_6_replays_are_dropped_up_to_the_resume_point():
    data = text("42:6") + text("42:7") + text("42:8") + done("42:9")
    result = decode_turn(data, resume_from=SseId(42, 7))
    assert ids(result.items) == ["42:8", "42:9"]


def test_rule_6_ends_with_the_first_event_beyond():
    data = text("42:7") + text("42:8") + text("42:3") + text("42:8") + done("42:9")
    result = decode_turn(data, resume_from=SseId(42, 7))
    assert ids(result.items) == ["42:8", "42:3", "42:8", "42:9"]


def test_rule_6_terminal_event_is_never_a_replay():
    result = decode_turn(text("42:5") + done("42:6"), resume_from=SseId(42, 7))
    assert ids(result.items) == ["42:6"]
    assert (result.state, result.last_sse_id) == (DONE, (42, 6))


def test_rule_6_replays_are_judged_before_they_are_dropped():
    data = text("42:6") + encode_event("not-json", id="42:7")
    result = decode_turn(data, resume_from=SseId(42, 7))
    assert result.items == [MalformedSseData("not-json")]
    data = encode_event('{"type":"text"}', id="42:7")
    assert decode_turn(data, resume_from=SseId(42, 7)).items == [
        MalformedEnvelope('{"type":"text"}')
    ]


def test_rule_6_seq_is_compared_only_after_a_resume():
    data = text("42:5") + text("42:5") + text("42:2") + done("42:1")
    assert ids(decode_turn(data).items) == ["42:5", "42:5", "42:2", "42:1"]


@pytest.mark.parametrize("data", [b"", text("42:6"), text("42:7"), empty("42:8")])
def test_rule_6_resume_point_is_kept_on_a_drop_before_anything_new(data):
    result = decode_turn(data, end=True, resume_from=SseId(42, 7))
    assert result.items == [SseConnectionDropped(SseId(42, 7), "end of stream")]
    assert (result.last_sse_id, result.turn_id) == ((42, 7), 42)


# Rule 7: what comes out


def test_rule_7_each_event_moves_the_last_sse_id():
    decoder = TurnDecoder()
    assert (decoder.last_sse_id, decoder.turn_id) == (None, None)
    decoder.receive_data(text("42:1"))
    assert (decoder.last_sse_id, decoder.turn_id) == (SseId(42, 1), 42)
    assert decoder.state is STREAMING


def test_rule_7_done_and_server_error_are_terminal():
    assert decode_turn(done("42:1")).state is DONE
    result = decode_turn(frame("42:1", type="error", message="busy", code=5))
    body = {"type": "error", "message": "busy", "code": 5}
    assert result.items == [ServerError("busy", sse_id=SseId(42, 1), body=body)]
    assert result.state is DONE


def test_body_holds_all_that_the_server_said():
    [event] = decode_turn(frame("42:1", type="done", usage={"tokens": 7})).items
    assert event.body == {"type": "done", "usage": {"tokens": 7}}


# Errors and ends


def test_event_too_large_is_final_in_a_turn():
    data = text("42:1") + text("42:2", "x" * 100) + done("42:3")
    result = decode_turn(data, max_event_bytes=80)
    assert result.items[1:] == [EventTooLarge(80)]
    assert (result.state, result.last_sse_id) == (FAILED, (42, 1))


def test_every_error_is_put_out_once_after_the_events_before_it():
    for bad in (
        encode_event("not-json", id="42:2"),
        encode_event("{}", id="42:2"),
        text("bad"),
        text("43:2"),
        text("42:2", "x" * 200),
    ):
        result = decode_turn(text("42:1") + bad + text("42:3") + bad, end=True, max_event_bytes=150)
        assert len(result.items) == 2
        assert (result.state, result.last_sse_id) == (FAILED, (42, 1))


@pytest.mark.parametrize("final", [done("42:1"), text("bad")])
def test_final_states_discard_all_input_and_retain_nothing(final):
    decoder = TurnDecoder()
    decoder.receive_data(final + b"retry: 9\ndata: begun")
    state, last = decoder.state, decoder.last_sse_id
    for _ in range(3):
        assert decoder.receive_data(text("42:2") + b"x" * 10_000) == []
        assert decoder.receive_sse(ServerSentEvent("message", "{}", "42:2")) == []
        assert decoder.receive_eof() == []
    assert (decoder.state, decoder.last_sse_id) == (state, last)
    assert (decoder.pending, decoder.retry_ms) == (False, None)


def test_eof_in_mid_turn_is_a_drop_and_final():
    decoder = TurnDecoder()
    decoder.receive_data(text("42:3"))
    assert decoder.receive_eof() == [SseConnectionDropped(SseId(42, 3), "end of stream")]
    assert decoder.receive_eof() == []
    assert decoder.receive_data(text("42:4")) == []
    assert decoder.state is FAILED


def test_eof_with_a_reason_says_if_an_unfinished_event_was_lost():
    decoder = TurnDecoder()
    decoder.receive_data(b"id: 42:1\ndata: {")
    assert decoder.pending
    assert decoder.receive_eof("reset") == [
        SseConnectionDropped(None, "reset; unfinished event lost")
    ]
    assert not decoder.pending


def test_retry_is_that_of_the_stream_up_to_its_end():
    assert decode_turn(b"retry: 5\n" + text("42:1")).retry_ms == 5
    assert decode_turn(b"retry: 5\n" + done("42:1") + b"retry: 6\n").retry_ms == 5
    assert decode_turn(done("42:1").replace(b"data", b"retry: 7\ndata")).retry_ms == 7


@pytest.mark.parametrize("stream", [b"", b"id: 42:1\nda", done("42:1")])
def test_a_decoder_is_not_copied(stream):
    decoder = TurnDecoder()
    decoder.receive_data(stream)
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="one connection"):
            copying(decoder)


# The long turn that began it all


@pytest.mark.no_cover  # no line that other tests do not reach
def test_turn_with_an_empty_frame_after_1077_events_comes_to_its_end():
    frames = [text(f"93:{seq}", f"word {seq} ") for seq in range(1, 1078)]
    frames += [empty("93:1078"), text("93:1079", "the end"), done("93:1080")]
    for chunks in chunkings(b"".join(frames)):
        decoder = TurnDecoder()
        events = [event for chunk in chunks for event in decoder.receive_data(chunk)]
        assert len(events) == 1079
        assert all(isinstance(event, Event) for event in events)
        assert (decoder.state, decoder.last_sse_id) == (DONE, (93, 1080))


def test_default_event_types_are_those_of_the_protocol():
    assert dict(DEFAULT_EVENT_TYPES) == {"text": Text, "done": Done, "error": ServerError}
