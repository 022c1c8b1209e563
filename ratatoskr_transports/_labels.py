"""The label line of an error: what is logged of it and what the presenters show.

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


def error_label(error: RatatoskrError) -> str:
    """Return the label line of an error, without a line end."""
    match error:
        case MalformedSseData(raw):
            return f"[malformed_sse_data] raw={raw!r}"
        case MalformedSseId(raw):
            return f"[malformed_sse_id] raw={raw!r}"
        case MalformedEnvelope(raw):
            return f"[malformed_envelope] raw={raw!r}"
        case TurnIdFlip(expected, got):
            return f"[turn_id_flip] expected={expected} got={got}"
        case EventTooLarge(limit):
            return f"[event_too_large] limit={limit}"
        case SseConnectionDropped(last_sse_id, reason):
            return f"[connection_dropped] last_sse_id={last_sse_id} reason={reason!r}"
        case SseConnectFailed(status, body, reason):
            return f"[connect_failed] status={status} reason={reason!r} body={body!r}"
    raise TypeError(f"{type(error).__name__} has no label")
