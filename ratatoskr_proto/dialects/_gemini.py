"""Google's Gemini."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._events import Done, Reasoning, ServerError, Text, Unknown
from .._sse_id import SseId
from ._dialect import Complete, Dialect
from ._reading import error_message, stop_reason, type_name


class Gemini(Dialect[Text | Reasoning | Done | ServerError | Unknown]):
    """Each frame holds candidates, each of parts; the answer is the first one.

    Older servers send a ``finishReason`` with every frame, so only the end of the body ends it.
    """

    name = "gemini"
    flush_unfinished = True

    def read(
        self, sse_id: SseId, event: str, body: Any
    ) -> Sequence[Text | Reasoning | ServerError | Unknown | Complete]:
        """See docs/dialects.md."""
        if (error := body.get("error")) is not None:
            return [ServerError(error_message(error), sse_id=sse_id, body=body)]
        candidate = (body.get("candidates") or [{}])[0]
        parts = (candidate.get("content") or {}).get("parts") or ()
        texts = [(part.get("thought") is True, part.get("text") or "") for part in parts]
        found: list[Text | Reasoning | Unknown | Complete] = []
        if reasoning := "".join(text for is_thought, text in texts if is_thought):
            found.append(Reasoning(reasoning, sse_id=sse_id, body=body))
        if text := "".join(text for is_thought, text in texts if not is_thought):
            found.append(Text(text, sse_id=sse_id, body=body))
        if not found:
            found.append(Unknown(type_name(event, body), sse_id=sse_id, body=body))
        blocked = (body.get("promptFeedback") or {}).get("blockReason")
        if reason := (
            stop_reason(candidate.get("finishReason"), "FINISH_REASON_UNSPECIFIED")
            or stop_reason(blocked, "BLOCKED_REASON_UNSPECIFIED")
        ):
            found.append(Complete(reason, certain=False))
        return found


GEMINI = Gemini()
