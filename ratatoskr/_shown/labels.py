"""The label lines and exit codes that every presenter uses.

Text from the server is shown with ``repr()``, so it can neither end its line nor command the
terminal.
"""

from __future__ import annotations

import enum

from ratatoskr_proto import (
    Done,
    Event,
    ProtocolError,
    RatatoskrError,
    ServerError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
)
from ratatoskr_transports import error_label

from .json_lines import JsonLines
from .visible import printable

_MAX_LABEL = 500
_MAX_TYPE = 64
_LINES = JsonLines()


class ExitCode(enum.IntEnum):
    """The exit codes of the command; docs/command-line.md lists them for its users."""

    DONE = 0
    USAGE = 2
    CONNECT_FAILED = 20
    DROPPED = 21
    PROTOCOL = 22
    SERVER_ERROR = 23
    INTERRUPTED = 130


def ending_label(item: Event | RatatoskrError) -> str:
    """Return the label line of an error or of a terminal event, without a line end."""
    match item:
        case RatatoskrError():
            return error_label(item)
        case ServerError(message):
            return f"[error] message={message!r}"
        case Done(stop_reason):
            return "[done]" if stop_reason is None else f"[done] stop_reason={stop_reason!r}"
    raise TypeError(f"{type(item).__name__} has no label: it ends no turn")


def last_id_label(item: Event | RatatoskrError, last_sse_id: SseId | None) -> str:
    """Return what follows the label of an ending that has no id itself: after which event it came,
    for a breach of the protocol, else nothing.
    """
    known = last_sse_id is not None and isinstance(item, ProtocolError)
    return f" last_sse_id={last_sse_id}" if known else ""


def wait_label(error: RatatoskrError, seconds: float) -> str:
    """Return the label line of the wait (seconds) after this error, before a reconnect."""
    return f"[reconnecting] seconds={seconds:.3f} {error_label(error)}"


def event_label(event: Event) -> str:
    """Return the label line of an event that is neither text nor terminal, of bounded length."""
    shown = _LINES.event(event).removesuffix("\n")
    if len(shown) > _MAX_LABEL:
        shown = shown[:_MAX_LABEL] + "…"
    return f"[{printable(event.type[:_MAX_TYPE])}] {shown}"


def exit_code(item: Event | RatatoskrError) -> ExitCode:
    """Return the exit code of a turn that ended with this error or terminal event."""
    match item:
        case SseConnectFailed():
            return ExitCode.CONNECT_FAILED
        case SseConnectionDropped():
            return ExitCode.DROPPED
        case ProtocolError():
            return ExitCode.PROTOCOL
        case ServerError():
            return ExitCode.SERVER_ERROR
    return ExitCode.DONE
