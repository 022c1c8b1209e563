"""Standard streams that are closed, full, or without a reader; progress on a terminal."""

import io
import os
import sys

import pytest

from ratatoskr.cli import console, main
from ratatoskr.cli.commands import decode as decode_command
from ratatoskr_proto import encode_event

HI = encode_event('{"type": "text", "text": "Hi"}', id="42:1")
DONE = encode_event('{"type": "done"}', id="42:2")
SAID = f"[done]\n2 events, {len(HI + DONE)} bytes read\n"


@pytest.fixture
def turn_file(tmp_path):
    file = tmp_path / "turn.sse"
    file.write_bytes(HI + DONE)
    return str(file)


@pytest.fixture
def full():
    """A device that takes nothing."""
    try:
        device = open("/dev/full", "w")  # noqa: SIM115
    except OSError:
        pytest.skip("needs /dev/full")
    with device:
        yield device


@pytest.fixture
def gone():
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as pipe:
        yield pipe


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a command with streams in place of the standard ones; gives the exit code, and the
    output on the others.
    """

    def run(*arguments, **streams):
        with monkeypatch.context() as patch:
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            code = main(arguments)
        return code, *capsys.readouterr()

    return run


# stdin


@pytest.mark.parametrize("arguments", [["decode"], ["decode", "-"]])
def test_stdin_is_read(run, arguments):
    code, out, err = run(*arguments, stdin=io.TextIOWrapper(io.BytesIO(HI + DONE)))
    assert (code, out.count("\n"), err) == (0, 2, SAID)


def test_stdin_that_is_closed_is_one_line(run):
    code, out, err = run("decode", stdin=None)
    assert (code, out, err) == (2, "", "ratatoskr: stdin is closed; name a file\n")


def test_stdin_that_is_a_terminal_is_said_to_be_read(run):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    code, _, err = run("decode", stdin=Terminal(io.BytesIO(HI + DONE)))
    first = "ratatoskr: reading a stream from the terminal; Ctrl-D ends it\n"
    assert (code, err) == (0, first + SAID)


# stdout and stderr


@pytest.mark.parametrize("arguments", [["decode", "FILE"], ["--help"], ["decode", "--help"]])
def test_stdout_without_a_reader_ends_in_silence(run, gone, turn_file, arguments):
    arguments = [turn_file if each == "FILE" else each for each in arguments]
    assert run(*arguments, stdout=gone) == (0, "", "")


def test_stdout_that_is_closed_is_no_failure(run, turn_file):
    code, _, err = run("decode", turn_file, stdout=None)
    assert (code, err) == (0, "")


def test_a_full_disk_is_one_line(run, full, turn_file):
    code, _, err = run("decode", turn_file, stdout=full)
    assert (code, err) == (2, "ratatoskr: cannot write to stdout: No space left on device\n")


def test_stderr_that_is_closed_changes_nothing_else(run, turn_file):
    code, out, _ = run("decode", turn_file, stderr=None)
    assert (code, out.count("\n")) == (0, 2)


@pytest.mark.parametrize("stderr", ["full", "gone"])
def test_stderr_that_takes_nothing_changes_nothing_else(run, turn_file, request, stderr):
    code, out, _ = run("decode", turn_file, stderr=request.getfixturevalue(stderr))
    assert (code, out.count("\n")) == (0, 2)


@pytest.mark.parametrize("write", [console.write_stdout, console.write_stdout_json])
def test_nothing_is_written_of_nothing_though_stdout_is_closed(monkeypatch, write):
    monkeypatch.setattr(sys, "stdout", None)
    write("")
    with pytest.raises(BrokenPipeError):
        write("x")


# The progress bar; tests/app/test_long_files.py has it on a real terminal


def test_a_long_file_is_read_with_a_progress_bar(run, turn_file, monkeypatch):
    monkeypatch.setattr(decode_command, "_LONG_FILE", 1)
    monkeypatch.setattr(decode_command, "is_terminal", lambda stream: stream is sys.stderr)
    code, out, err = run("decode", turn_file)
    assert (code, out.count("\n")) == (0, 2)
    assert SAID in err
