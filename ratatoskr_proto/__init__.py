"""Ratatoskr's state machines: Server-Sent Events without any I/O.

``EventStreamDecoder`` reads any ``text/event-stream``; ``TurnDecoder`` reads the turn of a chat
server that travels on one. Bytes go in; events and error objects come out, in order, whatever the
chunking. Only the standard library is needed.
"""

from ._decoder import EventStreamDecoder
from ._encode import encode, encode_comment, encode_event
from ._errors import (
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    ProtocolError,
    RatatoskrError,
    Reason,
    SseConnectFailed,
    SseConnectionDropped,
    TurnIdFlip,
)
from ._event_types import DEFAULT_EVENT_TYPES, EventTypes
from ._events import Done, Event, Reasoning, ServerError, Text, Unknown
from ._frames import Comment, ServerSentEvent, WireItem
from ._reconnect import GiveUp, Reconnector, ReconnectPolicy, Wait, is_retryable
from ._sse_id import SseId
from ._states import TurnState
from ._turn import TurnDecoder, TurnItem
from ._wire import DEFAULT_MAX_EVENT_BYTES

__all__ = [
    "DEFAULT_EVENT_TYPES",
    "DEFAULT_MAX_EVENT_BYTES",
    "Comment",
    "Done",
    "Event",
    "EventStreamDecoder",
    "EventTooLarge",
    "EventTypes",
    "GiveUp",
    "MalformedEnvelope",
    "MalformedSseData",
    "MalformedSseId",
    "ProtocolError",
    "RatatoskrError",
    "Reason",
    "Reasoning",
    "ReconnectPolicy",
    "Reconnector",
    "ServerError",
    "ServerSentEvent",
    "SseConnectFailed",
    "SseConnectionDropped",
    "SseId",
    "Text",
    "TurnDecoder",
    "TurnIdFlip",
    "TurnItem",
    "TurnState",
    "Unknown",
    "Wait",
    "WireItem",
    "encode",
    "encode_comment",
    "encode_event",
    "is_retryable",
]
