"""The strategies: what they give, and that it shrinks to little."""

import re
import subprocess
import sys

import pytest
from hypothesis import Phase, find, given, settings

from ratatoskr_proto import (
    RatatoskrError,
    Text,
    TurnDecoder,
    TurnState,
)
from ratatoskr_proto import testing as kit
from ratatoskr_proto.testing import (
    chunkings,
    event_streams,
    hostile_bytes,
    reference_decode,
    turn_streams,
)

QUICKLY = settings(
    database=None, derandomize=True, max_examples=2000, phases=[Phase.generate, Phase.shrink]
)


def smallest(strategy, condition):
    return find(strategy, condition, settings=QUICKLY)


def test_all_names_are_there():
    assert all(hasattr(kit, name) for name in kit.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'streams'"):
        kit.streams  # noqa: B018  # reading it is the point


@settings(max_examples=30)
@given(event_streams(min_size=1, max_size=3))
def test_event_streams_dispatch_as_many_events_as_asked_for(data):
    assert 1 <= len(reference_decode(data)) <= 3


@settings(max_examples=30)
@given(turn_streams(min_size=1, max_size=3))
def test_turn_streams_are_turns(data):
    decoder = TurnDecoder()
    items = decoder.receive_data(data)
    assert 1 <= sum(isinstance(item, Text) for item in items) <= 3
    assert not [item for item in items if isinstance(item, RatatoskrError)]
    assert {item.sse_id.turn_id for item in items} == {decoder.turn_id}
    assert decoder.state in (TurnState.DONE, TurnState.STREAMING)


@settings(max_examples=30)
@given(hostile_bytes(min_size=3, max_size=20))
def test_hostile_bytes_are_as_many_as_asked_for(data):
    assert 3 <= len(data) <= 20


@given(hostile_bytes(max_size=30).flatmap(lambda data: chunkings(data).map(lambda c: (data, c))))
def test_chunks_are_the_data(cut):
    data, chunks = cut
    assert b"".join(chunks) == data


def has_an_id(data):
    return any(event.id for event in reference_decode(data))


def has_two_events(data):
    return len(reference_decode(data)) == 2


@pytest.mark.parametrize(
    ("strategy", "condition", "most"),
    [
        (event_streams, has_an_id, 6),
        (event_streams, has_two_events, 4),
        (event_streams, lambda data: b"\r" in data, 4),
        (turn_streams, has_two_events, 6),
        (hostile_bytes, has_an_id, 4),
        (hostile_bytes, lambda data: b"\0" in data, 1),
    ],
)
def test_a_failing_stream_shrinks_to_a_few_lines(strategy, condition, most):
    data = smallest(strategy(), condition)
    assert len(re.findall(b"\r\n|\r|\n", data)) <= most


def test_a_failing_chunking_shrinks_to_few_chunks():
    data = b"\xef\xbb\xbfdata: a\r\n\r\n"
    chunks = smallest(chunkings(data), lambda chunks: any(each.endswith(b"\r") for each in chunks))
    assert len(chunks) == 2
    assert smallest(chunkings(data), lambda chunks: b"" in chunks) in ([b"", data], [data, b""])
    assert smallest(chunkings(data), bool) == [data]
    assert smallest(chunkings(b""), bool) == [b""]


def test_without_hypothesis_all_else_works():
    code = """
import sys
sys.modules["hypothesis"] = None
from ratatoskr_proto import EventStreamDecoder, testing
from ratatoskr_proto.testing import check_decoder, explain, reference_decode, vectors
assert reference_decode(b"data: a\\n\\n")[0].data == "a"
assert len(vectors("conformance")) > 200
explain(b"data: a\\n\\n")
try:
    testing.event_streams
except ImportError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == (
        "ratatoskr_proto.testing.event_streams needs hypothesis: "
        "pip install 'ratatoskr-sse[testing]'"
    )


def test_a_strategy_without_hypothesis_is_an_import_error(monkeypatch):
    monkeypatch.delattr(kit, "_strategies", raising=False)
    monkeypatch.setitem(sys.modules, "ratatoskr_proto.testing._strategies", None)
    with pytest.raises(ImportError, match=r"pip install 'ratatoskr-sse\[testing\]'"):
        kit.chunkings  # noqa: B018  # reading it is the point
