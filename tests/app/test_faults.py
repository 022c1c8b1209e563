"""The faults of the demo server, by name: what a client sees of each, whoever asks for it."""

import functools
import json

import anyio
import pytest
from support.demo import demo_serving, resume_turn, start_turn

from ratatoskr._demo.faults import FAULTS, Faults
from ratatoskr.cli import _run_turn
from ratatoskr_proto import Done, RatatoskrError, SseId
from ratatoskr_transports.anyio import reconnect_turn, stream_turn

DROPPED = "[connection_dropped] last_sse_id=93:9 reason="

# The fault, how the turn of 20 frames ends then, and how many events there are before.
ENDINGS = [
    ("empty", "[done]", 18),
    ("bad-json", "[malformed_sse_data] raw='not-json'", 9),
    ("bad-id", "[malformed_sse_id] raw='not-an-id'", 9),
    ("flip", "[turn_id_flip] expected=93 got=94", 9),
    ("no-done", "[connection_dropped] last_sse_id=93:19 reason='end of stream'", 19),
    ("error", "[error] message='out of mead'", 9),
    ("stall", f"{DROPPED}'read timeout'", 9),
    ("reset", f"{DROPPED}'reset", 9),
    ("cut-chunk", f"{DROPPED}'cut body'", 9),
    ("slow", "[done]", 19),
    ("huge", "[event_too_large] limit=16777216", 9),
    ("html", "[connect_failed] status=200 reason='content-type' body=", 0),
    ("status=503", "[connect_failed] status=503 reason='status' body=", 0),
    ("status=204", "[connect_failed] status=204 reason='status' body=''", 0),
    ("drop-every=9", f"{DROPPED}'reset", 9),
]
NAMES = [name for name, _, _ in ENDINGS]


def read(start, *args, **options):
    """The events of a turn, over anyio, and what came last if it was an error."""

    async def main():
        events = []
        try:
            async with start(*args, **options) as turn:
                async for event in turn:
                    events.append(event)
        except RatatoskrError as error:
            return events, error
        return events, None

    return anyio.run(main)


@pytest.fixture
def label_of(capsys):
    """The label with which a turn ends, and the number of events before it that are no ending."""

    def label_of(url, **options):
        turn = stream_turn(url, json={"message": "Hi"}, **options)
        anyio.run(functools.partial(_run_turn, turn, as_json=True))
        out, err = capsys.readouterr()
        types = [json.loads(line)["type"] for line in out.splitlines()]
        return err.strip(), sum(type == "text" for type in types)

    return label_of


def short(fault):
    """Options that keep a test of this fault short."""
    return {"read_timeout": 0.2} if fault == "stall" else {}


def fewer(fault):
    """A slow turn is the same with fewer frames."""
    return {"slow": 2}.get(fault, 20)


def test_every_fault_is_here():
    assert {name.partition("=")[0] for name in NAMES} == {fault.name for fault in FAULTS}


@pytest.mark.parametrize(("fault", "label", "count"), ENDINGS, ids=NAMES)
def test_for_every_request(label_of, fault, label, count):
    with demo_serving(fault, at=10, events=fewer(fault)) as url:
        said, texts = label_of(url, **short(fault))
    assert said.startswith(label)
    assert texts == (1 if fault == "slow" else count)


@pytest.fixture(scope="module")
def url():
    with demo_serving(events=20) as url:
        yield url


@pytest.mark.parametrize(("fault", "label", "count"), ENDINGS, ids=NAMES)
def test_for_one_request_by_its_query(label_of, url, fault, label, count):
    number = int(start_turn(url)[4:].partition(b":")[0]) + 1
    query = f"?{fault}&at=10&events={fewer(fault)}"
    said, texts = label_of(url + query, **short(fault))
    renumbered = label.replace("=93", f"={number}").replace("got=94", f"got={number + 1}")
    assert said.startswith(renumbered)
    assert texts == (1 if fault == "slow" else count)
    assert label_of(url) == ("[done]", 19)


@pytest.mark.parametrize("query", ["?fault=bad-json&at=10", "?bad-json=&at=10", "?at=10&bad-json"])
def test_a_query_may_be_written_in_other_ways(label_of, url, query):
    assert label_of(url + query) == ("[malformed_sse_data] raw='not-json'", 9)


def test_the_place_of_a_fault_is_the_middle_of_the_turn_unless_given(label_of, url):
    assert label_of(url + "?bad-json")[1] == 9
    assert label_of(url + "?bad-json&at=3")[1] == 2
    assert label_of(url + "?bad-json&events=1")[1] == 0


def test_a_place_behind_the_turn_is_none(label_of, url):
    assert label_of(url + "?bad-json&at=21") == ("[done]", 19)


def test_a_query_adds_to_the_faults_of_the_server(label_of):
    with demo_serving("empty", at=5, events=20) as url:
        assert label_of(url + "?bad-json") == ("[malformed_sse_data] raw='not-json'", 4)
        assert label_of(url + "?bad-json&at=12") == ("[malformed_sse_data] raw='not-json'", 10)


# Resumption


@pytest.mark.parametrize("fault", ["reset", "cut-chunk", "bad-json", "bad-id", "flip", "huge"])
def test_a_turn_that_is_resumed_behind_a_fault_goes_on(fault):
    with demo_serving(fault, events=20) as url:
        before, error = read(stream_turn, url, json={})
        rest, no_error = read(reconnect_turn, url, before[-1].sse_id)
    assert isinstance(error, RatatoskrError)
    assert no_error is None
    assert [event.sse_id.seq for event in before + rest] == list(range(1, 21))


def test_a_turn_that_drops_again_and_again_comes_whole_in_pieces():
    with demo_serving("drop-every=100", events=1100) as url:
        events, error = read(stream_turn, url, json={"message": "Hi"})
        connections = 1
        while error is not None:
            assert error.reason.startswith("reset")
            more, error = read(reconnect_turn, url, events[-1].sse_id)
            events += more
            connections += 1
    assert connections == 11
    assert isinstance(events[-1], Done)
    seqs = [event.sse_id.seq for event in events]
    assert seqs == [seq for seq in range(1, 1101) if seq != 1078]


def test_a_fault_may_be_asked_for_in_a_resumption(url):
    before, _ = read(stream_turn, f"{url}?reset&at=5", json={})
    last = before[-1].sse_id
    rest, error = read(reconnect_turn, f"{url}?bad-json&at=8", last)
    assert [event.sse_id for event in rest] == [SseId(last.turn_id, seq) for seq in (5, 6, 7)]
    assert error.raw == "not-json"
    assert resume_turn(url, str(last)).count(b"\n\n") == 16


# Names


def test_each_name_has_a_line_of_help():
    assert all(fault.does and "\n" not in fault.does for fault in FAULTS)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nope", "there is no fault 'nope'; there are empty, bad-json, "),
        ("", "there is no fault ''"),
        ("\x1b", r"there is no fault '\x1b'"),
        ("empty=1", "the fault empty takes no number"),
        ("status", "the fault status is written status=N, N from 200 to 599"),
        ("status=99", "N from 200 to 599"),
        ("status=600", "N from 200 to 599"),
        ("status=٢٠٠", "N from 200 to 599"),
        ("status=0000000200x", "N from 200 to 599"),
        ("drop-every=0", "the fault drop-every is written drop-every=N, N from 1 to 1000000000"),
        ("drop-every=" + "9" * 5000, "N from 1 to 1000000000"),
    ],
    ids=lambda text: text[:30],
)
def test_what_is_no_fault_is_told_what_would_be_one(spec, message):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        Faults((spec,))
    assert message in str(refusal.value)
