"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._events import Done, Reasoning, ServerError, Text, Unknown
from .._sse_id import SseId
from ._dialect import Complete, Dialect
from ._reading import error_message, joined_text, stop_reason, type_name


class Anthropic(Dialect[Text | Reasoning | Done | ServerError | Unknown]):
    """A message is made of blocks, each of deltas; ``message_delta`` says why it stopped."""

    name = "anthropic"

    def read(
        self, sse_id: SseId, event: str, body: Any
    ) -> Sequence[Text | Reasoning | Done | ServerError | Unknown | Complete] | None:
        """See docs/dialects.md."""
        unknown = Unknown(name := type_name(event, body), sse_id=sse_id, body=body)
        match name:
            case "ping":
                return None
            case "content_block_delta":
                delta = body["delta"]
                if delta["type"] == "text_delta" and (text := joined_text(delta["text"])):
                    return [Text(text, sse_id=sse_id, body=body)]
                if delta["type"] == "thinking_delta" and (text := joined_text(delta["thinking"])):
                    return [Reasoning(text, sse_id=sse_id, body=body)]
            case "message_delta":
                delta = body.get("delta") or {}
                if reason := stop_reason(delta.get("stop_reason")):
                    return [unknown, Complete(reason)]
            case "message_stop":
                return [Done(sse_id=sse_id, body=body)]
            case "error":
                error = body.get("error") or body
                return [ServerError(error_message(error), sse_id=sse_id, body=body)]
        return [unknown]


ANTHROPIC = Anthropic()
