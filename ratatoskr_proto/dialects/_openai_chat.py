"""OpenAI's chat completions, which many servers speak, and its old completions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._events import Done, Reasoning, ServerError, Text, Unknown, new_text
from .._sse_id import SseId
from ._dialect import Complete, Dialect
from ._reading import error_message, joined_text, stop_reason, type_name


class OpenAIChat(Dialect[Text | Reasoning | Done | ServerError | Unknown]):
    """Each frame holds choices, each with a ``delta``; the answer is choice 0."""

    name = "openai-chat"
    end_marks = frozenset({"[DONE]"})
    flush_unfinished = True

    def read(
        self, sse_id: SseId, event: str, body: Any
    ) -> Sequence[Text | Reasoning | ServerError | Unknown | Complete]:
        """See docs/dialects.md."""
        if (error := body.get("error")) is not None:
            return [ServerError(error_message(error), sse_id=sse_id, body=body)]
        reasoning = text = ""
        reason = None
        for choice in body.get("choices") or ():
            if choice.get("index"):
                continue
            delta = choice.get("delta") or {}
            if thought := delta.get("reasoning_content") or delta.get("reasoning"):
                reasoning += joined_text(thought)
            content = delta.get("content")
            if content is None:
                content = choice.get("text")
            if content:  # nearly always a string, which saves the call
                text += content if isinstance(content, str) else joined_text(content)
            if finish_reason := choice.get("finish_reason"):
                reason = stop_reason(finish_reason) or reason
        found: list[Text | Reasoning | Unknown | Complete] = []
        if reasoning:
            found.append(Reasoning(reasoning, sse_id=sse_id, body=body))
        if text:
            found.append(new_text(text, sse_id, body))
        if not found:
            found.append(Unknown(type_name(event, body), sse_id=sse_id, body=body))
        if reason is not None:
            found.append(Complete(reason))
        return found


OPENAI_CHAT = OpenAIChat()
