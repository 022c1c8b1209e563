"""Events, and the table that tells which JSON becomes which."""

import copy
import dataclasses
import pickle
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Annotated, Any, ClassVar, Optional

import pytest
from support.feeding import decode_turn

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Done,
    Event,
    EventTypes,
    MalformedEnvelope,
    Reasoning,
    ServerError,
    SseId,
    Text,
    TurnDecoder,
    TurnState,
    Unknown,
    encode_event,
)

AT = SseId(42, 1)


@dataclass(frozen=True)
class ToolCall(Event):
    type = "tool_call"
    name: str
    args: dict[str, Any] = field(default_factory=dict)


EVENTS = [
    Text("hi", sse_id=AT, body={"type": "text", "text": "hi"}),
    Done(sse_id=AT, body={"type": "done"}),
    Reasoning("hm", sse_id=AT, body={}),
    Done("stop", sse_id=AT, body={}),
    ServerError("no", sse_id=AT, body={}),
    Unknown("usage", sse_id=AT, body={}),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_events_are_frozen_comparable_hashable(event):
    assert dataclasses.is_dataclass(event)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.sse_id = None
    for twin in (copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
        assert twin == event
        assert hash(twin) == hash(event)


def test_events_differ_by_class_field_id_and_body():
    assert Text("a", sse_id=AT, body={}) != ServerError("a", sse_id=AT, body={})
    assert Text("a", sse_id=AT, body={}) != Text("b", sse_id=AT, body={})
    assert Text("a", sse_id=AT, body={}) != Text("a", sse_id=SseId(42, 2), body={})
    assert Text("a", sse_id=AT, body={}) != Text("a", sse_id=AT, body={"x": 1})


def test_body_is_not_in_repr_or_hash():
    event = Text("a", sse_id=AT, body={"secret": 1})
    assert repr(event) == "Text(sse_id=SseId(turn_id=42, seq=1), text='a')"
    assert hash(event) == hash(Text("a", sse_id=AT, body={}))


def test_sse_id_and_body_are_keyword_only():
    assert Text.__match_args__ == ("text",)
    with pytest.raises(TypeError):
        Text("a", AT, {})


def test_type_and_terminal_are_class_attributes_but_for_unknown():
    assert [(cls.type, cls.terminal) for cls in (Text, Done, ServerError)] == [
        ("text", False),
        ("done", True),
        ("error", True),
    ]
    assert not hasattr(Unknown, "type")
    assert not Unknown.terminal


def test_events_match_by_position():
    match EVENTS[0]:
        case Text(text):
            assert text == "hi"


# with_types


def decode(types, **body):
    import json

    [item] = decode_turn(encode_event(json.dumps(body), id="42:1"), event_types=types).items
    return item


def test_with_types_adds_a_type_in_a_new_table():
    types = DEFAULT_EVENT_TYPES.with_types(ToolCall)
    body = {"type": "tool_call", "name": "search", "args": {"q": "ash"}}
    assert decode(types, **body) == ToolCall("search", {"q": "ash"}, sse_id=AT, body=body)
    assert "tool_call" not in DEFAULT_EVENT_TYPES
    assert isinstance(decode(DEFAULT_EVENT_TYPES, **body), Unknown)


def test_default_makes_the_key_optional():
    types = DEFAULT_EVENT_TYPES.with_types(ToolCall)
    assert decode(types, type="tool_call", name="x").args == {}
    assert isinstance(decode(types, type="tool_call"), MalformedEnvelope)


def test_later_class_replaces_an_earlier_one_of_the_same_type():
    @dataclass(frozen=True)
    class Other(Event):
        type = "text"

    assert DEFAULT_EVENT_TYPES.with_types(ToolCall, Other)["text"] is Other
    assert DEFAULT_EVENT_TYPES["text"] is Text


def test_terminal_type_of_an_embedder_ends_the_turn():
    @dataclass(frozen=True)
    class Handover(Event):
        type = "handover"
        terminal = True

    data = encode_event('{"type":"handover"}', id="42:1") + encode_event("x", id="42:2")
    result = decode_turn(data, event_types=DEFAULT_EVENT_TYPES.with_types(Handover))
    assert [type(item) for item in result.items] == [Handover]


def test_table_is_a_read_only_mapping():
    types = DEFAULT_EVENT_TYPES.with_types(ToolCall)
    assert list(types) == ["text", "done", "error", "tool_call"]
    assert len(types) == 4
    assert repr(types) == "<EventTypes text, done, error, tool_call>"
    assert isinstance(types, EventTypes)
    with pytest.raises(TypeError):
        types["text"] = Done


def test_table_is_hashable_and_can_be_a_default():
    types = DEFAULT_EVENT_TYPES.with_types(ToolCall)
    twin = EventTypes(ToolCall, ServerError, Text, Done)
    assert (types, hash(types)) == (twin, hash(twin))
    assert types != DEFAULT_EVENT_TYPES

    @dataclass
    class Settings:
        event_types: EventTypes = DEFAULT_EVENT_TYPES

    assert Settings().event_types is DEFAULT_EVENT_TYPES


def test_subclass_of_done_has_fields_of_its_own():
    @dataclass(frozen=True)
    class Finished(Done):
        tokens: int = 0

    body = {"type": "done", "stop_reason": "stop", "tokens": 5}
    event = Finished.from_body(AT, body)
    assert event == Finished("stop", 5, sse_id=AT, body=body)


def test_table_can_be_made_from_nothing():
    types = EventTypes(ToolCall)
    assert isinstance(decode(types, type="text", text="hi"), Unknown)
    with pytest.raises(TypeError, match="derived from Event"):
        EventTypes({"text": Text})


def annotated(annotation, **options):
    """An event class with one field of this annotation."""
    namespace = {"type": "t", "__annotations__": {"value": annotation}, **options}
    return dataclass(frozen=True)(type("Annotated", (Event,), namespace))


KINDS = {
    str: ["a"],
    int: [1],
    float: [1, 1.5],
    bool: [True],
    list: [[]],
    dict: [{}],
    None: [None],
}


@pytest.mark.parametrize(
    ("annotation", "kinds"),
    [
        (str, [str]),
        (int, [int]),
        (float, [float]),
        (bool, [bool]),
        (list, [list]),
        (list[int], [list]),
        (dict, [dict]),
        (dict[str, Any], [dict]),
        (Any, list(KINDS)),
        (str | None, [str, None]),
        (None | float, [float, None]),
        (Optional[list[str]], [list, None]),  # noqa: UP045
        (Any | None, list(KINDS)),
        ("int | None", [int, None]),
        (Annotated[bool, "a note"], [bool]),
    ],
)
def test_from_body_checks_the_outer_kind(annotation, kinds):
    cls = annotated(annotation)
    DEFAULT_EVENT_TYPES.with_types(cls)
    accepted = [value for kind in kinds for value in KINDS[kind]]
    for value in [value for values in KINDS.values() for value in values]:
        # A value and not its equal: in Python 1 == True == 1.0.
        if any(type(value) is type(other) for other in accepted):
            assert cls.from_body(AT, {"value": value}).value is value
        else:
            with pytest.raises(ValueError, match="'value' must be"):
                cls.from_body(AT, {"value": value})


def test_from_body_says_what_is_missing():
    with pytest.raises(ValueError, match="the key 'text' is missing"):
        Text.from_body(AT, {"type": "text"})


def test_from_body_reads_no_field_that_cannot_be_given():
    @dataclass(frozen=True)
    class Counted(Event):
        type = "counted"
        unit: ClassVar[str] = "ms"
        length: int = field(init=False, default=0)

    event = Counted.from_body(AT, {"length": "none of its business"})
    assert event.length == 0


@pytest.mark.parametrize("annotation", [set, object, int | str, tuple[int], type(None), "bytes"])
def test_another_annotation_is_a_type_error(annotation):
    with pytest.raises(TypeError, match=r"Annotated.value must be annotated as str, int"):
        DEFAULT_EVENT_TYPES.with_types(annotated(annotation))


@pytest.mark.parametrize("annotation", ["NoSuchName", "typing.NoSuchName", "int (", ""])
def test_annotation_that_cannot_be_read_is_a_type_error(annotation):
    with pytest.raises(TypeError, match="cannot be read"):
        DEFAULT_EVENT_TYPES.with_types(annotated(annotation))


def test_from_body_that_is_no_class_method_is_a_type_error():
    @dataclass(frozen=True)
    class Plain(Event):
        type = "plain"

        def from_body(self, sse_id, body):  # type: ignore[override]
            raise NotImplementedError

    with pytest.raises(TypeError, match=r"Plain.from_body must be a class method"):
        DEFAULT_EVENT_TYPES.with_types(Plain)


def test_keyword_only_mark_and_init_variables_are_no_missing_decorator():
    @dataclass(frozen=True)
    class Marked(Event):
        type = "marked"
        _: KW_ONLY
        size: int = 0
        unit: InitVar[str] = "ms"

    event = decode(DEFAULT_EVENT_TYPES.with_types(Marked), type="marked", size=3)
    assert event.size == 3


def test_class_without_type_is_a_type_error():
    @dataclass(frozen=True)
    class NoType(Event):
        name: str

    for cls in (NoType, Unknown, Event):
        with pytest.raises(TypeError, match="needs a class attribute"):
            DEFAULT_EVENT_TYPES.with_types(cls)


@pytest.mark.parametrize("cls", [int, "Text", Text("a", sse_id=AT, body={})])
def test_what_is_no_event_class_is_a_type_error(cls):
    with pytest.raises(TypeError, match="derived from Event"):
        DEFAULT_EVENT_TYPES.with_types(cls)


def test_forgotten_decorator_is_a_type_error():
    class Undecorated(Event):
        type = "undecorated"
        name: str

    class Further(Undecorated):
        type = "further"

    for cls in (Undecorated, Further):
        with pytest.raises(TypeError, match="Undecorated must be decorated"):
            DEFAULT_EVENT_TYPES.with_types(cls)


def test_subclass_without_fields_of_its_own_needs_no_decorator():
    class Whisper(Text):
        type = "whisper"
        volume: ClassVar[int] = 1

    event = decode(DEFAULT_EVENT_TYPES.with_types(Whisper), type="whisper", text="psst")
    assert type(event) is Whisper
    assert event.text == "psst"


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, IndexError, AttributeError])
def test_override_of_from_body_may_refuse(error):
    types = DEFAULT_EVENT_TYPES.with_types(picky(error))
    assert decode(types, type="picky") == MalformedEnvelope('{"type": "picky"}')


def test_any_other_exception_of_an_event_class_is_the_callers():
    types = DEFAULT_EVENT_TYPES.with_types(picky(ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        decode(types, type="picky")


@pytest.mark.parametrize(
    "result", [None, 5, {}, Text("a", sse_id=SseId(43, 1), body={}), MalformedEnvelope("x")]
)
def test_override_of_from_body_must_return_its_event(result):
    @dataclass(frozen=True)
    class Wrong(Event):
        type = "wrong"

        @classmethod
        def from_body(cls, sse_id, body):
            return result

    decoder = TurnDecoder(event_types=DEFAULT_EVENT_TYPES.with_types(Wrong))
    with pytest.raises(TypeError, match=r"Wrong.from_body\(\) must return an event"):
        decoder.receive_data(encode_event('{"type":"wrong"}', id="42:1"))
    assert decoder.state is TurnState.FAILED


def picky(error):
    @dataclass(frozen=True)
    class Picky(Event):
        type = "picky"
        seen: set[str]  # no matter, since from_body is its own

        @classmethod
        def from_body(cls, sse_id, body):
            raise error

    return Picky
