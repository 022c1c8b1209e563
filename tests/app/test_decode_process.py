"""``ratatoskr decode`` as a process: pipes, signals, encodings."""

import os
import sys

import pytest
from support.demo import demo_turn
from support.frames import done

from ratatoskr_proto import encode_event

if os.name != "posix":
    pytest.skip("needs the pipes and signals of POSIX", allow_module_level=True)

HI = encode_event('{"type": "text", "text": "Hi"}', id="42:1")
DONE = done(2)
SAID = [b"[done]", b"2 events, %d bytes read" % len(HI + DONE)]


@pytest.fixture
def turn_file(tmp_path):
    file = tmp_path / "turn.sse"
    file.write_bytes(HI + DONE)
    return str(file)


@pytest.fixture
def full():
    """A device that takes nothing."""
    try:
        device = os.open("/dev/full", os.O_WRONLY)
    except OSError:
        pytest.skip("needs /dev/full")
    yield device
    os.close(device)


def without(stream):
    """The command, started with this stream closed, such as ``>&-``."""
    python = [sys.executable, "-W", "error", "-m", "ratatoskr"]
    return ["sh", "-c", f'exec "$@" {stream}', "sh", *python]


# stdin


def test_stdin_is_read(run_process):
    run = run_process("decode", "-", stdin=HI + DONE)
    assert len(run.lines) == 2
    assert run.stderr.splitlines() == SAID
    assert run.code == 0


@pytest.mark.parametrize("options", [[], ["--wire"]])
def test_a_line_is_written_before_the_next_frame_is_sent(start, options):
    process = start("decode", *options, bufsize=0)
    for seq in (1, 2, 3):
        process.stdin.write(encode_event('{"type": "x"}', id=f"42:{seq}"))
        assert b"42:%d" % seq in process.stdout.readline()


def test_the_end_of_the_turn_is_not_waited_for_on_stdin(start):
    process = start("decode", bufsize=0)
    process.stdin.write(HI + DONE)
    assert process.wait() == 0


def test_stdin_that_is_closed_is_one_line(run_process):
    run = run_process("decode", command=without("<&-"))
    assert (run.code, run.said) == (2, ["ratatoskr: stdin is closed; name a file"])


def test_the_turn_that_once_crashed_is_read_to_its_end(run_process):
    turn = demo_turn()
    run = run_process("decode", stdin=turn)
    assert len(run.lines) == 1099
    assert (run.said[0], run.code) == ("[done]", 0)


# stdout and stderr


def test_a_reader_that_goes_away_ends_it_in_silence(start):
    process = start("decode", bufsize=0)
    process.stdin.write(HI)
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(HI)
    assert process.wait() == 0
    assert process.stderr.read() == b""


def test_a_reader_that_never_was_ends_it_in_silence(run_process, gone, turn_file):
    run = run_process("decode", turn_file, stdout=gone)
    assert (run.code, run.stderr) == (0, b"")


def test_help_without_a_reader_ends_in_silence(run_process, gone):
    run = run_process("decode", "--help", stdout=gone)
    assert (run.code, run.stderr) == (0, b"")


def test_stdout_that_is_closed_is_no_failure(run_process, turn_file):
    run = run_process("decode", turn_file, command=without(">&-"))
    assert (run.code, run.stderr) == (0, b"")


def test_a_full_disk_is_one_line(run_process, full, turn_file):
    run = run_process("decode", turn_file, stdout=full)
    assert run.said == ["ratatoskr: cannot write to stdout: No space left on device"]
    assert run.code == 2


def test_stderr_that_is_closed_changes_nothing_else(run_process, turn_file):
    run = run_process("decode", turn_file, command=without("2>&-"))
    assert (run.code, len(run.lines)) == (0, 2)


def test_stderr_that_is_full_changes_nothing_else(run_process, full, turn_file):
    run = run_process("decode", turn_file, stderr=full)
    assert (run.code, len(run.lines)) == (0, 2)


def test_stderr_without_a_reader_changes_nothing_else(run_process, gone, turn_file):
    run = run_process("decode", turn_file, stderr=gone)
    assert (run.code, len(run.lines)) == (0, 2)


def test_wrong_usage_exits_2_though_nobody_listens(run_process, gone):
    assert run_process("decode", "missing", stderr=gone).code == 2
