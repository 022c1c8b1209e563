"""``ratatoskr decode``: a recorded stream to JSON Lines."""

from __future__ import annotations

import contextlib
import gc
import os
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import click

from ratatoskr_proto.dialects import TURN, Dialect

from ..._shown.json_lines import JsonLines
from ..._shown.recording import RecordedStream, RecordingError
from ..console import CommandError, colour_wanted, is_terminal, write_stderr
from ..decode import decode_turn, decode_wire
from ..dialect_options import dialect_option
from ..options import FileName, max_event_bytes_option, pretty_option, unicode_option

_LONG_FILE = 4 * 1024 * 1024  # bytes; below it a progress bar would only flash


@click.command(short_help="Turn a recorded stream into JSON Lines.")
@click.argument("file", type=FileName(), default="-")
@dialect_option
@click.option("--wire", is_flag=True, help="Read any event stream: no turn, just its frames.")
@click.option("--comments", is_flag=True, help="With --wire, print comments too.")
@click.option(
    "--event",
    "only",
    multiple=True,
    metavar="NAME",
    help="With --wire, print only the frames with this event name. May be given more than once.",
)
@click.option("--times", is_flag=True, help="Add the seconds since the first chunk of a recording.")
@unicode_option
@pretty_option
@max_event_bytes_option
def decode(
    file: str,
    dialect: Dialect[Any],
    wire: bool,
    comments: bool,
    only: tuple[str, ...],
    times: bool,
    unicode: bool,
    pretty: bool,
    max_event_bytes: int,
) -> int:
    """Turn a recorded stream into JSON Lines.

    FILE is the body of a text/event-stream, or a recording; without it, or as -, stdin is read.

    \b
    Each event of the turn becomes a line on stdout:
      {"type": "text", "sse_id": "42:1", "body": {…}, "text": "Hi"}
    With --wire each frame does, whatever its data:
      {"event": "message", "data": "Hi", "id": ""}

    Stderr and the exit code say how it ended, such as [done].

    \b
    Examples:
      ratatoskr decode turn.sse | jq -r .text
      curl -sN https://example.com/stream | ratatoskr decode --wire
    """
    if comments and not wire:
        raise click.UsageError("--comments needs --wire: a turn has events only")
    if only and not wire:
        raise click.UsageError("--event needs --wire: the events of a turn have no event name")
    if wire and dialect is not TURN:
        raise click.UsageError("--dialect says what events mean; with --wire there are only frames")
    lines = JsonLines(unicode=unicode, indented=pretty, colour=pretty and colour_wanted(sys.stdout))
    with contextlib.ExitStack() as stack:
        # Decoding makes no cycles, and looking for them takes an eighth of its time.
        if gc.isenabled():
            gc.disable()
            stack.callback(gc.enable)
        source = stack.enter_context(_open(file))
        stream = RecordedStream(stack.enter_context(_progress(source, file)))
        try:
            if times:
                stream.require_times()
            if wire:
                return decode_wire(
                    stream, max_event_bytes, lines, comments=comments, only=only, times=times
                )
            return decode_turn(stream, max_event_bytes, lines, dialect=dialect, times=times)
        except RecordingError as error:
            raise CommandError(f"{_shown(file)}: {error}") from None


@contextlib.contextmanager
def _open(file: str) -> Iterator[BinaryIO]:
    """Open a file, unbuffered, so that bytes can be read as soon as they are there."""
    if file == "-":
        if sys.stdin is None:
            raise CommandError("stdin is closed; name a file")
        if sys.stdin.isatty():
            write_stderr("ratatoskr: reading a stream from the terminal; Ctrl-D ends it")
        yield sys.stdin.buffer
        return
    try:
        opened = open(file, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise _unreadable(file, error) from None
    except ValueError:  # a null character
        raise CommandError(f"cannot read {_shown(file)}: it is not a path") from None
    with opened:
        yield opened


@contextlib.contextmanager
def _progress(source: BinaryIO, file: str) -> Iterator[Callable[[int], bytes]]:
    """Yield a function that reads from a source; on a terminal, show how far it has come."""
    # A buffered stdin would wait for all the bytes that it was asked for.
    read_some: Callable[[int], bytes] = getattr(source, "read1", source.read)

    def read(size: int) -> bytes:
        try:
            return read_some(size)
        except OSError as error:
            raise _unreadable(file, error) from None

    total = _regular_size(source)
    if total < _LONG_FILE or not is_terminal(sys.stderr) or is_terminal(sys.stdout):
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


def _unreadable(file: str, error: OSError) -> CommandError:
    return CommandError(f"cannot read {_shown(file)}: {error.strerror}")


def _shown(file: str) -> str:
    return "stdin" if file == "-" else repr(file)
