"""Everything that an asyncio program needs to read turns over httpx.

    from ratatoskr.sse_client import stream_turn

    async with stream_turn(client, url, json={"message": "Hello"}) as turn:
        async for event in turn:
            ...

Needs ``pip install 'ratatoskr-sse[httpx]'``. The names come from ``ratatoskr_proto`` and
``ratatoskr_transports.httpx``, which have more; see docs/transports.md.
"""

from ratatoskr_proto import (
    Done,
    Event,
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    ProtocolError,
    RatatoskrError,
    ServerError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    Text,
    TurnIdFlip,
    Unknown,
)
from ratatoskr_transports.httpx import reconnect_turn, stream_turn

__all__ = [
    "Done",
    "Event",
    "EventTooLarge",
    "MalformedEnvelope",
    "MalformedSseData",
    "MalformedSseId",
    "ProtocolError",
    "RatatoskrError",
    "ServerError",
    "SseConnectFailed",
    "SseConnectionDropped",
    "SseId",
    "Text",
    "TurnIdFlip",
    "Unknown",
    "reconnect_turn",
    "stream_turn",
]
