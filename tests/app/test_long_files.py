"""``ratatoskr decode`` on long files: the progress bar on a terminal, and memory."""

import contextlib
import itertools
import os
import subprocess
import sys

import pytest
from support.frames import done

from ratatoskr_proto import encode_event

termios = pytest.importorskip("termios", reason="needs a POSIX terminal")

MIB = 1024 * 1024
WIDTH = 60  # of the terminal: less than a label may have
SHOWN = b"MB"  # the bar tells how many of the file's have been read

DONE = done(2)


@pytest.fixture
def long_turn(tmp_path):
    """Writes a turn of at least this size into a file, in events of 64 KiB; returns its name."""
    file = tmp_path / "turn.sse"

    def write(size=5 * MIB, end=DONE):
        event = encode_event('{"type": "text", "text": "' + "x" * 65_000 + '"}', id="42:1")
        with file.open("wb") as stream:
            stream.writelines(itertools.repeat(event, size // len(event) + 1))
            stream.write(end)
        return str(file)

    yield write
    file.unlink()


@pytest.fixture
def on_terminal(start, tmp_path):
    """Runs the command with a terminal as stderr, and stdout in a file or on the terminal too;
    returns the exit code and what the terminal got.
    """

    def run(*arguments, stdout_too=False, **how):
        controller, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, WIDTH))
        with open(controller, "rb", buffering=0) as screen, open(tmp_path / "out", "wb") as out:
            how = {"stdin": subprocess.DEVNULL, "env": {"TERM": "xterm"}} | how
            stdout = terminal if stdout_too else out
            process = start(*arguments, stdout=stdout, stderr=terminal, **how)
            os.close(terminal)
            got = bytearray()
            with contextlib.suppress(OSError):  # on Linux, what the end of a terminal is
                while more := screen.read(MIB):
                    got += more
        return process.wait(), bytes(got)

    return run


# The progress bar


def test_a_long_file_has_a_progress_bar_on_a_terminal_and_stdout_has_not(
    on_terminal, long_turn, tmp_path
):
    code, screen = on_terminal("decode", long_turn())
    assert SHOWN in screen
    assert code == 0
    lines = (tmp_path / "out").read_bytes().splitlines()
    assert all(line.startswith(b'{"type": "') for line in lines)
    assert len(lines) > 80


def test_a_long_file_on_stdin_has_a_progress_bar_too(on_terminal, long_turn):
    with open(long_turn(), "rb") as file:
        assert SHOWN in on_terminal("decode", stdin=file)[1]


def test_a_label_is_one_line_beside_the_progress_bar(on_terminal, long_turn):
    raw = "[bold] \\ :smile: 127.0.0.1 " * 10
    file = long_turn(end=encode_event(raw, id="42:2"))
    code, screen = on_terminal("decode", file)
    assert f"[malformed_sse_data] raw={raw[:200]!r}\r\n".encode() in screen
    assert code == 22


def test_a_short_file_has_no_progress_bar(on_terminal, long_turn):
    code, screen = on_terminal("decode", long_turn(size=0))
    assert screen.startswith(b"[done]\r\n2 events, ")
    assert code == 0


def test_there_is_no_progress_bar_without_a_terminal(run_main, long_turn):
    run = run_main("decode", long_turn())
    assert (run.said[0], len(run.said)) == ("[done]", 2)


def test_there_is_no_progress_bar_among_the_lines(on_terminal, long_turn):
    _, screen = on_terminal("decode", long_turn(), stdout_too=True)
    assert SHOWN not in screen


def test_without_rich_a_progress_bar_says_which_extra_to_install(
    on_terminal, long_turn, without_module
):
    code, screen = on_terminal("decode", long_turn(), command=without_module("rich"))
    assert screen == (
        b"ratatoskr: the command needs rich; install it with: pip install 'ratatoskr-sse[app]'\r\n"
    )
    assert code == 2


def test_without_rich_a_short_file_is_decoded(on_terminal, long_turn, without_module):
    code, _ = on_terminal("decode", long_turn(size=0), command=without_module("rich"))
    assert code == 0


# Memory


@pytest.mark.parametrize("options", [[], pytest.param(["--wire"], marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_file(long_turn, options):
    small = peak_memory("decode", *options, long_turn(4 * MIB))
    large = peak_memory("decode", *options, long_turn(32 * MIB))
    assert large < 1.5 * small


def peak_memory(*arguments):
    """The peak memory of the command, in a unit that differs between systems.

    What starts a process counts as a part of its peak, so a small one starts it.
    """
    script = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", script, sys.executable, "-m", "ratatoskr", *arguments]
    run = subprocess.run(command, capture_output=True, check=True, timeout=50)
    return int(run.stdout)
