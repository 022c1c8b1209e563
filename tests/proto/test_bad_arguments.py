"""A bad argument is an error that says what it was and what would be right."""

import dataclasses
from types import SimpleNamespace

import pytest
from support.frames import done

from ratatoskr_proto import (
    EventStreamDecoder,
    EventTypes,
    SseConnectionDropped,
    SseId,
    Text,
    TurnDecoder,
)

TEXT = b'id: 42:1\ndata: {"type":"text","text":"a"}\n\n'


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: EventStreamDecoder().receive_data("a"), "bytearray or memoryview, not str"),
        (lambda: TurnDecoder().receive_data([1]), "bytearray or memoryview, not list"),
        (lambda: EventStreamDecoder().receive_eof(None), "reason must be a str, not NoneType"),
        (lambda: TurnDecoder().receive_eof(None), "reason must be a str, not NoneType"),
        (lambda: TurnDecoder().receive_eof(b""), "reason must be a str, not bytes"),
        (
            lambda: TurnDecoder().receive_sse(SimpleNamespace(event=None, data=1, id=None)),
            "data of this SimpleNamespace is not",
        ),
        (lambda: SseConnectionDropped("42:1", "reset"), "an SseId or None, not str"),
    ],
)
def test_message_names_the_type_that_was_given(call, words):
    with pytest.raises(TypeError, match=words):
        call()


@pytest.mark.parametrize("wrong", ["no event", "another id"])
def test_event_class_that_builds_something_else_is_named(wrong):
    @dataclasses.dataclass(frozen=True)
    class Wrong(Text):
        @classmethod
        def from_body(cls, sse_id, body):
            if wrong == "no event":
                return SimpleNamespace(sse_id=sse_id)
            return Text("a", sse_id=SseId(42, 2), body=body)

    decoder = TurnDecoder(event_types=EventTypes(Wrong))
    with pytest.raises(TypeError, match=r"Wrong.from_body\(\) must .* it was given, not "):
        decoder.receive_data(TEXT)
    assert decoder.receive_data(TEXT) == []


def test_view_of_larger_items_is_read_as_its_bytes():
    decoder = EventStreamDecoder()
    decoder.receive_data(b"data: a")
    numbers = memoryview(b"bcdefgh\n\ndata: ijk\n\n").cast("I")
    assert [event.data for event in decoder.receive_data(numbers)] == ["abcdefgh", "ijk"]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"resume_from": "42:1"}, TypeError, "SseId.parse"),
        ({"resume_from": (42, 1)}, TypeError, "SseId.parse"),
        ({"resume_from": SseId("42", 1)}, TypeError, "two ints"),
        ({"resume_from": SseId(42, True)}, ValueError, "'<turn>:<seq>'"),
        ({"resume_from": SseId(-1, 1)}, ValueError, "'<turn>:<seq>'"),
        ({"resume_from": SseId(1, 10**19)}, ValueError, "1 to 19 ASCII digits"),
        ({"event_types": {"text": Text}}, TypeError, "with_types"),
        ({"loads": None}, TypeError, "callable"),
        ({"max_event_bytes": 0}, ValueError, "at least 1"),
    ],
)
def test_bad_options_of_a_turn(arguments, error, words):
    with pytest.raises(error, match=words):
        TurnDecoder(**arguments)


@pytest.mark.parametrize("state", ["streaming", "done"])
def test_bad_chunk_is_a_type_error_in_every_state(state):
    decoder = TurnDecoder()
    if state == "done":
        decoder.receive_data(done(1))
    with pytest.raises(TypeError, match="takes bytes, bytearray or memoryview"):
        decoder.receive_data(5)
    with pytest.raises(TypeError, match="reason must be a str"):
        decoder.receive_eof(None)
