"""Cohere's chat, version 2: each frame says its type, and the last one why the answer ended."""

from collections.abc import Sequence
from typing import Any

from ratatoskr_proto import Done, Event, SseId, Text, Unknown
from ratatoskr_proto.dialects import Dialect


class Cohere(Dialect):
    name = "cohere"

    def read(self, sse_id: SseId, event: str, body: Any) -> Sequence[Event]:
        match body["type"]:
            case "content-delta":
                text = body["delta"]["message"]["content"]["text"]
                return [Text(text, sse_id=sse_id, body=body)]
            case "message-end":
                return [Done(body["delta"]["finish_reason"], sse_id=sse_id, body=body)]
        return [Unknown(body["type"], sse_id=sse_id, body=body)]
