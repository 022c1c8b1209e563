"""``ratatoskr demo``: a server and its client in one process."""

import os
import re
import signal
from pathlib import Path

import pytest

from ratatoskr.demo_server import DemoServer

TIMEOUT = 30
SURVIVED = "frame 1078: id and no data, skipped; 22 keep-alives"


def test_it_shows_a_turn_of_over_1000_events_to_its_end(run_main):
    run = run_main("demo", "--fast", "--json")
    *texts, last = run.lines
    assert len(texts) == 1098
    assert (last["type"], last["sse_id"]) == ("done", "93:1100")
    assert last["body"] == {"type": "done", "frames": 1100}
    assert "93:1078" not in {line["sse_id"] for line in run.lines}
    text = "".join(line["text"] for line in texts)
    assert all(word in text for word in ("Ratatoskr", "Ратато́ск", "ラタトスク", "شجرة", "🐿️"))
    start, *whole, last_one = text.split("\n\n")
    assert (start, len(set(whole))) == ("You said: Who are you?", 1)  # nothing is missing anywhere
    assert whole[0].startswith(last_one)
    assert (run.said, run.code) == ([SURVIVED, "[done]"], 0)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ("49", []),
        ("50", ["1 keep-alive"]),
    ],
)
def test_it_says_before_the_end_what_it_has_survived(run_main, events, said):
    run = run_main("demo", "--fast", "--events", events)
    assert (run.said, run.code) == ([*said, "[done]"], 0)


def test_the_picture_of_it_in_the_readme_is_up_to_date():
    picture = (Path(__file__).parents[2] / "docs/demo.svg").read_text(encoding="utf-8")
    rows = re.findall(r"<text class=.(\w+). [^>]*>(.*)</text>", picture)
    assert rows[0] == ("in", "$ ratatoskr demo")
    assert rows[-2:] == [("err", SURVIVED), ("err", "[done]")]


@pytest.mark.parametrize(("events", "text"), [("1", ""), ("3", "You said: Who are you?\n\nRata")])
def test_its_length_can_be_chosen(run_main, events, text):
    run = run_main("demo", "--fast", "--events", events)
    assert (run.stdout.decode(), run.said, run.code) == (text, ["[done]"], 0)


@pytest.mark.parametrize("events", ["0", "-1", "x", "1000000001", ""])
def test_an_invalid_length_is_wrong_usage(run_main, events):
    run = run_main("demo", f"--events={events}")
    assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
    assert "--events" in run.said[0]


def test_there_is_a_pause_between_frames_unless_it_is_fast(run_main, monkeypatch):
    paces = []

    def server(script):
        paces.append(script.pace)
        return DemoServer(script)

    monkeypatch.setattr("ratatoskr.cli.commands.demo.DemoServer", server)
    for options in ([], ["--fast"]):
        assert run_main("demo", "--events", "5", *options).code == 0
    assert paces == [0.01, 0.0]


def test_it_never_goes_through_a_proxy(run_main, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert run_main("demo", "--fast", "--events", "5").code == 0


def test_an_invalid_certificate_file_in_the_environment_does_not_matter(run_main, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    assert run_main("demo", "--fast", "--events", "5").code == 0


def test_it_ends_in_silence_when_its_stdout_is_closed(start):
    process = start("demo")
    assert process.stdout.read(10)
    process.stdout.close()
    assert process.wait(TIMEOUT) == 0
    assert process.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
@pytest.mark.usefixtures("heed_ctrl_c")
def test_ctrl_c_ends_it_with_a_line(start):
    process = start("demo", bufsize=0)
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 130
    assert process.stderr.read() == b"ratatoskr: interrupted\n"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_its_memory_does_not_grow_with_the_turn(start):
    def peak(events):
        with open(os.devnull, "wb") as nothing:
            process = start("demo", "--fast", "--events", str(events), stdout=nothing)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        return usage.ru_maxrss

    assert peak(1_000) < peak(100) * 1.2
