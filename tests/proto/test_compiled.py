"""The wire layer in C: the same decoder as the one in Python, and safe where that is by nature."""

import copy
import gc
import inspect
import pickle
import sys
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratatoskr_proto import EventTooLarge, ServerSentEvent, _wire
from ratatoskr_proto.testing import chunkings, hostile_bytes

compiled = pytest.importorskip(
    "ratatoskr_proto._compiled", reason="the C version of the wire layer was not built"
)


@pytest.fixture(scope="module", autouse=True)
def wire_layer():
    """These tests name the versions themselves."""


BOTH = (_wire.EventStreamDecoder, compiled.EventStreamDecoder)


def seen(decoder, chunks, reason="end of stream"):
    """Each call's items, and where the decoder stands after it."""
    calls = []
    for chunk in [*chunks, None]:
        items = decoder.receive_eof(reason) if chunk is None else decoder.receive_data(chunk)
        kinds = [type(item) for item in items]
        standing = (decoder.last_event_id, decoder.retry_ms, decoder.pending, decoder.over)
        calls.append((items, kinds, standing))
    return calls


@st.composite
def calls(draw):
    stream = draw(hostile_bytes())
    options = {
        "max_event_bytes": draw(st.sampled_from([1, 2, 3, 7, 20, 100, 2**70])),
        "last_event_id": draw(st.sampled_from(["", "7"])),
        "comments": draw(st.booleans()),
        "flush_unfinished": draw(st.booleans()),
    }
    return draw(chunkings(stream)), options, draw(st.sampled_from(["end of stream", "reset"]))


@given(calls())
def test_the_same_calls_give_the_same(call):
    chunks, options, reason = call
    python, c = (seen(cls(**options), chunks, reason) for cls in BOTH)
    assert c == python


def outcome(call, *args, **kwargs):
    try:
        return call(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_event_bytes": "1"},
        {"max_event_bytes": True},
        {"max_event_bytes": 0},
        {"last_event_id": None},
        {"comments": 1},
        {"flush_unfinished": None},
    ],
    ids=str,
)
def test_bad_arguments_are_refused_in_the_same_words(arguments):
    python, c = (outcome(cls, **arguments) for cls in BOTH)
    assert c == python
    assert issubclass(c[0], (TypeError, ValueError))


@pytest.mark.parametrize("chunk", ["text", 3, None, [1]], ids=repr)
def test_bad_chunks_are_refused_in_the_same_words(chunk):
    python, c = (outcome(cls().receive_data, chunk) for cls in BOTH)
    assert c == python
    assert c[0] is TypeError


def test_bad_reasons_and_late_data_are_refused_in_the_same_words():
    for method, argument in (("receive_eof", 3), ("receive_eof", None), ("receive_data", b"x")):
        results = []
        for cls in BOTH:
            decoder = cls()
            decoder.receive_eof()
            results.append(outcome(getattr(decoder, method), argument))
        assert results[0] == results[1]
        assert issubclass(results[0][0], Exception)


def test_it_is_the_same_class_to_its_users():
    python, c = BOTH
    assert c.__name__ == python.__name__
    assert c.__doc__ == python.__doc__
    assert [python.implementation, c.implementation] == ["python", "c"]
    for name in ("receive_data", "receive_eof"):
        ours, theirs = (inspect.signature(getattr(cls(), name)).parameters for cls in BOTH)
        assert [(each.name, each.kind, each.default) for each in ours.values()] == [
            (each.name, each.kind, each.default) for each in theirs.values()
        ]
    for name in ("last_event_id", "retry_ms", "pending", "over"):
        for cls in BOTH:
            with pytest.raises(AttributeError):
                setattr(cls(), name, 1)
    public = [{name for name in dir(cls) if not name.startswith("_")} for cls in BOTH]
    assert public[0] == public[1]
    for name in public[0]:
        assert inspect.getdoc(getattr(c, name)) == inspect.getdoc(getattr(python, name))
    assert inspect.signature(c) == inspect.signature(python)


@pytest.mark.parametrize("cls", BOTH)
def test_methods_take_their_arguments_by_name(cls):
    decoder = cls(max_event_bytes=100, last_event_id="", comments=False, flush_unfinished=True)
    assert decoder.receive_data(chunk=b"data: x") == []
    assert decoder.receive_eof(reason="end of stream") == [ServerSentEvent("message", "x", "")]
    with pytest.raises(TypeError):
        decoder.receive_data(data=b"")
    with pytest.raises(TypeError):
        decoder.receive_data()
    with pytest.raises(TypeError):
        decoder.receive_eof("reset", "reset")


@pytest.mark.parametrize("cls", BOTH)
def test_it_can_be_derived_from_and_referred_to_weakly(cls):
    class Mine(cls):  # type: ignore[valid-type]
        def __init__(self, **options):
            super().__init__(**options)
            self.calls = 0

        def receive_data(self, chunk):
            self.calls += 1
            return super().receive_data(chunk)

    decoder = Mine(max_event_bytes=10)
    assert decoder.receive_data(b"data: 1\n\n") == [ServerSentEvent("message", "1", "")]
    assert decoder.calls == 1
    reference = weakref.ref(decoder)
    del decoder
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("cls", BOTH)
def test_it_does_not_depend_on_what_a_derived_class_overrides(cls):
    class Mine(cls):  # type: ignore[valid-type]
        over = True

        def receive_data(self, chunk):
            received.append(chunk)
            return super().receive_data(chunk)

    received = []
    decoder = Mine(flush_unfinished=True)
    assert decoder.receive_data(b"data: x\r") == []
    assert decoder.receive_data(b"\ndata: y\r") == []
    assert decoder.receive_eof() == [ServerSentEvent("message", "x\ny", "")]
    assert received == [b"data: x\r", b"\ndata: y\r"]


@pytest.mark.parametrize("cls", BOTH)
def test_it_says_that_it_was_not_initialised(cls):
    class Mine(cls):  # type: ignore[valid-type]
        def __init__(self):
            pass

    for method, arguments in (("receive_data", (b"data: x",)), ("receive_eof", ())):
        with pytest.raises((AttributeError, RuntimeError)):
            getattr(Mine(), method)(*arguments)


@pytest.mark.parametrize("cls", BOTH)
def test_it_starts_anew_if_it_is_initialised_again(cls):
    decoder = cls(10, comments=True)
    decoder.receive_data(b"retry: 1\nid: 1\n\ndata: too large")
    with pytest.raises(ValueError, match="max_event_bytes"):
        decoder.__init__(0)
    decoder.__init__(last_event_id="2")
    assert (decoder.last_event_id, decoder.retry_ms, decoder.pending) == ("2", None, False)
    expected = [ServerSentEvent("message", "x", "2")]
    assert decoder.receive_data(b"\xef\xbb\xbf: c\ndata: x\n\n") == expected
    decoder.receive_eof()
    decoder.__init__()
    assert not decoder.over
    assert decoder.receive_data(b"data\n\n") == [ServerSentEvent("message", "", "")]


@pytest.mark.parametrize("cls", BOTH)
def test_a_cycle_through_its_last_event_id_is_collected(cls):
    class Text(str):
        pass

    text = Text("7")
    text.decoder = cls(last_event_id=text)
    reference = weakref.ref(text.decoder)
    assert reference().last_event_id is text
    del text
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("cls", BOTH)
def test_it_is_not_copied(cls):
    for copying in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="one connection"):
            copying(cls())


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("limit", [2**31, 2**32 + 1, sys.maxsize, sys.maxsize + 1, 2**200])
def test_limits_of_any_size(cls, limit):
    decoder = cls(max_event_bytes=limit)
    assert decoder.receive_data(b"data: 1\ndata: 2\n\n") == [ServerSentEvent("message", "1\n2", "")]


def test_an_error_has_the_limit_that_was_given():
    decoder = compiled.EventStreamDecoder(max_event_bytes=3)
    assert decoder.receive_data(b"data") == [EventTooLarge(3)]


class Framed(bytes):
    def __bytes__(self):
        return b"data: %b\n\n" % self


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    "chunk",
    [
        memoryview(b"_d_a_t_a_:_ _x_\n_\n")[1::2],
        memoryview(b"\n\nx :atad")[::-1],
        memoryview(bytearray(b"data: x\n\n")).cast("B", shape=[3, 3]),
        bytearray(b"data: x\n\n"),
        Framed(b"x"),
    ],
    ids=["every other byte", "backwards", "two dimensions", "bytearray", "as bytes() makes it"],
)
def test_chunks_of_any_layout(cls, chunk):
    assert cls().receive_data(chunk) == [ServerSentEvent("message", "x", "")]


def test_frames_are_hashed_by_what_they_hold():
    (event,) = compiled.EventStreamDecoder().receive_data(b"data: x\n\n")
    assert hash(event) == hash(ServerSentEvent("message", "x", ""))
    assert {event: 1}[ServerSentEvent("message", "x", "")] == 1


def test_nothing_enters_it_in_the_middle_of_a_call():
    """A garbage collection may run the caller's code in any allocation."""
    decoder = compiled.EventStreamDecoder()
    entered = []

    def enter(phase, info):
        if phase == "start":
            entered.append(outcome(decoder.receive_data, b"data: within\n\n"))

    gc.callbacks.append(enter)
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        items = decoder.receive_data(b"data: x\n\n" * 1000)
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(enter)
    within = [ServerSentEvent("message", "within", "")]
    busy = (RuntimeError, "the decoder is in use already")
    assert items == [ServerSentEvent("message", "x", "")] * 1000
    assert all(each in (within, busy) for each in entered)
