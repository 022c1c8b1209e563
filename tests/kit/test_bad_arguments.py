"""A bad argument to the kit is an error that says what it was and what would be right."""

import math

import pytest
from kit.broken_decoders import Whole

from ratatoskr_proto.testing import check_decoder, chunkings, explain, reference_decode

DATA = b"data: a\n\n"


@pytest.mark.parametrize("function", [reference_decode, explain, chunkings])
def test_a_stream_is_bytes(function):
    for wrong in (None, 5, "data: a", [b"data: a"]):
        with pytest.raises(TypeError, match=f"^data must be bytes, not {type(wrong).__name__}$"):
            function(wrong)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_stream_may_be_any_bytes(kind, capsys):
    assert [event.data for event in reference_decode(kind(DATA))] == ["a"]
    assert explain(kind(DATA)) == capsys.readouterr().out
    chunkings(kind(DATA)).validate()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: reference_decode(DATA, last_event_id=None),
            TypeError,
            "last_event_id must be a str, not NoneType",
        ),
        (lambda: reference_decode(DATA, comments=1), TypeError, "comments must be True or False"),
        (
            lambda: reference_decode(DATA, max_event_bytes=True),
            TypeError,
            "max_event_bytes must be an int, not bool",
        ),
        (
            lambda: reference_decode(DATA, max_event_bytes=0),
            ValueError,
            "max_event_bytes must be at least 1, not 0",
        ),
        (lambda: explain(DATA, file=5), TypeError, "file must be a text file or None, not int"),
        (lambda: check_decoder(Whole, timeout="1"), TypeError, "timeout must be a number, not str"),
        (
            lambda: check_decoder(Whole, timeout=math.inf),
            ValueError,
            "timeout must be a finite number",
        ),
        (
            lambda: check_decoder(Whole, timeout=0),
            ValueError,
            "timeout must be more than 0 seconds, not 0",
        ),
        (lambda: check_decoder(Whole, prompt=1), TypeError, "prompt must be True or False, not 1"),
    ],
)
def test_bad_options(call, error, words):
    with pytest.raises(error, match=f"^{words}"):
        call()
