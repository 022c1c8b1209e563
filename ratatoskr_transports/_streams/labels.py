"""The label line of an error: it is logged, and the presenters show it.

Text from the server is written with ``repr()``, so it can neither end its line nor command a
terminal. docs/command-line.md lists the labels.
"""

from __future__ import annotations

from ratatoskr_proto import (
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    RatatoskrError,
    SseConnectFailed,
    SseConnectionDropped,
    TurnIdFlip,
)

# The name of each error and the fields that are shown, in this order.
_LABELS: dict[type[RatatoskrError], tuple[str, ...]] = {
    MalformedSseData: ("malformed_sse_data", "raw"),
    MalformedSseId: ("malformed_sse_id", "raw"),
    MalformedEnvelope: ("malformed_envelope", "raw"),
    TurnIdFlip: ("turn_id_flip", "expected", "got"),
    EventTooLarge: ("event_too_large", "limit"),
    SseConnectionDropped: ("connection_dropped", "last_sse_id", "reason"),
    SseConnectFailed: ("connect_failed", "status", "reason", "body"),
}


def error_label(error: RatatoskrError) -> str:
    """Return the label line of an error, without a line end.

    Raises TypeError for an error of another class than those of ``ratatoskr_proto``.
    """
    if type(error) not in _LABELS:
        raise TypeError(f"{type(error).__name__} has no label")
    name, *fields = _LABELS[type(error)]
    shown = [f"{field}={_shown(getattr(error, field))}" for field in fields]
    return f"[{name}] {' '.join(shown)}"


def reconnect_label(seconds: float, error: RatatoskrError) -> str:
    """Return the line for another try after this error, in this many seconds."""
    return f"[reconnecting] seconds={seconds:.3f} {error_label(error)}"


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)
