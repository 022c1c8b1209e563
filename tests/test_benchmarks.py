"""The benchmarks run, and measure decoders that do the same work."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.layers import typed_cell, wire_cell
from benchmarks.measuring import Cell, Spread, run_rounds, time_limit
from benchmarks.peers import OURS, PEERS, Fed, Peer, load_ours, plain_events
from benchmarks.targets import Target, fastest_peer
from benchmarks.workloads import CHUNKINGS, WORKLOADS, from_file

ROOT = Path(__file__).parent.parent
# Those without keep-alives: some decoders make an event of one.
QUIET = [name for name in WORKLOADS if name not in ("crlf", "large")]
SMALL = 4000


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


def load(name):
    try:
        return PEERS[name].load()
    except ModuleNotFoundError as error:
        pytest.skip(f"no module {error.name}")


def test_tiny_run_writes_every_layer(tmp_path):
    file = tmp_path / "results.json"
    done = run(
        *("--quick", "--scale", "0.01", "--rounds", "2", "--json", file),
        *("--workload", "tokens", "--chunking", "one", "--chunking", "1k"),
        *("--peer", "httpx-sse", "--peer", "httpx2"),
    )
    assert (done.returncode, done.stderr) == (0, "")  # no progress bar: nobody would see it
    assert "Only 2 rounds" in done.stdout
    results = json.loads(file.read_text(encoding="utf-8"))
    assert results["missing"] == {}
    assert set(results["peers"]) == {"httpx-sse", "httpx2"}
    assert [cell["chunking"] for cell in results["wire"]] == ["one event", "1 KiB"]
    for cell in results["wire"]:
        assert set(cell["readers"]) == {OURS, "httpx-sse", "httpx2"}
        for row in cell["readers"].values():
            assert "note" not in row
            assert row["rounds"] == 2
            low, median, high = row["times_ratatoskr"]
            assert 0 < low <= median <= high
    assert len(results["typed"]) == 2
    for cell in results["transports"]:
        assert len(cell["readers"]) == 9
        assert all(row["events_a_second"] > 0 for row in cell["readers"].values())
    assert [row["size"] for row in results["growth"]] == ["1 MiB", "2 MiB", "1,000"]
    assert all(row["held"] <= row["peak"] for row in results["memory"])
    assert {row["layer"] for row in results["targets"]} == {"wire", "typed", "growth"}


def test_peer_that_is_missing_is_named(tmp_path, monkeypatch):
    from benchmarks import running

    def load_nothing():
        raise ModuleNotFoundError("No module named 'nothing'", name="nothing")

    monkeypatch.setitem(PEERS, "nothing", Peer("nothing", load_nothing))
    assert running.load_peers(("nothing",)) == ([], {"nothing": "no module nothing"})


def test_peer_that_fails_or_gives_other_events_is_named_and_the_others_are_measured():
    def fail(chunk):
        raise ValueError("no")

    ours = load_ours()
    peers = [
        (Peer("failing", load_ours), Fed(lambda: fail)),
        (Peer("silent", load_ours), Fed(lambda: lambda chunk: [])),
        (Peer("same", load_ours), ours),
    ]
    cell = wire_cell(WORKLOADS["tokens"](SMALL), CHUNKINGS["one"], peers)
    run_rounds([cell], 3)
    assert cell.notes == {
        "failing": "failed: ValueError: no",
        "silent": f"other events: 0 instead of {cell.events}",
    }
    assert "failing" not in cell.times
    assert len(cell.times["silent"]) == len(cell.times["same"]) == 3
    assert cell.ratio("failing", OURS) is None


@pytest.mark.parametrize("peer", PEERS)
def test_peer_gives_the_events_that_ours_gives(peer):
    decoder = load(peer)
    for name in QUIET:
        workload = WORKLOADS[name](SMALL)
        for chunking in CHUNKINGS.values():
            chunks = chunking.cut(workload.frames)
            expected = plain_events(load_ours(), chunks)
            assert len(expected) > 1
            assert plain_events(decoder, chunks, PEERS[peer].id_attribute) == expected
            decoder.read(chunks)


@pytest.mark.parametrize("name", WORKLOADS)
def test_stream_is_a_turn_or_comes_as_one_and_has_the_size_that_was_asked_for(name):
    workload = WORKLOADS[name](SMALL)
    for frames in (workload.frames, workload.turn_frames):
        if name != "large":
            assert 0.9 * SMALL < sum(map(len, frames)) < 1.5 * SMALL + 1000
    for chunking in CHUNKINGS.values():
        assert b"".join(chunking.cut(workload.frames)) == b"".join(workload.frames)
    cell = typed_cell(workload, CHUNKINGS["1k"], [])
    assert cell is not None
    run_rounds([cell], 1)
    assert cell.notes == {}


def test_recorded_stream_is_cut_behind_its_blank_lines(tmp_path):
    file = tmp_path / "recorded.sse"
    file.write_bytes(b"data: a\n\n: b\r\n\r\nid: 1\rdata: c\r\rdata: unfinished")
    workload = from_file(file, 62)
    assert workload.frames[:3] == (b"data: a\n\n", b": b\r\n\r\n", b"id: 1\rdata: c\r\r")
    assert len(workload.frames) == 6
    assert typed_cell(workload, CHUNKINGS["one"], []) is None
    file.write_bytes(b"data: a\n")
    with pytest.raises(ValueError, match=r"recorded\.sse holds no whole event"):
        from_file(file, 62)


def test_ratios_are_taken_within_rounds():
    cell = Cell({}, 10, 100, {})
    cell.times = {OURS: [1.0, 10.0, 100.0], "httpx-sse": [2.0, 20.0, 300.0], "assel": []}
    assert cell.ratio("httpx-sse", OURS) == Spread(2.0, 2.0, 2.5)
    cell.readers = dict.fromkeys(cell.times)
    assert fastest_peer(cell) == "httpx-sse"


def test_target_is_met_by_its_median():
    spread = Spread(0.5, 1.0, 1.5)
    assert Target("wire", "tokens", "1 KiB", "assel", 1.0, False, spread).met
    assert not Target("wire", "tokens", "1 KiB", "assel", 0.9, True, spread).met


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
    assert done.returncode == 0
    for name in (*WORKLOADS, *CHUNKINGS, *PEERS):
        assert re.search(rf"\b{re.escape(name)}\b", done.stdout), name
