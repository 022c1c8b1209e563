"""The benchmarks run, and measure decoders that do the same work."""

import base64
import json
import re
import sys
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from libraries import Library, NotInstalled

from benchmarks.__main__ import main
from benchmarks.layers import all_loads, typed_cells, wire_cell
from benchmarks.measuring import Cell, Spread, run_rounds, time_limit
from benchmarks.peers import OURS, PEERS, READ_OURS, Fed, load_peers, plain_events, reader_of
from benchmarks.report import fastest_peer
from benchmarks.workloads import CHUNKINGS, WORKLOADS, frames_of, recorded

ROOT = Path(__file__).parent.parent
# Those without keep-alives: some decoders make an event of one.
QUIET = [name for name in WORKLOADS if name not in ("crlf", "large")]
SMALL = 4000
LITTLE = ["--quick", "--scale", "0.001", "--rounds", "2"]


@pytest.fixture(autouse=True)
def _no_collection_of_garbage(monkeypatch):
    """Before each measuring, all of the suite would be gone through."""
    monkeypatch.setattr("gc.collect", lambda: 0)
    monkeypatch.setattr("gc.unfreeze", lambda: None)


def run(*arguments):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_tiny_run_writes_every_layer(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.growth.CROWD", 100)
    file = tmp_path / "results.json"
    done = run(
        *(*LITTLE, "--json", file, "--workload", "tokens", "--chunking", "one"),
        *("--peer", "httpx-sse", "--peer", "httpx2"),
    )
    assert (done.exit_code, done.stderr) == (0, "")  # no progress bar: nobody would see it
    assert "Only 2 rounds" in done.stdout
    results = json.loads(file.read_text(encoding="utf-8"))
    assert results["missing"] == {}
    assert set(results["peers"]) == {"httpx-sse", "httpx2"}
    [cell] = results["wire"]
    assert cell["chunking"] == "one event"
    assert set(cell["readers"]) == {OURS, "httpx-sse", "httpx2"}
    for row in cell["readers"].values():
        assert "note" not in row
        assert row["rounds"] == 2
        low, median, high = row["times_ratatoskr"]
        assert 0 < low <= median <= high
    assert len(results["typed"]) == 1
    for cell in results["transports"]:
        assert len(cell["readers"]) == 9
        assert all(row["events_a_second"] > 0 for row in cell["readers"].values())
    assert [row["size"] for row in results["growth"]] == ["1 MiB", "2 MiB", "1,000"]
    assert all(row["held"] <= row["peak"] for row in results["memory"])


def recording(*chunks):
    entries: list[dict[str, object]] = [{"ratatoskr_recording": 1}, {"t": 1, "reconnects": 1}]
    entries += [{"t": 0, "data": base64.b64encode(chunk).decode()} for chunk in chunks]
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in [*entries, {"end": "reset"}])


EVENTS = (b"data: a\n\n", b": b\r\n\r\n", b"id: 1\rdata: c\r\r")


@pytest.mark.parametrize(
    "content",
    [b"".join(EVENTS) + b"data: unfinished", recording(b"".join(EVENTS)[:5], b"".join(EVENTS)[5:])],
)
def test_recorded_stream_is_cut_after_its_blank_lines(tmp_path, content):
    file = tmp_path / "recorded"
    file.write_bytes(content)
    assert frames_of(file) == EVENTS
    workload = recorded("recorded", EVENTS, 62)
    assert workload.frames == EVENTS * 2
    assert typed_cells(workload, CHUNKINGS["one"], {}, all_loads()) == []


def test_file_is_measured_alone(tmp_path):
    file = tmp_path / "recorded.jsonl"
    file.write_bytes(recording(*EVENTS))
    done = run(
        *LITTLE, "--layer", "wire", "--chunking", "one", "--peer", "httpx-sse", "--file", file
    )
    assert done.exit_code == 0
    assert set(re.findall(r"[\w.]+, one event", done.stdout)) == {"recorded.jsonl, one event"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"data: a\n", "holds no whole event"),
        (recording(b"data: a\n"), "holds no whole event"),
        (recording(b"") + b"x", "is a recording with a line that is damaged"),
        (recording(b"").replace(b'""', b"7"), "is a recording with a line that is damaged"),
    ],
)
def test_file_without_a_stream_is_one_line(tmp_path, content, said):
    file = tmp_path / "recorded.sse"
    file.write_bytes(content)
    done = run(*LITTLE, "--file", file)
    assert (done.exit_code, done.stderr) == (1, f"Error: recorded.sse {said}\n")


def test_peer_that_is_missing_is_named(monkeypatch, tmp_path):
    (tmp_path / "gone_adapter.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    gone = Library("gone", "no_such_library", "gone_adapter", "Gone")
    monkeypatch.setitem(PEERS, "gone", gone)
    said = "gone is not installed: no module no_such_library"
    assert load_peers(("gone",)) == ({}, {"gone": said})


def test_module_that_is_missing_inside_a_peer_is_no_peer_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "whole_stream", None)
    monkeypatch.delitem(sys.modules, "httpx_sse_adapter", raising=False)
    with pytest.raises(ModuleNotFoundError, match="whole_stream"):
        PEERS["httpx-sse"].load()
    missing = load_peers(("httpx-sse",))[1]
    assert missing["httpx-sse"].startswith("ModuleNotFoundError: ")


def test_peer_that_fails_or_gives_other_events_is_named_and_the_others_are_measured():
    def fail(chunk):
        raise ValueError("no")

    peers = {
        "failing": Fed(lambda: fail),
        "silent": Fed(lambda: lambda chunk: []),
        "same": READ_OURS,
    }
    cell = wire_cell(WORKLOADS["tokens"](SMALL), CHUNKINGS["one"], peers)
    run_rounds([cell], 3)
    assert cell.notes == {
        "failing": "failed: ValueError: no",
        "silent": f"other events: 0 instead of {cell.events}",
    }
    assert "failing" not in cell.times
    assert len(cell.times["silent"]) == len(cell.times["same"]) == 3
    assert cell.ratio("failing", OURS) is None


@pytest.mark.parametrize(
    "peer",
    # The SDKs take seconds to be imported.
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("openai", "anthropic")))
        for name in PEERS
    ],
)
def test_peer_gives_the_events_that_ours_gives(peer):
    try:
        reader = reader_of(PEERS[peer])
    except NotInstalled as error:
        pytest.skip(str(error))
    for name in QUIET:
        workload = WORKLOADS[name](SMALL)
        for chunking in CHUNKINGS.values():
            chunks = chunking.cut(workload.frames)
            expected = plain_events(READ_OURS, chunks)
            assert len(expected) > 1
            assert plain_events(reader, chunks) == expected
            reader.read(chunks)


@pytest.mark.parametrize("name", WORKLOADS)
def test_stream_is_a_turn_or_comes_as_one_and_has_the_size_that_was_asked_for(name):
    workload = WORKLOADS[name](SMALL)
    for frames in (workload.frames, workload.turn_frames):
        if name != "large":
            assert 0.9 * SMALL < sum(map(len, frames)) < 1.5 * SMALL + 1000
    for chunking in CHUNKINGS.values():
        assert b"".join(chunking.cut(workload.frames)) == b"".join(workload.frames)
    cells = typed_cells(workload, CHUNKINGS["1k"], {}, all_loads())
    assert len(cells) == (2 if name in ("model", "named") else 1)
    run_rounds(cells, 1)
    assert all(cell.notes == {} for cell in cells)


def test_ratios_are_taken_within_rounds():
    cell = Cell({}, 10, 100, {})
    cell.times = {OURS: [1.0, 10.0, 100.0], "httpx-sse": [2.0, 20.0, 300.0], "assel": []}
    assert cell.ratio("httpx-sse", OURS) == Spread(2.0, 2.0, 2.5)
    cell.readers = dict.fromkeys(cell.times)
    assert fastest_peer(cell) == "httpx-sse"


def test_readers_and_cells_come_in_another_order_each_round():
    def order():
        ran = []
        cells = [
            Cell({}, 1, 1, {name: partial(ran.append, cell + name) for name in "abc"})
            for cell in "AB"
        ]
        run_rounds(cells, 8)
        return [tuple(ran[start : start + 6]) for start in range(0, len(ran), 6)]

    warm_up, *rounds = order()
    assert warm_up == ("Aa", "Ab", "Ac", "Ba", "Bb", "Bc")
    assert len(set(rounds)) > 4
    assert all(sorted(each) == sorted(warm_up) for each in rounds)
    assert {each[0][0] for each in rounds} == {"A", "B"}
    assert order() == [warm_up, *rounds]  # the same in every run


@pytest.mark.skipif(sys.platform == "win32", reason="no timer that raises")
def test_reader_that_is_too_slow_is_stopped():
    def never_end():
        while True:
            pass

    cell = Cell({}, 1, 1, {"slow": never_end})
    run_rounds([cell], 1, slow=0.05)
    assert cell.notes == {"slow": "failed, stopped after 0.05 s"}
    with time_limit(60):
        pass


def test_help_names_every_choice():
    done = run("--help")
    assert done.exit_code == 0
    for name in (*WORKLOADS, *CHUNKINGS, *PEERS):
        assert re.search(rf"\b{re.escape(name)}\b", done.stdout), name


def test_the_page_has_a_small_plot():
    assert (ROOT / "docs" / "performance.svg").stat().st_size < 100_000
