"""Google's Gemini."""

from __future__ import annotations

from typing import Any

from .base import Encoder, Frame, to_json


class GeminiEncoder(Encoder):
    """Google's Gemini. Its SDK takes no lines but those of ``data``."""

    dialect = "gemini"

    def text(self, text: str) -> list[Frame]:
        return [self._chunk({"text": text})]

    def reasoning(self, text: str) -> list[Frame]:
        return [self._chunk({"text": text, "thought": True})]

    def done(self, stop_reason: str | None = None) -> list[Frame]:
        return [self._chunk({"text": ""}, finishReason=stop_reason or "STOP")]

    def error(self, message: str) -> list[Frame]:
        return [Frame(to_json(self.error_body(503, message)))]

    def _chunk(self, part: dict[str, Any], **finish: str) -> Frame:
        content = {"parts": [part], "role": "model"}
        candidate = {"content": content, **finish, "index": 0}
        id = f"answer-{self._number}"
        return Frame(
            to_json({"candidates": [candidate], "modelVersion": self._model, "responseId": id})
        )

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        names = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        name = names.get(status, "UNAVAILABLE" if status >= 500 else "FAILED_PRECONDITION")
        return {"error": {"code": status, "message": message, "status": name}}
