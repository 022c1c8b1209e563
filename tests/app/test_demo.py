"""``ratatoskr demo``: server and client in one go."""

import os
import signal

import pytest

TIMEOUT = 30


def test_it_shows_a_turn_of_over_1000_events_to_its_end(run_main):
    run = run_main("demo", "--fast", "--json")
    assert len(run.lines) == 1099
    last = run.lines[-1]
    assert (last["type"], last["sse_id"]) == ("done", "93:1100")
    assert last["body"] == {"type": "done", "frames": 1100}
    assert "93:1078" not in {line["sse_id"] for line in run.lines}
    assert (run.said, run.code) == (["[done]"], 0)


def test_its_text_is_in_several_scripts(run_main):
    run = run_main("demo", "--fast")
    text = run.stdout.decode()
    assert all(word in text for word in ("Ratatoskr", "Ратато́ск", "ラタトスク", "شجرة", "🐿️"))
    assert (run.said, run.code) == (["[done]"], 0)


@pytest.mark.parametrize("events", ["1", "2", "1078"])
def test_its_length_may_be_chosen(run_main, events):
    run = run_main("demo", "--fast", "--json", "--events", events)
    assert run.lines[-1]["sse_id"] == f"93:{events}"
    assert (run.said, run.code) == (["[done]"], 0)


@pytest.mark.parametrize("events", ["0", "-1", "x", "1000000001", ""])
def test_a_length_that_is_none_is_wrong_usage(run_main, events):
    run = run_main("demo", f"--events={events}")
    assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
    assert "--events" in run.said[0]


def test_it_keeps_a_pace_unless_it_is_to_be_fast(run_main):
    assert run_main("demo", "--events", "5").code == 0


def test_it_never_goes_through_a_proxy(run_main, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert run_main("demo", "--fast", "--events", "5").code == 0


def test_a_wrong_certificate_file_in_the_environment_is_no_matter(run_main, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    assert run_main("demo", "--fast", "--events", "5").code == 0


def test_a_reader_that_goes_away_ends_it_in_silence(start):
    process = start("demo")
    assert process.stdout.read(10)
    process.stdout.close()
    assert process.wait(TIMEOUT) == 0
    assert process.stderr.read() == b""


def test_a_reader_that_never_was_ends_it_in_silence(run_process, gone):
    run = run_process("demo", stdout=gone)
    assert (run.code, run.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
@pytest.mark.usefixtures("heed_ctrl_c")
def test_ctrl_c_ends_it_with_a_line(start):
    process = start("demo", bufsize=0)
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 130
    assert process.stderr.read() == b"ratatoskr: interrupted\n"


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
