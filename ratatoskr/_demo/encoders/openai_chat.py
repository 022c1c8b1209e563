"""OpenAI's chat completions."""

from __future__ import annotations

from typing import Any

from .base import Encoder, Frame, to_json

CREATED = 1_700_000_000  # the same in every answer, so that equal requests get equal bytes


class OpenAIChatEncoder(Encoder):
    """OpenAI's chat completions."""

    dialect = "openai-chat"

    def start(self) -> list[Frame]:
        return [self._chunk({"role": "assistant", "content": ""})]

    def text(self, text: str) -> list[Frame]:
        return [self._chunk({"content": text})]

    def reasoning(self, text: str) -> list[Frame]:
        return [self._chunk({"reasoning_content": text})]

    def done(self, stop_reason: str | None = None) -> list[Frame]:
        return [self._chunk({}, stop_reason or "stop"), Frame("[DONE]")]

    def error(self, message: str) -> list[Frame]:
        return [Frame(to_json(self.error_body(500, message)))]

    def _chunk(self, delta: dict[str, str], finish_reason: str | None = None) -> Frame:
        chunk = {
            "id": f"chatcmpl-{self._number}",
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": self._model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }
        return Frame(to_json(chunk))

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}
