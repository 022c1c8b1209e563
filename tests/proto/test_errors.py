"""The family of errors: values that can be raised."""

import contextlib
import copy
import gc
import json
import pickle
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ratatoskr_proto
from ratatoskr_proto import (
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    ProtocolError,
    RatatoskrError,
    Reason,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    TurnDecoder,
    TurnIdFlip,
    encode_event,
)

ERRORS = [
    MalformedSseData("{"),
    MalformedSseId("x"),
    MalformedEnvelope("[]"),
    TurnIdFlip(42, 43),
    EventTooLarge(100),
    SseConnectionDropped(SseId(42, 3), "reset"),
    SseConnectionDropped(None, "end of stream"),
    SseConnectFailed(503, "busy", "status"),
    SseConnectFailed(None, "", "dns"),
]
every_error = pytest.mark.parametrize("error", ERRORS, ids=repr)


def test_tree():
    protocol = {MalformedSseData, MalformedSseId, MalformedEnvelope, TurnIdFlip, EventTooLarge}
    assert all(issubclass(cls, ProtocolError) for cls in protocol)
    for cls in (ProtocolError, SseConnectionDropped, SseConnectFailed):
        assert cls.__bases__ == (RatatoskrError,)
    assert RatatoskrError.__bases__ == (Exception,)


def test_every_public_error_is_tested_here():
    public = [getattr(ratatoskr_proto, name) for name in ratatoskr_proto.__all__]
    errors = {each for each in public if isinstance(each, type) and issubclass(each, Exception)}
    assert errors - {RatatoskrError, ProtocolError} == {type(error) for error in ERRORS}


@every_error
def test_copies_are_equal_and_so_are_their_hashes(error):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(error, protocol))
        assert (twin, hash(twin), str(twin)) == (error, hash(error), str(error))
    for twin in (copy.copy(error), copy.deepcopy(error)):
        assert twin is not error
        assert (twin, repr(twin)) == (error, repr(error))


@every_error
def test_repr_is_the_way_to_write_it(error):
    assert eval(repr(error), vars(ratatoskr_proto)) == error


def test_equality_is_of_class_and_fields():
    for error in ERRORS:
        assert [other for other in ERRORS if other == error] == [error]
        assert error != "something else"
    assert MalformedSseData("x") != MalformedEnvelope("x")
    assert len({hash(error) for error in ERRORS}) == len(ERRORS)


@every_error
def test_fields_match_by_position(error):
    assert type(error)(*(getattr(error, name) for name in error.__match_args__)) == error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MalformedSseData("{"), "malformed SSE data: '{'"),
        (MalformedSseId("x"), "malformed SSE id: 'x'"),
        (MalformedEnvelope("[]"), "malformed event envelope: '[]'"),
        (TurnIdFlip(42, 43), "turn id changed from 42 to 43"),
        (EventTooLarge(100), "event larger than 100 bytes"),
        (SseConnectionDropped(SseId(42, 3), "reset"), "connection dropped after id 42:3: reset"),
        (SseConnectFailed(503, "busy", "status"), "no event stream (status 503): status"),
    ],
)
def test_message(error, message):
    assert str(error) == message


# Reasons


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("reset", "reset"),
        ("end of stream", "end of stream"),
        ("end of stream; unfinished event lost", "end of stream"),
        ("cut body (RemoteProtocolError)", "cut body"),
        ("protocol (LocalProtocolError); unfinished event lost", "protocol"),
        ("reset; reconnect failed: read timeout (ReadTimeout)", "reset"),
        ("redirect", "redirect"),
        ("redirect to http://host/a (b); c", "redirect"),
        ("event timeout", "event timeout"),
        ("connect timeout", "connect timeout"),
        ("reset to http://host/", ""),
        ("redirection to http://host/", ""),
        ("resetting", ""),
        ("Reset", ""),
        (" reset", ""),
        ("reset;", ""),
        ("reset(X)", ""),
        ("(reset)", ""),
        ("", ""),
    ],
)
def test_word_of_a_reason(reason, word):
    for error in (SseConnectionDropped(None, reason), SseConnectFailed(None, "", reason)):
        assert type(error.reason) is Reason
        assert error.reason.word == word
        assert error.reason == reason


def test_every_word_of_the_page_is_a_word(pytestconfig):
    page = (pytestconfig.rootpath / "docs/errors.md").read_text(encoding="utf-8")
    listed = set(re.findall("`([a-z][a-z -]+)`", page.partition("\n- `SseConnectFailed`: ")[2]))
    assert len(listed) == 17
    assert {Reason(word).word for word in listed} == listed


def test_reason_is_a_str_and_survives_a_copy():
    reason = Reason("reset; unfinished event lost")
    assert repr(reason) == repr(str(reason))
    assert hash(reason) == hash(str(reason))
    for twin in (pickle.loads(pickle.dumps(reason)), copy.copy(reason), copy.deepcopy(reason)):
        assert type(twin) is Reason
        assert (twin, twin.word) == (reason, "reset")
    with pytest.raises(AttributeError):
        reason.word = "closed"


# Truncation


@given(st.text(min_size=0, max_size=1200))
@example("x" * 1025)
def test_text_of_the_server_is_cut_in_the_constructor(text):
    for make, limit in [
        (MalformedSseData, 200),
        (MalformedSseId, 64),
        (MalformedEnvelope, 200),
        (lambda body: SseConnectFailed(500, body, "status"), 1024),
    ]:
        error = make(text)
        kept = getattr(error, "raw", getattr(error, "body", None))
        assert kept == text[:limit]
        assert pickle.loads(pickle.dumps(error)) == copy.copy(error) == error


def everything_reachable(thing: Any) -> list[Any]:
    """All objects that an object leads to, but for classes, modules and code."""
    seen: dict[int, Any] = {}
    todo = [thing]
    while todo:
        each = todo.pop()
        if id(each) not in seen and not isinstance(each, type) and type(each).__name__ != "module":
            seen[id(each)] = each
            todo += gc.get_referents(each)
    return list(seen.values())


@pytest.mark.parametrize(
    "frame",
    [
        encode_event("{" + "x" * 3000 + "SECRET", id="42:1"),
        encode_event(json.dumps({"type": "text", "text": ["x" * 3000 + "SECRET"]}), id="42:1"),
        encode_event("[" * 3000 + '"SECRET"' + "]" * 3000, id="42:1"),
        encode_event("{}", id="x" * 3000 + "SECRET"),
    ],
)
def test_no_payload_beyond_the_bound_is_reachable_from_an_error(frame):
    [error] = TurnDecoder().receive_data(frame)
    assert error.__cause__ is error.__context__ is error.__traceback__ is None
    texts = [each for each in everything_reachable(error) if isinstance(each, str)]
    assert texts
    assert not any("SECRET" in text for text in texts)


# Raising


@every_error
def test_raised_through_a_context_manager_without_harm(error):
    @contextlib.contextmanager
    def passing():
        yield

    error = copy.copy(error)
    error.add_note("on the way")
    with pytest.raises(type(error)) as caught, passing():
        raise error
    assert caught.value is error
    assert caught.value.__traceback__ is not None
    assert caught.value == copy.copy(error)


def test_raised_in_a_group():
    with pytest.raises(ExceptionGroup) as caught:
        raise ExceptionGroup("two", [ERRORS[0], ERRORS[3]])
    matched, rest = caught.value.split(TurnIdFlip)
    assert matched.exceptions == (ERRORS[3],)
    assert rest.exceptions == (ERRORS[0],)


# Arguments


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MalformedSseData(b"x"), "raw must be a str, not bytes"),
        (lambda: MalformedSseId(None), "raw must be a str, not NoneType"),
        (lambda: TurnIdFlip("42", 43), "expected must be an int, not str"),
        (lambda: TurnIdFlip(42, True), "got must be an int, not bool"),
        (lambda: EventTooLarge(1.5), "limit must be an int, not float"),
        (lambda: SseConnectionDropped("42:3", "reset"), "last_sse_id must be an SseId or None"),
        (lambda: SseConnectionDropped(None, None), "reason must be a str"),
        (lambda: SseConnectFailed("503", "", "status"), "status must be an int"),
        (lambda: SseConnectFailed(503, b"", "status"), "body must be a str"),
        (lambda: SseConnectFailed(503, "", None), "reason must be a str"),
    ],
)
def test_bad_arguments_are_type_errors(make, words):
    with pytest.raises(TypeError, match=words):
        make()
