"""``ratatoskr serve``: the demo server."""

from __future__ import annotations

import contextlib
from typing import Any

import anyio
import click

from ..._demo.answers import Answer
from ..._demo.encoders import ENCODERS
from ..._demo.faults import FAULTS
from ..._demo.script import LARGEST_EVENTS, LARGEST_PACE
from ...demo_server import DEFAULT_EVENTS, PATHS, DemoServer, Faults, Recording, Script
from ..console import CommandError, write_stdout
from ..options import ABOVE_0, FileName, Number

_PACE = 0.01  # seconds between frames: pleasant to read along
_FAULTS_HELP = "\n".join(f"      {fault.shown:14} {fault.does}" for fault in FAULTS)


@click.command(
    short_help="Serve answers and faults, to test clients with.",
    help=f"""Serve answers on this machine, to test clients of event streams with.

    \b
    POST /turns {{"message": "Hi"}}       starts a turn
    GET /turns with Last-Event-ID       resumes it after that frame
    GET /turns                          starts one without a message

    The SDKs of OpenAI, Anthropic and Google read it as their own server: its first lines are the
    URLs to give them.

    \b
    Faults, with --fault for every request. One request asks for its own by a
    header, X-Fault: ends-early,at=5, or by its query, /turns?fault=stall&at=5:
{_FAULTS_HELP}

    \b
    With commas after a fault:
      at=N           at the frame N, by default in the middle of the answer
      times=N        only to the first N requests that ask for exactly this
      id=WORD        nothing by itself: it makes the value unique, for times

    \b
    Examples:
      ratatoskr serve --port 8000
      ratatoskr serve --port 8000 --fault ends-early --text "All is well."
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
@click.option(
    "--fault", multiple=True, metavar="NAME", help="A fault to inject, or several with commas."
)
@click.option(
    "--at",
    type=click.IntRange(min=1),
    metavar="N",
    help="The frame at which it happens, by default in the middle.",
)
@click.option(
    "--events",
    type=click.IntRange(min=1, max=LARGEST_EVENTS),
    metavar="N",
    help=f"How many frames an answer has.  [default: {DEFAULT_EVENTS}]",
)
@click.option(
    "--pace",
    type=Number(0, LARGEST_PACE),
    metavar="SECONDS",
    help=f"The time between frames.  [default: {_PACE}]",
)
@click.option("--text", metavar="TEXT", help="The text of every answer.")
@click.option("--reasoning", metavar="TEXT", help="What the model thinks before each answer.")
@click.option("--model", metavar="NAME", help="Refuse requests for another model, or for none.")
@click.option(
    "--replay",
    type=FileName(),
    metavar="FILE",
    help="Serve a recording, or a raw .sse file, instead.",
)
@click.option(
    "--speed",
    type=ABOVE_0,
    metavar="X",
    help="How many times as fast to replay a recording.  [default: 1]",
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
    replay: str | None,
    speed: float | None,
    chunk_size: int | None,
    **answer: Any,
) -> int:
    if not host:
        raise click.UsageError("--host needs an address; 0.0.0.0 is every one of this machine")
    if replay is None:
        _refuse("needs --replay", speed=speed, chunk_size=chunk_size)
        script = _script(fault, at, answer)
    else:
        _refuse("does not go with --replay", fault=fault or None, at=at, **answer)
        script = Script(recording=_read_recording(replay, speed or 1.0, chunk_size))
    anyio.run(_serve, script, host, port)
    return 0


def _refuse(why: str, **options: Any) -> None:
    """Refuse options that were given and would do nothing."""
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}")


def _script(fault: tuple[str, ...], at: int | None, answer: dict[str, Any]) -> Script:
    if at is not None:
        fault = (*fault, f"at={at}")
    given = {name: value for name, value in answer.items() if value is not None}
    try:
        faults = Faults(fault)
        options: dict[str, Any] = {"pace": _PACE} | given
        script = Script(faults, **options)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if faults.at is not None:
        if not faults.happen_at_a_frame:
            raise click.UsageError("--at needs a fault that happens at a frame")
        last = max(Answer(dialect, 0, "", script.prompt("")).frames for dialect in ENCODERS)
        if faults.at > last:
            raise click.UsageError(
                f"--at {faults.at} is after the end: an answer has {last} frames"
            )
    return script


async def _serve(script: Script, host: str, port: int) -> None:
    async with contextlib.AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(DemoServer(script).listening(host, port))
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or "there is no such address"
            raise CommandError(f"cannot listen on {host}, port {port}: {reason}") from None
        write_stdout(
            f"listening on {url}{PATHS['turn']}\n"
            f"OPENAI_BASE_URL={url}/v1\n"
            f"ANTHROPIC_BASE_URL={url}\n"
            f"GOOGLE_GEMINI_BASE_URL={url}\n"
        )
        await anyio.sleep_forever()


def _read_recording(path: str, speed: float, chunk_size: int | None) -> Recording:
    if "\0" in path:
        raise CommandError(f"cannot read {path!r}: it is not a path")
    try:
        return Recording.read(path, speed, chunk_size)
    except OSError as error:
        raise CommandError(f"cannot read {path!r}: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(str(error)) from None
