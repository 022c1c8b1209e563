"""The faults of the demo server, by name: what a client sees of each, whoever asks for it."""

import ast
import functools
import json
import re
from pathlib import Path
from types import ModuleType

import anyio
import pytest
from support.demo import ask, connected, demo_serving, error_of, resume_turn

from ratatoskr import demo_server
from ratatoskr._demo import faults
from ratatoskr._demo.encoders import Frame
from ratatoskr._demo.faults import FAULTS
from ratatoskr.cli import _run_turn
from ratatoskr.demo_server import Faults
from ratatoskr_proto import DEFAULT_MAX_EVENT_BYTES, Done, RatatoskrError, SseId
from ratatoskr_transports.anyio import reconnect_turn, stream_turn

DROPPED = "[connection_dropped] last_sse_id=93:9 reason="

# The fault at frame 10, how the turn of 20 frames ends then, and how many texts come before.
ENDINGS = [
    ("ends-early", f"{DROPPED}'end of stream'", 9),
    ("no-done", f"{DROPPED}'end of stream'", 9),
    ("cut-at-frame", f"{DROPPED}'cut body'", 9),
    ("cut-in-frame", f"{DROPPED}'cut body; unfinished event lost'", 9),
    ("cut-chunk", f"{DROPPED}'cut body; unfinished event lost'", 9),
    ("reset", f"{DROPPED}'reset", 9),
    ("stall", f"{DROPPED}'read timeout'", 9),
    ("error", "[error] message='out of mead'", 9),
    ("bad-json", "[malformed_sse_data] raw='not-json'", 9),
    ("empty", "[done]", 18),
    ("keepalive", "[done]", 19),
    ("status=503", "[connect_failed] status=503 reason='status' body=", 0),
    ("status=204", "[connect_failed] status=204 reason='status' body=''", 0),
    ("html", "[connect_failed] status=200 reason='content-type' body=", 0),
    ("bad-id", "[malformed_sse_id] raw='not-an-id'", 9),
    ("flip", "[turn_id_flip] expected=93 got=94", 9),
    ("huge", "[event_too_large] limit=1000", 9),
    ("slow", "[done]", 1),
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
    """The label with which a turn ends, and the number of texts before it."""

    def label_of(url, **options):
        turn = stream_turn(url, json={"message": "Hi"}, **options)
        anyio.run(functools.partial(_run_turn, turn, as_json=True))
        out, err = capsys.readouterr()
        types = [json.loads(line)["type"] for line in out.splitlines()]
        return err.strip(), types.count("text")

    return label_of


def test_every_fault_of_turns_is_here():
    of_turns = [fault for fault in FAULTS if fault.dialects is None or "turn" in fault.dialects]
    names = {fault.name for fault in of_turns} | {fault.alias for fault in of_turns} - {""}
    assert {name.partition("=")[0] for name in NAMES} == names


@pytest.mark.parametrize(("fault", "label", "texts"), ENDINGS, ids=NAMES)
def test_each_fault_is_seen_by_a_client(label_of, monkeypatch, fault, label, texts):
    options = {"stall": {"read_timeout": 0.5}, "huge": {"max_event_bytes": 1000}}.get(fault, {})
    monkeypatch.setattr(faults, "HUGE_BYTES", 2000)
    with demo_serving(events=2 if fault == "slow" else 20) as url:
        said, count = label_of(url, headers={"X-Fault": f"{fault},at=10"}, **options)
    assert said.startswith(label)
    assert count == texts


def test_a_huge_event_is_above_the_default_limit():
    assert faults.HUGE_BYTES > DEFAULT_MAX_EVENT_BYTES


# Who asks


@pytest.fixture(scope="module")
def url():
    with demo_serving(events=20) as url:
        yield url


@pytest.mark.parametrize(
    "query",
    [
        "bad-json&at=10",
        "bad-json",
        "fault=bad-json&at=10",
        "bad-json=&at=10",
        "at=10&bad-json",
        "fault=bad-json,at=10,id=mine",
        "fault=keepalive&bad-json&at=10",
    ],
)
def test_a_fault_of_one_request_by_its_query(label_of, url, query):
    assert label_of(f"{url}?{query}") == ("[malformed_sse_data] raw='not-json'", 9)
    assert label_of(url) == ("[done]", 19)


@pytest.mark.parametrize(
    "header",
    [
        "bad-json",
        "bad-json,at=10",
        "at=10,bad-json",
        "keepalive,bad-json,id=a b",
        "bad-json ,\tat=10",
    ],
)
def test_a_fault_of_one_request_by_its_header(label_of, url, header):
    headers = {"x-fault": header}
    assert label_of(url, headers=headers) == ("[malformed_sse_data] raw='not-json'", 9)
    assert label_of(url) == ("[done]", 19)


def test_a_header_that_is_sent_twice_has_the_faults_of_both(label_of, url):
    headers = [("X-Fault", "bad-json"), ("X-Fault", "at=3")]
    assert label_of(url, headers=headers) == ("[malformed_sse_data] raw='not-json'", 2)


def test_a_request_adds_to_the_faults_of_the_server(label_of):
    with demo_serving("empty,at=5", events=20) as url:
        assert label_of(url) == ("[done]", 17)
        assert label_of(f"{url}?bad-json") == ("[malformed_sse_data] raw='not-json'", 4)
        headers = {"X-Fault": "at=12"}
        assert label_of(f"{url}?bad-json", headers=headers)[1] == 10


def test_a_fault_is_in_the_middle_unless_told_otherwise(label_of, url):
    assert label_of(f"{url}?bad-json&at=3")[1] == 2
    assert label_of(f"{url}?bad-json&events=1")[1] == 0


def test_a_fault_after_the_end_of_the_turn_does_not_happen(label_of, url):
    assert label_of(f"{url}?bad-json&at=21") == ("[done]", 19)


# How often


def statuses(url, *headers):
    """The statuses that requests with these headers get, all over one connection."""
    found = []
    with connected(url) as connection:
        for header in headers:
            connection.request("POST", "/turns?events=1", headers={"X-Fault": header})
            response = connection.getresponse()
            response.read()
            found.append(response.status)
    return found


def test_a_fault_happens_to_the_first_requests_with_this_very_header(url):
    asked = ["status=429,times=2"] * 4
    assert statuses(url, *asked) == [429, 429, 200, 200]
    of_ones_own = ["status=429,times=1,id=a", "status=429,times=1,id=b"]
    assert statuses(url, *of_ones_own * 2) == [429, 429, 200, 200]


def test_a_query_and_the_server_itself_can_say_how_often_too(url):
    target = "/turns?status=503&times=1&events=1"
    assert [ask(url, "POST", target)[0] for _ in range(2)] == [503, 200]
    with demo_serving("status=503", "times=2", events=1) as url:
        assert [ask(url, "POST")[0] for _ in range(3)] == [503, 503, 200]


def test_the_newest_thousand_headers_are_remembered(url, monkeypatch):
    assert demo_server._KEPT_REQUESTS == 1000
    monkeypatch.setattr(demo_server, "_KEPT_REQUESTS", 10)

    def asked(word):
        return f"status=429,times=1,id={word}"

    assert statuses(url, asked("first"), asked("first")) == [429, 200]
    assert set(statuses(url, *(asked(word) for word in range(9)))) == {429}
    assert statuses(url, asked("first")) == [200]  # and so it is the newest
    assert statuses(url, asked("more"), asked(0), asked("first")) == [429, 429, 200]


# Resumption


@pytest.mark.parametrize("fault", ["reset", "cut-in-frame", "bad-json", "bad-id", "flip"])
def test_a_turn_that_is_resumed_after_a_fault_goes_on(fault):
    with demo_serving(fault, events=20) as url:
        before, error = read(stream_turn, url, json={})
        rest, no_error = read(reconnect_turn, url, before[-1].sse_id)
    assert isinstance(error, RatatoskrError)
    assert no_error is None
    assert [event.sse_id.seq for event in before + rest] == list(range(1, 21))


def test_a_turn_that_drops_over_and_over_comes_whole_in_pieces():
    with demo_serving("drop-every=10", events=110) as url:
        events, error = read(stream_turn, url, json={"message": "Hi"})
        connections = 1
        while error is not None:
            assert error.reason.startswith("reset")
            more, error = read(reconnect_turn, url, events[-1].sse_id)
            events += more
            connections += 1
    assert connections == 11
    assert isinstance(events[-1], Done)
    assert [event.sse_id.seq for event in events] == list(range(1, 111))


def test_a_fault_may_be_asked_for_when_a_turn_is_resumed(url):
    before, _ = read(stream_turn, f"{url}?reset&at=5", json={})
    last = before[-1].sse_id
    rest, error = read(reconnect_turn, f"{url}?bad-json&at=8", last)
    assert [event.sse_id for event in rest] == [SseId(last.turn_id, seq) for seq in (5, 6, 7)]
    assert error.raw == "not-json"
    assert resume_turn(url, str(last)).count(b"\n\n") == 16


# Names


def test_the_first_change_that_contributing_describes_works():
    root = Path(__file__).parents[2]
    page = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    row, fault, lines = re.findall(r"```\n( +\S.*?)```", page, re.DOTALL)[:3]
    source = Path(faults.__file__).read_text(encoding="utf-8")
    for new, old in ((fault, '    NamedFault("empty"'), (lines, '        if "bad-id" in self:')):
        assert source.count(old) == 1
        source = source.replace(old, new + old)
    changed = ModuleType(faults.__name__)
    changed.__package__ = faults.__package__
    exec(source, changed.__dict__)
    assert changed.Faults(["bad-envelope"])._changed(Frame("good"), None) == Frame("{}")
    assert ast.literal_eval(row.strip())[0][0] == "bad-envelope"


def test_each_name_has_a_line_of_help():
    assert all(fault.does and "\n" not in fault.does for fault in FAULTS)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nope", "there is no fault 'nope'; the faults are ends-early, cut-at-frame, "),
        ("bad-json,nope", "there is no fault 'nope'; "),
        ("", "there is no fault ''"),
        ("bad-json, ", "there is no fault ''"),
        ("\x1b", r"there is no fault '\x1b'"),
        ("empty=1", "the fault empty takes no number"),
        ("status", "status=N takes a number from 200 to 599"),
        ("status=99", "from 200 to 599"),
        ("status=600", "from 200 to 599"),
        ("status=٢٠٠", "from 200 to 599"),
        ("status=0000000200x", "from 200 to 599"),
        ("drop-every=0", "drop-every=N takes a number from 1 to 1000000000"),
        ("drop-every=" + "9" * 5000, "from 1 to 1000000000"),
        ("stall,at=0", "at=N takes a number from 1 to 1000000000"),
        ("stall,times=x", "times=N takes a number from 1 to 1000000000"),
        ("times=2", "times=2 needs a fault, as in stall,times=2"),
        ("at=3,times=2,id=a", "times=2 needs a fault"),
    ],
    ids=lambda text: text[:30],
)
def test_an_unknown_fault_is_an_error_that_lists_the_others(spec, message):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011
        Faults(spec)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    "header", ["nope", "", "bad-json=7", "bad-json,at=x", "no-end-mark", "times=2"]
)
def test_a_header_that_asks_for_no_fault_of_turns_is_400(url, header):
    status, error = error_of(ask(url, "POST", X_Fault=header))
    assert status == 400
    assert error.isprintable()
