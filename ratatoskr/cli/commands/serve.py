"""``ratatoskr serve``: the demo server."""

from __future__ import annotations

import contextlib

import anyio
import click

from ..._demo.faults import FAULTS, End, Faults
from ..._shown.recording import RecordedStream, RecordingError
from ...demo_server import DEFAULT_EVENTS, DemoServer, Script
from ..console import CommandError, write_stdout
from ..options import ABOVE_0, Number

_FAULTS_HELP = "\n".join(f"      {fault.name:12} {fault.does}" for fault in FAULTS)


@click.command(
    short_help="Serve turns and faults, to test clients with.",
    help=f"""Serve turns on this machine, to try and test clients of event streams with.

    \b
    POST /turns {{"message": "Hi"}}       starts a turn
    GET /turns with Last-Event-ID       resumes it behind that frame
    GET /turns                          starts one without a message

    \b
    Faults, for every request with --fault, or for one by its query, as in
    /turns?bad-json&at=5 or /turns?fault=stall&events=20&pace=0.1:
{_FAULTS_HELP}

    \b
    Examples:
      ratatoskr serve --port 8000
      ratatoskr serve --fault drop-every=100 --events 1000
      ratatoskr serve --replay turn.jsonl --speed 10

    Ctrl-C ends it.
    """,
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port to listen on, by default a free one.",
)
@click.option("--fault", multiple=True, metavar="NAME", help="A fault to inject, see above.")
@click.option(
    "--at", type=click.IntRange(min=1), metavar="N", help="The frame at which it happens."
)
@click.option(
    "--events",
    type=click.IntRange(min=1, max=10**9),
    default=DEFAULT_EVENTS,
    show_default=True,
    metavar="N",
    help="How many frames a turn has.",
)
@click.option(
    "--pace",
    type=Number(0, 3600),
    default=0.01,
    show_default=True,
    metavar="SECONDS",
    help="The time between frames.",
)
@click.option("--replay", metavar="FILE", help="Serve a recording, or a raw .sse file, instead.")
@click.option(
    "--speed",
    type=ABOVE_0,
    default=1.0,
    show_default=True,
    metavar="X",
    help="How many times as fast to replay a recording.",
)
@click.option(
    "--chunk-size",
    type=click.IntRange(min=1),
    metavar="N",
    help="The bytes in each chunk of what is replayed, in place of the chunks of the file.",
)
def serve(
    host: str,
    port: int,
    fault: tuple[str, ...],
    at: int | None,
    events: int,
    pace: float,
    replay: str | None,
    speed: float,
    chunk_size: int | None,
) -> int:
    if not host:
        raise click.UsageError("--host needs an address; 0.0.0.0 is every one of this machine")
    try:
        faults = Faults(fault, at)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    script = Script(faults, events, pace)
    if replay is not None:
        script = _with_recording(script, replay, speed, chunk_size)
    elif chunk_size is not None:
        raise click.UsageError("--chunk-size needs --replay")
    anyio.run(_serve, script, host, port)
    return 0


async def _serve(script: Script, host: str, port: int) -> None:
    async with contextlib.AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(DemoServer(script).listening(host, port))
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or "there is no such place"
            raise CommandError(f"cannot listen on {host}, port {port}: {reason}") from None
        write_stdout(f"listening on {url}\n")
        await anyio.sleep_forever()


def _with_recording(script: Script, path: str, speed: float, chunk_size: int | None) -> Script:
    try:
        with open(path, "rb", buffering=0) as file:
            stream = RecordedStream(file.read)
            timed = [(seconds, _replayable(path, data)) for seconds, data in stream.timed_chunks()]
    except OSError as error:
        raise CommandError(f"cannot read {path!r}: {error.strerror}") from None
    except RecordingError as error:
        raise CommandError(f"{path!r}: {error}") from None
    return script._replace(
        recording=tuple((max(0.0, seconds) / speed, data) for seconds, data in timed),
        recording_end=_end(stream.end_reason),
        chunk_size=chunk_size,
    )


def _replayable(path: str, chunk: bytes | None) -> bytes:
    if chunk is None:
        raise CommandError(
            f"{path!r} was recorded over more than one connection; `decode` can read it"
        )
    return chunk


def _end(reason: str) -> End:
    """How to end a body that was recorded as having ended for this reason."""
    word = reason.partition(" (")[0]
    ends = {"end of stream": End.CLEAN, "cut body": End.CUT, "read timeout": End.STALL}
    return ends.get(word, End.RESET)
