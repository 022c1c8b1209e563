"""The command line.

Each command is in a module of ``ratatoskr.cli.commands``. Every failure is one line on stderr and
an exit code of ``ExitCode``, never a traceback.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from ratatoskr_proto import EventStreamDecoder

from .._shown.labels import ExitCode
from .._shown.recording import RecordingError
from .._shown.visible import printable
from .console import discard_output, write_stderr
from .show_turn import run_turn as _run_turn
from .signals import ending_as_by_ctrl_c

__all__ = ["_run_turn", "cli", "main"]


_COMMANDS = ("check-decoder", "decode", "demo", "serve", "tail", "tui", "turn")


class _Commands(click.Group):
    """Imports a command only when it is asked for, so that each starts as fast as it can."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = importlib.import_module(f".commands.{name}", __package__)
        command: click.Command = getattr(module, name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a suggestion for a name that is nearly one of ours."""
        near = difflib.get_close_matches(args[0], _COMMANDS, n=1)
        if near and args[0] not in _COMMANDS:
            ctx.fail(f"No such command {args[0]!r}; did you mean {near[0]}?")
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    package_name="ratatoskr-sse",
    message=f"%(prog)s %(version)s (wire layer in {EventStreamDecoder.implementation})",
)
def cli() -> None:
    """Read Server-Sent Events: turns of a chat server, any other event stream, and recordings.

    Start with `ratatoskr demo`, which needs no network.

    \b
    Exit codes:
      0    done, or stdout was closed by its reader
      1    a decoder failed a check
      2    wrong usage, or a file that cannot be read or written
      20   there was no stream
      21   the stream ended before its terminal event
      22   the server broke the protocol
      23   the server sent an error
      130  interrupted

    Completion of commands and options, here for bash, see docs/command-line.md:

    
      eval "$(_RATATOSKR_COMPLETE=bash_source ratatoskr)"
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default the process's, and return its exit code."""
    with ending_as_by_ctrl_c():
        return _exit_code(sys.argv[1:] if arguments is None else arguments)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        try:
            return _run(arguments)
        except BaseExceptionGroup as group:
            raise _first(group) from None
    except click.exceptions.NoArgsIsHelpError as error:
        write_stderr(error.format_message())
        return ExitCode.USAGE
    except click.ClickException as error:
        write_stderr(f"ratatoskr: {printable(error.format_message())}")
        return ExitCode.USAGE
    except RecordingError as error:
        write_stderr(f"ratatoskr: {printable(str(error))}")
        return ExitCode.USAGE
    except KeyboardInterrupt:
        write_stderr("ratatoskr: interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        discard_output(sys.stdout)
        return ExitCode.DONE
    except OSError as error:
        discard_output(sys.stdout)
        write_stderr(f"ratatoskr: cannot write to stdout: {error.strerror}")
        return ExitCode.USAGE


def _first(error: BaseException) -> BaseException:
    """The first of the exceptions that task groups have put into one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _run(arguments: Sequence[str]) -> int:
    """As ``cli.main()``, without its own handling of Ctrl-C and of a closed stdout."""
    completing = os.environ.get("_RATATOSKR_COMPLETE")
    if completing:
        return shell_complete(cli, {}, "ratatoskr", "_RATATOSKR_COMPLETE", completing)
    try:
        with cli.make_context("ratatoskr", list(arguments)) as context:
            code: int = cli.invoke(context)
            return code
    except click.exceptions.Exit as end:
        return end.exit_code
