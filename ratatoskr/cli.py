"""The command line.

Here are the options, the files and the terminal; what a command does with them is in a module of
its own. Every failure is one line on stderr and an exit code of ``ExitCode``, never a traceback.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TextIO

import click

from ._decode import decode_turn, decode_wire
from ._labels import ExitCode
from ._recording import RecordedStream, RecordingError

_LONG_FILE = 4 * 1024 * 1024  # bytes; below it a progress bar would only flash


class _Failure(click.ClickException):
    """Something outside the program failed: a file, a recording."""

    exit_code = ExitCode.USAGE


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ratatoskr")
def cli() -> None:
    """Read Server-Sent Events: recorded streams, as JSON Lines.

    \b
    Exit codes:
      0    done, or stdout was closed by its reader
      2    wrong usage, or a file that cannot be read
      21   the stream ended before its terminal event
      22   the server broke the protocol
      23   the server sent an error
      130  interrupted
    """


@cli.command()
@click.argument("file", type=click.Path(allow_dash=True), default="-")
@click.option("--wire", is_flag=True, help="Read any event stream: no turn, just its frames.")
@click.option("--comments", is_flag=True, help="With --wire, print comments too.")
@click.option(
    "--max-event-bytes",
    type=click.IntRange(min=1),
    default=16 * 1024 * 1024,
    show_default=True,
    metavar="N",
    help="The size from which on an event is an error.",
)
def decode(file: str, wire: bool, comments: bool, max_event_bytes: int) -> int:
    """Turn a recorded stream into JSON Lines.

    FILE is the body of a text/event-stream, or a recording; without it, or as -, stdin is read.

    \b
    Each event of the turn becomes a line on stdout:
      {"type": "text", "sse_id": "42:1", "body": {"type": "text", "text": "Hi"}}
    With --wire each frame does, whatever its data:
      {"event": "message", "data": "Hi", "id": ""}

    How it ended is said on stderr, such as [done], and by the exit code.

    \b
    Examples:
      ratatoskr decode turn.sse | jq -r .body.text
      curl -sN https://example.com/stream | ratatoskr decode --wire
    """
    if comments and not wire:
        raise click.UsageError("--comments needs --wire: a turn has events only")
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(_open(file))
        stream = RecordedStream(stack.enter_context(_progress(source, file)))
        try:
            if wire:
                return decode_wire(stream, max_event_bytes, comments, _write, _say)
            return decode_turn(stream, max_event_bytes, _write, _say)
        except RecordingError as error:
            raise _Failure(f"{_shown(file)}: {error}") from None


@contextlib.contextmanager
def _open(file: str) -> Iterator[BinaryIO]:
    """Open a file, unbuffered, so that what is there can be read without waiting for more."""
    if file == "-":
        if sys.stdin is None:
            raise _Failure("stdin is closed; name a file")
        if sys.stdin.isatty():
            _say("ratatoskr: reading a stream from the terminal; Ctrl-D ends it")
        yield sys.stdin.buffer
        return
    try:
        opened = open(file, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise _unreadable(file, error) from None
    with opened:
        yield opened


@contextlib.contextmanager
def _progress(source: BinaryIO, file: str) -> Iterator[Callable[[int], bytes]]:
    """Give the function that reads from a source, and show on a terminal how far it has come."""
    # A buffered stdin would wait for all the bytes that it was asked for.
    read_some: Callable[[int], bytes] = getattr(source, "read1", source.read)

    def read(size: int) -> bytes:
        try:
            return read_some(size)
        except OSError as error:
            raise _unreadable(file, error) from None

    total = _regular_size(source)
    if total < _LONG_FILE or not _is_terminal(sys.stderr) or _is_terminal(sys.stdout):
        yield read
        return

    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    # While the bar is there, rich prints the labels too, and would wrap them.
    console = Console(stderr=True, soft_wrap=True)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)

        def read_and_show(size: int) -> bytes:
            chunk = read(size)
            bar.advance(task, len(chunk))
            return chunk

        yield read_and_show


def _regular_size(source: BinaryIO) -> int:
    """The size of a regular file in bytes, 0 for everything else."""
    try:
        status = os.fstat(source.fileno())
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _unreadable(file: str, error: OSError) -> _Failure:
    return _Failure(f"cannot read {_shown(file)}: {error.strerror}")


def _shown(file: str) -> str:
    return "stdin" if file == "-" else repr(file)


def _write(text: str) -> None:
    """Write ASCII text to stdout at once, whatever the encoding of the terminal."""
    if text:
        if sys.stdout is None:
            raise BrokenPipeError
        sys.stdout.buffer.write(text.encode("ascii"))
        sys.stdout.buffer.flush()


def _say(line: str) -> None:
    """Write a line to stderr; if nobody listens there, the exit code still tells."""
    if sys.stderr is not None:
        try:
            print(line, file=sys.stderr, flush=True)
        except OSError:
            _abandon(sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default the process's, and return its exit code."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except click.exceptions.NoArgsIsHelpError as error:
        _say(error.format_message())
        return ExitCode.USAGE
    except click.ClickException as error:
        _say(f"ratatoskr: {_printable(error.format_message())}")
        return ExitCode.USAGE
    except KeyboardInterrupt:
        _say("ratatoskr: interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _abandon(sys.stdout)
        return ExitCode.DONE
    except OSError as error:
        _abandon(sys.stdout)
        _say(f"ratatoskr: cannot write to stdout: {error.strerror}")
        return ExitCode.USAGE


def _run(arguments: Sequence[str]) -> int:
    """Like ``cli.main()``, which has its own way with Ctrl-C and with a closed stdout."""
    try:
        with cli.make_context("ratatoskr", list(arguments)) as context:
            code: int = cli.invoke(context)
            return code
    except click.exceptions.Exit as end:
        return end.exit_code


def _printable(text: str) -> str:
    """Show what could command the terminal, or end the line, as ``repr()`` does."""
    return "".join([char if char.isprintable() else repr(char)[1:-1] for char in text])


def _abandon(stream: TextIO | None) -> None:
    """Let the interpreter flush a stream into nothing when it ends, and not fail once more."""
    if stream is not None:
        with contextlib.suppress(OSError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
