"""``check_decoder``: it passes decoders that keep to the standard, and names the rule that another
breaks.
"""

import itertools
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from kit.broken_decoders import BROKEN, Whole

from ratatoskr_proto import EventStreamDecoder
from ratatoskr_proto.testing import (
    Check,
    Failure,
    Report,
    _check,
    _growth,
    _patience,
    check_decoder,
    reference_decode,
)
from ratatoskr_proto.testing._rules import PROMPT_RULES, RULES, rule_of
from ratatoskr_proto.testing._vectors import vector_streams

TESTS = Path(__file__).parent.parent
ONE_DECODER = EventStreamDecoder()
GROWTH = [decoder for decoder in BROKEN if decoder.check in _check.SHAPES]


class Reference:
    """A decoder that reads the whole stream at its end."""

    def __init__(self):
        self.chunks = []

    def receive_data(self, chunk):
        self.chunks.append(chunk)
        return ()

    def receive_eof(self):
        return iter(reference_decode(b"".join(self.chunks)))


def failure_of(report, check):
    (failure,) = [failure for failure in report if failure.check == check]
    return failure


@pytest.mark.slow  # a whole run: that of the README's example is in every run of the tests
@pytest.mark.parametrize("pure", ["0", "1"])
def test_what_keeps_the_standard_passes(pure):
    # In a process of its own, since a run with the coverage measured takes many times as long.
    code = """
from kit.test_check import Reference
from ratatoskr_proto import EventStreamDecoder
from ratatoskr_proto.testing import check_decoder
print(check_decoder(EventStreamDecoder, prompt=True))
print(check_decoder(Reference))
"""
    environment = {**os.environ, "RATATOSKR_PURE": pure}
    said = subprocess.check_output(
        [sys.executable, "-c", code], text=True, cwd=TESTS, env=environment
    )
    assert said == "37 of 37 checks passed\n35 of 35 checks passed\n"


def test_a_report_of_what_passes_is_empty(quick, monkeypatch):
    monkeypatch.setattr(_check, "SHAPES", _growth.SHAPES)
    monkeypatch.setattr(_growth, "_USUAL", 1024)
    monkeypatch.setattr(_growth, "_LARGEST", 16 * 1024)
    monkeypatch.setattr(_check, "vector_streams", lambda: list(vector_streams())[250:260])
    report = quick(EventStreamDecoder, prompt=True)
    assert report == []
    assert report.passed
    assert len({check.name for check in report.checks}) == 37
    assert all(check.passed for check in report.checks)
    assert quick(Reference).passed


@pytest.mark.no_cover  # no line that other tests do not reach
@pytest.mark.parametrize(
    "decoder", [each for each in BROKEN if each not in GROWTH], ids=lambda each: each.__name__
)
def test_a_wrong_step_fails_the_check_of_its_name(quick, decoder):
    report = quick(decoder, prompt=decoder.check in {rule.name for rule in PROMPT_RULES})
    assert not report.passed
    failure = failure_of(report, decoder.check)
    assert 0 < len(failure.data) < 60
    assert b"".join(failure.chunks) == failure.data
    assert not {check.name: check.passed for check in report.checks}[decoder.check]


@pytest.mark.parametrize("decoder", [Whole, *GROWTH], ids=lambda each: each.__name__)
def test_work_that_grows_faster_than_the_stream_fails(quick, monkeypatch, decoder):
    decoders = []

    def factory():
        decoders.append(decoder())
        return decoders[-1]

    monkeypatch.setattr(_check, "SHAPES", _growth.SHAPES)
    monkeypatch.setattr(_growth, "_clock", lambda: sum(each.work for each in decoders))
    report = quick(factory)
    assert [failure.check for failure in report] == ([decoder.check] if decoder != Whole else [])
    assert all(failure.chunks == () for failure in report)
    assert "input:" not in str(report)


@pytest.mark.parametrize(
    ("costs", "passes"),
    [
        ([1, 4], True),
        ([1, 16], False),
        ([1, 7, 28], True),  # neither the one nor the other, so it takes larger sizes to tell
        ([1, 7, 112], False),
        ([1, 7, 49, 343, 2401], True),
        ([0.001, 0.016, 0.256, 4.096], False),  # too short to tell, at first
        ([0.001, 0.004, 0.016, 0.064], True),
    ],
)
def test_a_ratio_in_between_is_looked_into_further(monkeypatch, costs, passes):
    now = 0

    def feed(chunks):
        nonlocal now
        size = sum(map(len, chunks))
        now += costs[max(0, round(math.log(size / 4096, 4)))]

    monkeypatch.setattr(_growth, "_clock", lambda: now)
    failure = _growth.check_growth("Many data lines cost in proportion to their number", feed)
    assert (failure is None) == passes


def test_each_check_has_a_decoder_that_fails_it(quick):
    names = [check.name for check in quick(Whole, prompt=True).checks]
    assert sorted(names) == sorted(decoder.check for decoder in BROKEN)
    assert quick(Whole, prompt=True).passed


def test_each_probe_is_about_its_rule():
    for rule in RULES:
        assert rule.probes
        assert {rule_of(probe).name for probe in rule.probes} == {rule.name}


def test_late_events_pass_unless_they_have_to_be_prompt(quick):
    assert quick(Reference).passed
    assert [failure.check for failure in quick(Reference, prompt=True)] == [
        "An event comes with the chunk that completes it"
    ]


class LosesLongLines(Whole):
    def process(self, line):
        return super().process(line if len(line) < 30 or line.startswith("retry") else ":")


class LosesAWord(Whole):
    def join(self, data):
        return super().join(data).replace(" c", "")


def test_a_vector_finds_what_no_probe_does(quick, monkeypatch):
    assert quick(LosesLongLines).passed
    vector = [b": hi\r\ndata: " + b"a" * 100, b"\r\n\r\n"]
    monkeypatch.setattr(_check, "vector_streams", lambda: [vector])
    (failure,) = quick(LosesLongLines)
    assert failure.data == b"data: " + b"a" * 24 + b"\n\n"
    assert failure.expected == str([("message", "a" * 24, "")])
    assert failure.check == "A blank line dispatches the event"


def test_a_vector_is_read_in_its_own_chunks_too(quick, monkeypatch):
    class LosesAChunk(Whole):
        def receive_data(self, chunk):
            return super().receive_data(b"" if chunk == b": a\n" else chunk)

    assert quick(LosesAChunk).passed
    vector = [b"data", b": a\n", b"\n"]
    monkeypatch.setattr(_check, "vector_streams", lambda: [vector])
    (failure,) = quick(LosesAChunk)
    assert failure.chunks == tuple(vector)


def test_a_random_stream_finds_what_no_probe_does(quick, monkeypatch):
    assert quick(LosesAWord).passed
    monkeypatch.setattr(_check, "_RANDOM_STREAMS", 10)
    (failure,) = quick(LosesAWord)
    assert failure.data == b"data:  c\n\n"


def test_each_failure_has_an_input_that_is_about_its_rule(quick):
    class Silent(Whole):
        def dispatch(self):
            return []

    names = {rule.name for rule in RULES}
    failures = [failure for failure in quick(Silent) if failure.check in names]
    assert len(failures) > 10
    assert {failure.check: rule_of(failure.data).name for failure in failures} == {
        failure.check: failure.check for failure in failures
    }


@pytest.mark.parametrize("raises_for", [b"\0", b"::", b"\xff", b"id", b"event"])
def test_of_all_inputs_that_make_it_raise_the_smallest_is_reported(quick, raises_for):
    class Raises(Whole):
        def decode(self, chunk):
            if raises_for in chunk:
                raise KeyError
            return super().decode(chunk)

    report = quick(Raises)
    raised = [failure.data for failure in report if "KeyError" in failure.came]
    assert len(raised) > 1
    assert len(failure_of(report, "No bytes make it raise").data) == min(map(len, raised))


def test_no_byte_of_an_input_can_be_left_out(quick, monkeypatch):
    class LosesAfterX(Whole):
        def join(self, data):
            return "" if "x" in data else super().join(data)

    assert quick(LosesAfterX).passed
    vector = [b": hi\r\ndata: x\r\n\r\nid: 1\r\ndata: 1\r\n\r\n"]
    monkeypatch.setattr(_check, "vector_streams", lambda: [vector])
    (failure,) = quick(LosesAfterX)
    assert failure.data == b"data: x\n\n"


def test_each_stream_is_read_byte_by_byte(quick):
    class TiresOfBytes(Whole):
        bytes_in_a_row = 0

        def receive_data(self, chunk):
            self.bytes_in_a_row = self.bytes_in_a_row + 1 if len(chunk) == 1 else 0
            return [] if self.bytes_in_a_row > 3 else super().receive_data(chunk)

    (failure,) = quick(TiresOfBytes)
    assert failure.check == "A stream may be cut anywhere"
    assert set(map(len, failure.chunks)) == {1}


def test_an_empty_chunk_is_not_the_end(quick):
    class EndsAtAnEmptyChunk(Whole):
        def receive_data(self, chunk):
            if not chunk:
                self.data = []
            return super().receive_data(chunk)

    (failure,) = quick(EndsAtAnEmptyChunk)
    assert failure.check == "A stream may be cut anywhere"
    assert b"" in failure.chunks


@pytest.mark.parametrize("method", ["__init__", "receive_data", "dispatch"])
def test_a_decoder_that_does_not_return_is_a_timeout_error_with_the_chunks(
    quick, monkeypatch, method
):
    hanging = threading.Event()

    class Patience(threading.Event):
        """Loses patience as soon as the decoder hangs."""

        def wait(self, timeout=None):
            assert hanging.wait(10)
            assert timeout == 15
            return super().wait(0)

    def hang(*args):
        hanging.set()
        never = threading.Event()
        never.wait()

    monkeypatch.setattr(_patience, "Event", Patience)
    fed = "[]" if method == "__init__" else r"[b'data: a\n\n']"
    with pytest.raises(TimeoutError) as caught:
        quick(type("Hanging", (Whole,), {method: hang}))
    said = str(caught.value)
    assert said.startswith("the decoder has not returned for 60 seconds: it is at ")
    assert said.endswith(f", fed with {fed}")


def test_a_slow_decoder_is_waited_for(monkeypatch):
    class Impatience(threading.Event):
        def wait(self, timeout=None):
            return super().wait(0)

    monkeypatch.setattr(_patience, "Event", Impatience)
    calls = itertools.count()
    assert _patience.run_patiently(lambda: 42, lambda: next(calls), 10.0) == 42


def test_patience_may_be_longer_than_a_thread_can_wait():
    assert _patience.run_patiently(lambda: 42, lambda: 0, 1e300) == 42


def test_what_is_no_fault_of_the_decoder_comes_through(quick):
    class Interrupts(Whole):
        def dispatch(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(Interrupts)


def test_a_report_can_be_read(quick):
    class Broken(Whole):
        encoding, errors = "utf-8-sig", "strict"

        def lines(self, text):
            self.after_cr = False
            return super().lines(text)

    report = quick(Broken)
    assert isinstance(report, Report)
    assert str(report) == (
        """32 of 35 checks passed

Invalid UTF-8 becomes U+FFFD
  clause:   9.2.6: "Streams must be decoded using the UTF-8 decode algorithm"
  input:    b'data: \\xff\\n\\n'
  expected: [('message', '\ufffd', '')]
  came:     [], then UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 6"""
        """: invalid start byte

No bytes make it raise
  clause:   9.2.6: it says what to do with every line, if only to ignore it
  input:    b'data: \\xff\\n\\n'
  expected: [('message', '\ufffd', '')]
  came:     [], then UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 6"""
        """: invalid start byte

A CRLF may be cut
  clause:   9.2.6: "reading everything line by line", however it was cut on its way
  input:    b'data: a\\r\\n'
  chunks:   [b'data: a\\r', b'\\n']
  expected: []
  came:     [('message', 'a', '')]"""
    )


def test_text_of_a_decoder_cannot_command_a_terminal(quick):
    class Hostile(Whole):
        def receive_data(self, chunk):
            if b":" in chunk:
                raise ValueError("\x1b[2J\n" + "x" * 10_000)
            return super().receive_data(chunk)

    text = failure_of(quick(Hostile), "No bytes make it raise").came
    assert text.startswith(r"[], then ValueError: \x1b[2J\n")
    assert len(text) < 600


class Sse:
    def __init__(self, event=None, data=None, id=None):
        self.event, self.data, self.id = event, data, id


def test_what_the_stream_did_not_set_may_be_none(quick):
    class Bare(Whole):
        def dispatch(self):
            return [
                Sse(None if event == "message" else event, data or None, id or None)
                for event, data, id in super().dispatch()
            ]

    assert quick(Bare).passed


def decoder_giving(returned):
    class Given(Whole):
        def receive_data(self, chunk):
            return returned

    return Given


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        (7, "int is not callable"),
        (lambda one: one, "this one raised TypeError: .* missing 1 required positional argument"),
        (lambda: ONE_DECODER, "returned the same object twice"),
        (object, r"object has no method receive_data\(\)"),
        (type("Half", (), {"receive_data": print}), r"Half has no method receive_eof\(\)"),
        (decoder_giving(None), "NoneType is not iterable"),
        (decoder_giving(["a"]), "has attributes event, data and id, .*, unlike str"),
        (decoder_giving([("a", "b")]), "unlike tuple"),
        (decoder_giving([("a", b"b", "c")]), "str or None, not bytes"),
    ],
)
def test_what_makes_no_decoders_is_a_type_error(factory, said):
    with pytest.raises(TypeError, match=said):
        check_decoder(factory)


def test_what_returns_no_events_only_later_fails(quick):
    class Sometimes(Whole):
        def dispatch(self):
            return [None] if self.event else super().dispatch()

    failure = failure_of(quick(Sometimes), "The event field sets the type")
    assert failure.came.startswith("[], then an event has attributes")


def test_a_report_is_a_value():
    failure = Failure("a", "b", b"c", (b"c",), "d", "e")
    report = Report([Check("a", "b", False)], [failure])
    assert report == [failure]
    assert report.checks == (("a", "b", False),)
