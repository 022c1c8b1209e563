"""The rules that hold for every dialect, shown by one that reads its frames literally."""

import json
from collections import deque
from typing import ClassVar

import pytest
from support.words import FLUSHING, LOST, WORDS, Words, done, dropped, frames, read, text

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Done,
    Event,
    EventTooLarge,
    EventTypes,
    MalformedEnvelope,
    MalformedSseData,
    Reasoning,
    ServerError,
    ServerSentEvent,
    SseId,
    Text,
    TurnDecoder,
    TurnState,
    Unknown,
)
from ratatoskr_proto.dialects import DIALECTS, OPENAI_CHAT, TURN, Complete, Dialect

# Frames and events


def test_frames_are_counted_and_events_come_in_order():
    result = read(["text:a", "text:b"], "", [], ["text:c"], ["done"])
    assert result.items == [text("a", 1), text("b", 1), text("c", 3), done(None, 4)]
    assert (result.state, result.turn_id, result.last_sse_id) == (TurnState.DONE, 0, (0, 4))


def test_turn_id_is_0_once_an_event_came_out():
    decoder = TurnDecoder(dialect=WORDS)
    decoder.receive_data(frames([], ["whole"]))
    assert (decoder.turn_id, decoder.last_sse_id) == (None, None)
    decoder.receive_data(frames(["text:a"]))
    assert (decoder.turn_id, decoder.last_sse_id) == (0, (0, 3))
    decoder.receive_data(frames([]))
    assert decoder.last_sse_id == (0, 3)


@pytest.mark.parametrize("id", ["", "42:1", "anything\u2028"])
def test_ids_of_the_stream_mean_nothing(id):
    stream = f"id: {id}\n".encode() + frames(["text:a"], ["done"])
    assert read(rest=stream).items == [text("a", 1), done(None, 2)]


@pytest.mark.parametrize(
    ("field", "said"), [(b"", "message"), (b"event\n", "message"), (b"event: e\n", "e")]
)
def test_field_event_is_handed_to_the_dialect(field, said):
    assert read(rest=field + frames(["event"])).items[0] == text(said, 1)


@pytest.mark.parametrize("event", [None, "", "message"])
def test_frames_of_another_parser(event):
    decoder = TurnDecoder(dialect=WORDS)
    frame = ServerSentEvent(event, '["event"]', None)
    assert decoder.receive_sse(frame) == [text("message", 1)]
    assert decoder.receive_sse(frame._replace(event="e")) == [text("e", 2)]
    assert decoder.receive_sse(frame._replace(data="")) == []
    assert decoder.receive_sse(frame._replace(data="END")) == [done(None, 3)]
    assert decoder.receive_sse(frame) == []


@pytest.mark.parametrize("found", [None, [], ()])
def test_dialect_may_say_that_a_frame_says_nothing(found):
    assert read({"return": found}, dialect=Literal(lambda sse_id: found)).items == [dropped(None)]


@pytest.mark.parametrize("kind", [list, tuple, deque])
def test_dialect_may_return_any_sequence(kind):
    dialect = Literal(lambda sse_id: kind([Text("a", sse_id=sse_id, body={}), Complete("b")]))
    assert read({}, dialect=dialect).items == [text("a", 1), done("b", 1)]


def test_what_stands_after_a_terminal_event_is_dropped():
    for last in ("done:a", "error"):
        for after in ("text:b", "done:b", "error", "whole:b"):
            *items, end = read([last, after]).items
            assert items == []
            assert end.terminal
            assert getattr(end, "stop_reason", "a") == "a"
    assert read(["done", "whole:b"]).items == [done(None, 1)]
    odd = Literal(lambda sse_id: [Done("a", sse_id=sse_id, body={}), 5])
    assert read({}, dialect=odd).items == [done("a", 1)]


def test_nothing_counts_after_the_end():
    result = read(["done:a"], rest=b"retry: 5\n" + frames(["text:b"], "{"))
    assert (result.items, result.retry_ms) == ([done("a", 1)], None)
    result = read("END", rest=b"retry: 5\n\n")
    assert (result.items, result.retry_ms) == ([done(None, 1)], None)


def test_retry_before_the_end_counts():
    assert read(rest=b"retry: 5\n" + frames("END")).retry_ms == 5
    assert read(rest=b"retry: 5\n" + frames("{")).retry_ms == 5
    assert read(rest=b"retry: 5\ndata: END\n\n").retry_ms == 5
    assert read(rest=b"retry: 5\nda").retry_ms == 5


@pytest.mark.parametrize("frame", [b"data: END", b'data: ["text:a"]', b"data"])
def test_retry_in_an_unfinished_last_frame_counts_if_that_is_whole(frame):
    assert read(rest=frame + b"\nretry: 5", dialect=FLUSHING).retry_ms == 5
    assert read(rest=b"retry: 5\r" + frame, dialect=FLUSHING).retry_ms == 5
    assert read(rest=frame + b"\nretry: 5").retry_ms is None


def test_retry_alone_may_be_half_a_line():
    result = read(rest=b"retry: 5", dialect=FLUSHING)
    assert (result.items, result.retry_ms) == ([dropped(None, "end of stream" + LOST)], None)


# Errors


class Literal(Dialect):
    """Returns what a function of the id returns."""

    name = "literal"

    def __init__(self, function):
        self.function = function

    def read(self, sse_id, event, body):
        return self.function(sse_id)


def raising(error):
    def function(sse_id):
        raise error

    return Literal(function)


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, IndexError, AttributeError])
def test_these_exceptions_of_read_mean_malformed(error):
    result = read(["text:a"], {"b": 1}, dialect=raising(error("secret")))
    assert result.items == [MalformedEnvelope('["text:a"]')]
    assert result.state is TurnState.FAILED


@pytest.mark.parametrize("error", [ZeroDivisionError, RuntimeError, LookupError, RecursionError])
@pytest.mark.parametrize("method", ["receive_data", "receive_sse"])
def test_any_other_exception_is_a_bug_and_the_end(error, method):
    decoder = TurnDecoder(dialect=raising(error))
    given = frames({}) + b"retry: 5\n"
    with pytest.raises(error):
        getattr(decoder, method)(
            given if method == "receive_data" else ServerSentEvent("message", "{}", "")
        )
    assert (decoder.state, decoder.over, decoder.retry_ms) == (TurnState.FAILED, True, None)
    assert decoder.receive_eof() == []


def test_any_other_exception_over_the_unfinished_last_frame_is_a_bug_and_the_end():
    dialect = raising(ZeroDivisionError)
    dialect.flush_unfinished = True
    decoder = TurnDecoder(dialect=dialect)
    assert decoder.receive_data(b"data: {}") == []
    with pytest.raises(ZeroDivisionError):
        decoder.receive_eof()
    assert (decoder.state, decoder.pending) == (TurnState.FAILED, False)
    assert decoder.receive_eof() == []


def test_retry_after_an_exception_of_loads_does_not_count():
    def loads(data):
        raise ZeroDivisionError

    decoder = TurnDecoder(loads=loads)
    with pytest.raises(ZeroDivisionError):
        decoder.receive_data(b"retry: 1\nid: 42:1\ndata: {}\n\nretry: 2\n\n")
    assert decoder.retry_ms == 1


@pytest.mark.parametrize(
    "found",
    [
        lambda sse_id: Text("a", sse_id=sse_id, body={}),
        lambda sse_id: (Text("a", sse_id=sse_id, body={}) for _ in "a"),
        lambda sse_id: {Complete("a")},
        lambda sse_id: {},
        lambda sse_id: 0,
        lambda sse_id: "text",
        lambda sse_id: [None],
        lambda sse_id: [Text("a", sse_id=sse_id, body={}), "b"],
        lambda sse_id: [Text("a", sse_id=SseId(0, 99), body={})],
        lambda sse_id: [Text("a", sse_id=tuple(sse_id), body={})],
        lambda sse_id: [Done(sse_id=tuple(sse_id), body={})],
        lambda sse_id: [Complete],
        lambda sse_id: [Text],
    ],
)
def test_anything_else_that_read_returns_is_a_type_error(found):
    decoder = TurnDecoder(dialect=Literal(found))
    with pytest.raises(TypeError, match=r"Literal\.read\(\) must return a sequence of events"):
        decoder.receive_data(frames({}))
    assert decoder.state is TurnState.FAILED


def test_an_equal_id_is_the_id_given():
    dialect = Literal(lambda sse_id: [Text("a", sse_id=SseId(*sse_id), body={})])
    assert read({}, dialect=dialect).items[0] == text("a", 1)


def test_data_that_is_no_json_is_malformed():
    assert read(["text:a"], "{").items == [text("a", 1), MalformedSseData("{")]
    assert read("[" * 100_000).items == [MalformedSseData("[" * 200)]


def test_error_after_complete_is_a_bad_end():
    for bad, error in [("{", MalformedSseData("{")), ("5", MalformedEnvelope("5"))]:
        assert read(["whole:a"], bad).items == [error]
    rest = b"data: " + b"x" * 100
    assert read(["whole:a"], rest=rest, max_event_bytes=50).items == [EventTooLarge(50)]


# Arguments


def test_dialect_is_keyword_only():
    with pytest.raises(TypeError):
        TurnDecoder(None, DEFAULT_EVENT_TYPES, json.loads, 100, WORDS)


@pytest.mark.parametrize("dialect", ["openai-chat", None, Words, 5])
def test_dialect_of_another_type(dialect):
    with pytest.raises(TypeError, match="dialect must be a Dialect, not "):
        TurnDecoder(dialect=dialect)


@pytest.mark.parametrize("dialect", [WORDS, OPENAI_CHAT])
def test_what_belongs_to_turn_is_a_value_error_elsewhere(dialect):
    with pytest.raises(ValueError, match=r"resume_from .* only the dialect TURN"):
        TurnDecoder(resume_from=SseId(42, 1), dialect=dialect)
    with pytest.raises(ValueError, match="event_types is for the dialect TURN"):
        TurnDecoder(event_types=EventTypes(), dialect=dialect)
    assert TurnDecoder(event_types=DEFAULT_EVENT_TYPES, dialect=dialect).receive_data(b"") == []
    equal = EventTypes(Text, Done, ServerError)
    assert TurnDecoder(event_types=equal, dialect=dialect).over is False


def test_turn_takes_them():
    decoder = TurnDecoder(SseId(42, 1), EventTypes(Reasoning), dialect=TURN)
    stream = b'id: 42:1\ndata: {"type":"reasoning","text":"a"}\n\n'
    assert decoder.receive_data(stream) == []
    assert [type(event) for event in decoder.receive_data(stream.replace(b"42:1", b"42:2"))] == [
        Reasoning
    ]


def test_one_instance_serves_any_number_of_streams():
    first, second = TurnDecoder(dialect=WORDS), TurnDecoder(dialect=WORDS)
    first.receive_data(frames(["text:a", "whole:b"]))
    assert second.receive_data(frames(["text:a"])) == [text("a", 1)]
    assert second.receive_eof() == [dropped(1)]
    assert first.receive_eof() == [done("b", 1)]


def test_a_subclass_that_sets_numbered_is_a_type_error():
    with pytest.raises(TypeError, match="Numbered must not set numbered"):

        class Numbered(Dialect):
            name = "numbered"
            numbered = True

            def read(self, sse_id, event, body):
                return None


@pytest.mark.parametrize("base", [Words, type(TURN)])
def test_a_subclass_that_gets_numbered_from_elsewhere_is_a_type_error(base):
    mixin = type("Mixin", (), {"numbered": True})
    with pytest.raises(TypeError, match="Numbered must not set numbered"):
        type("Numbered", (mixin, base), {})
    assert type("After", (base, mixin), {}).numbered is base.numbered


def test_a_subclass_may_say_that_it_is_not_numbered():
    assert type("Plain", (Words,), {"numbered": False}).numbered is False
    assert type("Turns", (type(TURN),), {}).numbered is True


@pytest.mark.parametrize("marks", ["[DONE]", ["[DONE]"], None, {b"[DONE]"}, {"[DONE]", 5}])
def test_end_marks_are_a_set(marks):
    with pytest.raises(TypeError, match=r"Marked\.end_marks must be a frozenset"):

        class Marked(Words):
            end_marks: ClassVar = marks


def test_a_dialect_has_a_read():
    mute = type("Mute", (Dialect,), {"name": "mute"})
    with pytest.raises(TypeError, match="read"):
        mute()


# Values


def test_complete_is_a_value():
    assert Complete("a") == Complete("a", True) != Complete("a", certain=False)
    assert hash(Complete(None)) == hash(Complete(None))
    assert Complete.__match_args__ == ("stop_reason", "certain")
    assert not isinstance(Complete("a"), Event)
    with pytest.raises(AttributeError):
        Complete("a").stop_reason = "b"


@pytest.mark.parametrize("reason", [5, True, b"stop", [], {}])
def test_complete_takes_a_str_or_none(reason):
    with pytest.raises(TypeError, match="stop_reason must be a str"):
        Complete(reason)
    with pytest.raises(TypeError, match="certain must be True or False"):
        Complete("a", certain=reason if reason is not True else 1)


@pytest.mark.parametrize("reason", [5, None, True, ["a"], {}])
def test_in_turn_a_stop_reason_that_is_no_string_is_none(reason):
    frame = b'id: 42:1\ndata: {"type":"done","stop_reason":%s}\n\n'
    [event] = TurnDecoder().receive_data(frame % json.dumps(reason).encode())
    assert type(event) is Done
    assert event.stop_reason is None
    [event] = TurnDecoder().receive_data(frame % b'"stop"')
    assert (event.stop_reason, Done.__match_args__) == ("stop", ("stop_reason",))


def test_reasoning_is_like_text_and_in_no_table():
    event = Reasoning("a", sse_id=SseId(0, 1), body={})
    assert (event.type, event.terminal, Reasoning.__match_args__) == ("reasoning", False, ("text",))
    assert event != text("a", 1)
    assert "reasoning" not in DEFAULT_EVENT_TYPES
    body = {"type": "reasoning", "text": "a"}
    stream = b"id: 42:1\ndata: " + json.dumps(body).encode() + b"\n\n"
    assert TurnDecoder().receive_data(stream) == [
        Unknown("reasoning", sse_id=SseId(42, 1), body=body)
    ]


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_turn_that_is_over_keeps_nothing_of_the_stream(dialect):
    decoder = TurnDecoder(dialect=dialect, max_event_bytes=50)
    assert decoder.receive_data(b"data: " + b"x" * 100) == [EventTooLarge(50)]
    assert (decoder.state, decoder.pending, decoder.over) == (TurnState.FAILED, False, True)
    assert decoder.receive_data(frames(["text:a"])) == decoder.receive_eof() == []
