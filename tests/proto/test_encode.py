"""The encoder, and that the decoder reads back what went in."""

import re
from enum import Enum

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.feeding import decode_wire

from ratatoskr_proto import (
    Comment,
    EventTooLarge,
    ServerSentEvent,
    encode,
    encode_comment,
    encode_event,
)

texts = st.text(st.characters(codec="utf-8"), max_size=40) | st.text("a\r\n :\0\ufeff", max_size=12)


def without(characters):
    return texts.map(lambda text: re.sub(f"[{characters}]", "", text))


def with_lf(text):
    return text.replace("\r\n", "\n").replace("\r", "\n")


def test_what_it_looks_like():
    assert encode_event("a\nb", event="e", id="1", retry_ms=5) == (
        b"event: e\nid: 1\nretry: 5\ndata: a\ndata: b\n\n"
    )
    assert encode_event("") == b"data: \n\n"
    assert encode_comment("ping") == b": ping\n"


@given(
    st.lists(
        st.tuples(
            st.none() | texts,
            st.none() | without("\r\n"),
            st.none() | without("\r\n\0"),
            st.none() | st.integers(0, 10**30),
        ),
        max_size=5,
    )
)
@example([("\ufeffa", "\ufeff", "\ufeff", None)])
@example([("data: a\r\rid: 9\n\r\n\n", " ", " ", 0)])
def test_decoding_gives_back_what_went_in(events):
    stream, expected, last_id, last_retry = b"", [], "", None
    for data, event, id, retry in events:
        assume(data is not None or id is not None or retry is not None)
        stream += encode_event(data, event=event, id=id, retry_ms=retry)
        last_id = last_id if id is None else id
        last_retry = last_retry if retry is None else retry
        if data is not None:
            expected.append(ServerSentEvent(event or "message", with_lf(data), last_id))
    result = decode_wire(stream)
    assert result == (expected, last_id, last_retry, False)


def test_block_without_data_carries_an_id_or_a_retry_time_alone():
    assert encode_event(None, id="7") == b"id: 7\n\n"
    assert encode_event(None, retry_ms=5) == b"retry: 5\n\n"
    assert decode_wire(encode_event(None, id="", retry_ms=0)) == ([], "", 0, False)
    for arguments in ({}, {"event": "a"}):
        with pytest.raises(ValueError, match="without data must have an id or a retry_ms"):
            encode_event(None, **arguments)


ITEMS = st.builds(Comment, texts.map(lambda text: re.sub("[\r\n]", "", text))) | st.builds(
    ServerSentEvent,
    st.just("message") | without("\r\n").filter(bool),
    texts.map(with_lf),
    st.sampled_from(["", "1", "é"]),
)


@given(st.lists(ITEMS, max_size=6), st.sampled_from(["", "1", "old"]))
@example([ServerSentEvent("message", "", ""), ServerSentEvent("x", "a", "")], "")
def test_items_of_a_decoder_come_back_as_they_were(items, last_event_id):
    stream, last = b"", last_event_id
    for item in items:
        stream += encode(item, last)
        last = item.id if isinstance(item, ServerSentEvent) else last
    result = decode_wire(stream, comments=True, last_event_id=last_event_id)
    assert (result.items, result.last_event_id) == (items, last)


def test_id_is_written_where_it_changes_only():
    event = ServerSentEvent("message", "a", "7")
    assert encode(event) == b"id: 7\ndata: a\n\n"
    assert encode(event, "7") == b"data: a\n\n"
    assert encode(ServerSentEvent("x", "a", ""), "7") == b"event: x\nid: \ndata: a\n\n"
    assert encode(ServerSentEvent("x", "a", "")) == b"event: x\ndata: a\n\n"
    assert encode(Comment("hi"), "7") == b": hi\n"


def test_encode_takes_items_of_a_wire_decoder_only():
    for item in (EventTooLarge(5), b"data: a", None):
        with pytest.raises(TypeError, match="takes a ServerSentEvent or a Comment"):
            encode(item)
    with pytest.raises(TypeError, match="last_event_id must be a str"):
        encode(Comment(""), None)


@given(texts)
@example(" two spaces")
@example("a\r\n\rdata: b\n\n")
def test_comment_comes_back_line_by_line_and_nothing_else_does(text):
    result = decode_wire(encode_comment(text), comments=True)
    assert result.items == [Comment(line) for line in with_lf(text).split("\n")]


def test_retry_of_an_int_subclass_is_its_number():
    class Delay(int, Enum):
        SHORT = 5

    assert decode_wire(encode_event("a", retry_ms=Delay.SHORT)).retry_ms == 5


def test_empty_id_is_written_and_none_is_not():
    assert decode_wire(b"id: 1\n\n" + encode_event("a", id="")).last_event_id == ""
    assert decode_wire(b"id: 1\n\n" + encode_event("a")).last_event_id == "1"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"id": "a\r"}, r"id must not contain '\\r'"),
        ({"id": "a\nb"}, r"id must not contain '\\n'"),
        ({"id": "\0"}, r"id must not contain '\\x00'"),
        ({"event": "a\rb"}, r"event must not contain '\\r'"),
        ({"event": "\n"}, r"event must not contain '\\n'"),
        ({"data": "a\ud800"}, "data must not contain a lone surrogate"),
        ({"event": "\udfff"}, "event must not contain a lone surrogate"),
        ({"id": "\udc80"}, "id must not contain a lone surrogate"),
        ({"retry_ms": -1}, "retry_ms must be at least 0"),
        ({"retry_ms": 10**4300}, r"below 10\*\*4300"),
        ({"retry_ms": "5"}, "retry_ms must be an int, not str"),
        ({"retry_ms": 1.0}, "retry_ms must be an int, not float"),
        ({"retry_ms": True}, "retry_ms must be an int, not bool"),
    ],
)
def test_what_no_line_can_carry_is_a_value_error(arguments, words):
    with pytest.raises(ValueError, match=words):
        encode_event(**{"data": "a", **arguments})


@pytest.mark.parametrize("name", ["data", "event", "id"])
def test_what_is_no_str_is_a_type_error(name):
    with pytest.raises(TypeError, match=f"{name} must be a str, not bytes"):
        encode_event(**{"data": "a", name: b"a"})


def test_comment_arguments():
    with pytest.raises(TypeError, match="text must be a str"):
        encode_comment(None)
    with pytest.raises(ValueError, match="lone surrogate"):
        encode_comment("\ud800")
