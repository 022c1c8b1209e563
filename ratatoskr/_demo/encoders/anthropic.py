"""Anthropic's messages."""

from __future__ import annotations

from typing import Any

from ratatoskr_proto import encode_event

from .base import Encoder, Frame, to_json

_USAGE = {"input_tokens": 1, "output_tokens": 1}


class AnthropicEncoder(Encoder):
    """Anthropic's messages."""

    dialect = "anthropic"
    keep_alive = encode_event('{"type": "ping"}', event="ping")

    def __init__(self, number: int, model: str) -> None:
        super().__init__(number, model)
        self._index = -1  # of the content block that is open
        self._kind = ""  # of that block

    def start(self) -> list[Frame]:
        message: dict[str, Any] = {
            "id": f"msg-{self._number}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _USAGE,
        }
        return [_named("message_start", message=message)]

    def text(self, text: str) -> list[Frame]:
        return [*self._block("text"), self._delta(type="text_delta", text=text)]

    def reasoning(self, text: str) -> list[Frame]:
        return [*self._block("thinking"), self._delta(type="thinking_delta", thinking=text)]

    def done(self, stop_reason: str | None = None) -> list[Frame]:
        delta = {"stop_reason": stop_reason or "end_turn", "stop_sequence": None}
        return [
            *self._block("text"),
            *self._block_stop(),
            _named("message_delta", delta=delta, usage=_USAGE),
            _named("message_stop"),
        ]

    def error(self, message: str) -> list[Frame]:
        return [_named("error", error={"type": "overloaded_error", "message": message})]

    def _block(self, kind: str) -> list[Frame]:
        """The frames that open a block of this kind, if the open one is of another kind."""
        if kind == self._kind:
            return []
        frames = self._block_stop()
        self._index += 1
        self._kind = kind
        block = {"type": kind, kind: ""} | ({"signature": ""} if kind == "thinking" else {})
        start = _named("content_block_start", index=self._index, content_block=block)
        return [*frames, start]

    def _block_stop(self) -> list[Frame]:
        return [_named("content_block_stop", index=self._index)] if self._kind else []

    def _delta(self, **delta: str) -> Frame:
        return _named("content_block_delta", index=self._index, delta=delta)

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        kinds = {404: "not_found_error", 429: "rate_limit_error", 503: "overloaded_error"}
        kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


def _named(type: str, **fields: Any) -> Frame:
    return Frame(to_json({"type": type, **fields}), event=type)
