"""The wire layer in C: the same decoder as the one in Python, and safe where that is by nature."""

import copy
import gc
import inspect
import pickle
import runpy
import subprocess
import sys
import sysconfig
import tracemalloc
import types
import weakref
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratatoskr_proto import EventTooLarge, ServerSentEvent, _wire
from ratatoskr_proto._decoder import choose
from ratatoskr_proto.testing import chunkings, hostile_bytes

compiled = pytest.importorskip(
    "ratatoskr_proto._compiled", reason="the C version of the wire layer was not built"
)


@pytest.fixture(scope="module", autouse=True)
def wire_layer():
    """These tests name the versions themselves."""


BOTH = (_wire.EventStreamDecoder, compiled.EventStreamDecoder)
MIB = 1024 * 1024


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
    assert c.__module__ == python.__module__
    assert c.__doc__ == python.__doc__
    assert [python.implementation, c.implementation] == ["python", "c"]
    for name in ("receive_data", "receive_eof"):
        ours, theirs = (inspect.signature(getattr(cls(), name)).parameters for cls in BOTH)
        assert [(each.name, each.kind, each.default) for each in ours.values()] == [
            (each.name, each.kind, each.default) for each in theirs.values()
        ]
        assert inspect.getdoc(getattr(python, name)).startswith(inspect.getdoc(getattr(c, name)))
    for name in ("last_event_id", "retry_ms", "pending", "over"):
        assert inspect.getdoc(getattr(c, name)) == inspect.getdoc(getattr(python, name))
        for cls in BOTH:
            with pytest.raises(AttributeError):
                setattr(cls(), name, 1)
    public = [{name for name in dir(cls) if not name.startswith("_")} for cls in BOTH]
    assert public[0] == public[1]
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


def test_nothing_of_the_chunk_is_kept():
    chunk = bytearray(b"id: 1\nevent: e\ndata: one\ndata: tw")
    decoder = compiled.EventStreamDecoder()
    decoder.receive_data(chunk)
    chunk[:] = bytes(len(chunk))
    assert decoder.receive_data(b"o\n\n") == [ServerSentEvent("e", "one\ntwo", "1")]


def test_frames_are_hashed_by_what_they_hold():
    (event,) = compiled.EventStreamDecoder().receive_data(b"data: x\n\n")
    assert hash(event) == hash(ServerSentEvent("message", "x", ""))
    assert {event: 1}[ServerSentEvent("message", "x", "")] == 1


def test_memory_comes_back():
    chunks = [b"id: ", b"x" * 1000, b"\ndata: ", b"y" * MIB, b"\ndata: ", b"z" * MIB, b"\n\n"]

    def read():
        decoder = compiled.EventStreamDecoder(comments=True)
        for chunk in [*chunks, b": c\n", b"retry: 12345\n", *chunks]:
            decoder.receive_data(chunk)
        return decoder

    read()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            read()
        gc.collect()
        # A chunk kept would be a megabyte; what other code keeps meanwhile is little.
        assert tracemalloc.get_traced_memory()[0] - before < 65536
        decoder = read()
        assert tracemalloc.get_traced_memory()[0] - before < 65536
        del decoder
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("field", [b"data: ", b"id: ", b"event: "])
def test_long_line_is_not_copied_when_it_ends(field):
    decoder = compiled.EventStreamDecoder()
    tracemalloc.start()
    try:
        for piece in (field, *[b"x" * 1024] * 1024, b"\n"):
            decoder.receive_data(piece)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * MIB
    finally:
        tracemalloc.stop()


STREAM = (
    b"\xef\xbb\xbfid: \xc3\xa9\nevent: e\ndata: one\ndata: two\nretry: 99999999999999999999\n"
    b": comment\n\n" + b"data: " + b"x" * 300 + b"\n\ndata: unfinished\nid: 9\nevent: f"
)

FAILING_ALLOCATIONS = f"""
import sys, _testcapi
from ratatoskr_proto import ServerSentEvent
from ratatoskr_proto._compiled import EventStreamDecoder

stream = {STREAM!r}
ended = 0
for cuts in ([stream], [stream[n : n + 7] for n in range(0, len(stream), 7)]):
    for at in range(400):
        decoder = EventStreamDecoder(300, comments=True)
        failed = False
        _testcapi.set_nomemory(at, at + 1)
        try:
            for chunk in cuts:
                decoder.receive_data(chunk)
        except MemoryError:
            failed = True
        finally:
            _testcapi.remove_mem_hooks()
        # It can be used, or says that it cannot; it is never in between.
        decoder.last_event_id, decoder.retry_ms, decoder.pending, decoder.over
        try:
            items = decoder.receive_data(b"\\n\\ndata: next\\n\\n") + decoder.receive_eof()
        except RuntimeError as error:
            assert failed and "memory" in str(error), error
        else:
            assert items[-1].data == "next", items
        ended += not failed
assert ended, "no run came to its end"
print("ended", ended)
"""


def test_memory_that_runs_out_leaves_a_decoder_that_says_so():
    pytest.importorskip("_testcapi", reason="this Python has no _testcapi, which fails allocations")
    run = subprocess.run(
        [sys.executable, "-c", FAILING_ALLOCATIONS], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("ended")


INTERPRETERS = """
import sys
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters
for _ in range(3):
    interpreter = _interpreters.create()
    failure = _interpreters.run_string(interpreter, '''
from ratatoskr_proto._compiled import EventStreamDecoder
assert EventStreamDecoder().receive_data(b"data: x\\\\n\\\\n")[0].data == "x"
''')
    assert failure is None, failure
    _interpreters.destroy(interpreter)
print("well")
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no interpreter has a lock of its own")
def test_interpreters_with_a_lock_of_their_own():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INTERPRETERS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "well\n", run.stderr


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


def test_the_python_version_can_be_chosen():
    assert choose({}) is compiled
    assert choose({"RATATOSKR_PURE": "0"}) is compiled
    assert choose({"RATATOSKR_PURE": "1"}) is _wire


def test_without_the_c_version_it_is_the_python_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "ratatoskr_proto._compiled", None)
    monkeypatch.delattr("ratatoskr_proto._compiled")
    assert choose({}) is _wire


@pytest.mark.parametrize("free_threaded", [False, True])
def test_a_free_threaded_python_is_not_asked_for_the_limited_api(monkeypatch, free_threaded):
    """setuptools makes no wheel there if it is asked for, even without an extension."""
    settings = {}
    fake = types.ModuleType("setuptools")
    fake.setup = settings.update
    fake.bdist_wheel = fake.editable_wheel = object
    fake.Extension = lambda *arguments, **options: arguments
    for name in ("", ".command", ".command.bdist_wheel", ".command.editable_wheel"):
        monkeypatch.setitem(sys.modules, f"setuptools{name}", fake)
    monkeypatch.setitem(sysconfig.get_config_vars(), "Py_GIL_DISABLED", int(free_threaded))
    monkeypatch.delenv("RATATOSKR_PURE", raising=False)
    runpy.run_path(str(Path(__file__).parents[2] / "setup.py"))
    assert bool(settings["ext_modules"]) is not free_threaded
    assert bool(settings["options"]) is not free_threaded
