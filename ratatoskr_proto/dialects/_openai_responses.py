"""OpenAI's responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._events import Done, Reasoning, ServerError, Text, Unknown
from .._sse_id import SseId
from ._dialect import Dialect
from ._reading import error_message, joined_text, stop_reason, type_name


class OpenAIResponses(Dialect[Text | Reasoning | Done | ServerError | Unknown]):
    """The type of a frame says what it is; the last one says how the response ended."""

    name = "openai-responses"

    def read(
        self, sse_id: SseId, event: str, body: Any
    ) -> Sequence[Text | Reasoning | Done | ServerError | Unknown]:
        """See docs/dialects.md."""
        match name := type_name(event, body):
            case "response.output_text.delta":
                if text := joined_text(body["delta"]):
                    return [Text(text, sse_id=sse_id, body=body)]
            case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
                if text := joined_text(body["delta"]):
                    return [Reasoning(text, sse_id=sse_id, body=body)]
            case "response.completed":
                return [Done("completed", sse_id=sse_id, body=body)]
            case "response.incomplete":
                details = (body.get("response") or {}).get("incomplete_details") or {}
                reason = stop_reason(details.get("reason")) or "incomplete"
                return [Done(reason, sse_id=sse_id, body=body)]
            case "response.failed":
                error = (body.get("response") or {}).get("error") or name
                return [ServerError(error_message(error), sse_id=sse_id, body=body)]
            case "error":
                error = body.get("error") or body
                return [ServerError(error_message(error), sse_id=sse_id, body=body)]
        return [Unknown(name, sse_id=sse_id, body=body)]


OPENAI_RESPONSES = OpenAIResponses()
