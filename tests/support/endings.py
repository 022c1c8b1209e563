"""Every end that a turn can have, with its exit code and its label: the one table of them all."""

from ratatoskr_proto import (
    Done,
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    ServerError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    TurnIdFlip,
)

ID = SseId(42, 3)

ENDS = [
    (MalformedSseData("{"), 22, "[malformed_sse_data] raw='{'"),
    (MalformedSseId("x"), 22, "[malformed_sse_id] raw='x'"),
    (MalformedEnvelope("[]"), 22, "[malformed_envelope] raw='[]'"),
    (TurnIdFlip(42, 43), 22, "[turn_id_flip] expected=42 got=43"),
    (EventTooLarge(100), 22, "[event_too_large] limit=100"),
    (SseConnectionDropped(ID, "reset"), 21, "[connection_dropped] last_sse_id=42:3 reason='reset'"),
    (
        SseConnectionDropped(None, "reset"),
        21,
        "[connection_dropped] last_sse_id=None reason='reset'",
    ),
    (
        SseConnectFailed(503, "busy", "status"),
        20,
        "[connect_failed] status=503 reason='status' body='busy'",
    ),
    (
        SseConnectFailed(None, "", "refused"),
        20,
        "[connect_failed] status=None reason='refused' body=''",
    ),
    (ServerError("no", sse_id=ID, body={}), 23, "[error] message='no'"),
    (Done(sse_id=ID, body={}), 0, "[done]"),
]
IDS = [f"{type(end).__name__}-{index}" for index, (end, _, _) in enumerate(ENDS)]
