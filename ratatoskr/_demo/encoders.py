"""Encoders: the events of one answer to the frames of a server, one encoder for each dialect.

What each official SDK needs in the frames, and no more, is written: see docs/testing-clients.md.
Decoding the frames with the dialect of the same name gives the events back.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from ratatoskr_proto import encode_comment, encode_event

_CREATED = 1_700_000_000  # the same in every answer, so that equal requests get equal bytes
_USAGE = {"input_tokens": 1, "output_tokens": 1}
# Line ends to str.splitlines(), with which google-genai reads lines; to the standard they are none.
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


class Frame(NamedTuple):
    """One frame of an event stream; None leaves a field out. ``before`` goes out before it."""

    data: str
    event: str | None = None
    id: str | None = None
    before: bytes = b""

    def encode(self) -> bytes:
        """The bytes of the frame, with the blank line that ends it."""
        return self.before + encode_event(self.data, event=self.event, id=self.id)


class Encoder(ABC):
    """Writes one answer. Call ``start`` first, and ``done`` or ``error`` last.

    ``number`` (int) tells the answers of a server apart; ``model`` (str) is the name that the
    answer gives its model.
    """

    dialect: ClassVar[str]
    keep_alive: ClassVar[bytes] = encode_comment("keep-alive") + b"\n"

    def __init__(self, number: int, model: str) -> None:
        self._number = number
        self._model = model

    def start(self) -> list[Frame]:
        """The frames before the first piece of the answer."""
        return []

    @abstractmethod
    def text(self, text: str) -> list[Frame]:
        """The frames of a piece of the answer."""

    @abstractmethod
    def reasoning(self, text: str) -> list[Frame]:
        """The frames of a piece of the model's thinking."""

    @abstractmethod
    def done(self, stop_reason: str | None = None) -> list[Frame]:
        """The frames that complete the answer. None is the usual reason of the dialect."""

    @abstractmethod
    def error(self, message: str) -> list[Frame]:
        """The frames in which the server gives the answer up."""

    @staticmethod
    @abstractmethod
    def error_body(status: int, message: str) -> Any:
        """The JSON body of a response with an error status."""


class TurnEncoder(Encoder):
    """The turn protocol. ``number`` is that of the turn; ``after`` (int) frames of it have been
    written before.
    """

    dialect = "turn"

    def __init__(self, number: int, model: str = "", after: int = 0) -> None:
        super().__init__(number, model)
        self._seq = after

    def text(self, text: str) -> list[Frame]:
        return self._frame(type="text", text=text)

    def reasoning(self, text: str) -> list[Frame]:
        return self._frame(type="reasoning", text=text)

    def done(self, stop_reason: str | None = None) -> list[Frame]:
        why = {} if stop_reason is None else {"stop_reason": stop_reason}
        return self._frame(type="done", frames=self._seq + 1, **why)

    def error(self, message: str) -> list[Frame]:
        return self._frame(type="error", message=message)

    def _frame(self, **envelope: str | int) -> list[Frame]:
        self._seq += 1
        return [Frame(_json(envelope), id=f"{self._number}:{self._seq}")]

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        return {"error": message}


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
        return [Frame(_json(self.error_body(500, message)))]

    def _chunk(self, delta: dict[str, str], finish_reason: str | None = None) -> Frame:
        chunk = {
            "id": f"chatcmpl-{self._number}",
            "object": "chat.completion.chunk",
            "created": _CREATED,
            "model": self._model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }
        return Frame(_json(chunk))

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}


class OpenAIResponsesEncoder(Encoder):
    """OpenAI's responses. The last frame has the whole answer once more."""

    dialect = "openai-responses"

    def __init__(self, number: int, model: str) -> None:
        super().__init__(number, model)
        self._sequence_number = -1
        self._output: list[dict[str, Any]] = []  # the items, the last one perhaps unfinished
        self._text: list[str] = []  # of the last item

    def start(self) -> list[Frame]:
        return [self._frame("response.created", response=self._response("in_progress"))]

    def text(self, text: str) -> list[Frame]:
        frames = self._item("message")
        self._text.append(text)
        return [*frames, self._part("response.output_text.delta", delta=text)]

    def reasoning(self, text: str) -> list[Frame]:
        frames = self._item("reasoning")
        self._text.append(text)
        return [*frames, self._part("response.reasoning_text.delta", delta=text)]

    def done(self, stop_reason: str | None = None) -> list[Frame]:
        frames = [*self._item("message"), *self._item_done()]
        if stop_reason in (None, "completed"):
            completed = self._response("completed")
            return [*frames, self._frame("response.completed", response=completed)]
        response = self._response("incomplete")
        response["incomplete_details"] = {"reason": stop_reason}
        return [*frames, self._frame("response.incomplete", response=response)]

    def error(self, message: str) -> list[Frame]:
        return [self._frame("error", code="server_error", message=message, param=None)]

    def _item(self, kind: str) -> list[Frame]:
        """The frames that begin an item of this kind, if the last one is of another kind."""
        if self._output and self._output[-1]["type"] == kind:
            return []
        frames = self._item_done()
        index = len(self._output)
        item: dict[str, Any] = {
            "type": kind,
            "id": f"{kind}-{self._number}-{index}",
            "status": "in_progress",
        }
        item["content"] = []
        if kind == "message":
            item["role"] = "assistant"
        else:
            item["summary"] = []
        self._output.append(item)
        frames.append(self._frame("response.output_item.added", output_index=index, item=item))
        if kind == "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            frames.append(self._part("response.content_part.added", part=part))
        return frames

    def _item_done(self) -> list[Frame]:
        """The frames that end the last item, if there is one."""
        if not self._output:
            return []
        item = self._output[-1]
        text = "".join(self._text)
        self._text.clear()
        if item["type"] == "message":
            part = {"type": "output_text", "text": text, "annotations": []}
            frames = [
                self._part("response.output_text.done", text=text),
                self._part("response.content_part.done", part=part),
            ]
        else:
            part = {"type": "reasoning_text", "text": text}
            frames = [self._part("response.reasoning_text.done", text=text)]
        item |= {"status": "completed", "content": [part]}
        index = len(self._output) - 1
        return [*frames, self._frame("response.output_item.done", output_index=index, item=item)]

    def _part(self, type: str, **fields: Any) -> Frame:
        index = len(self._output) - 1
        where = {"item_id": self._output[-1]["id"], "output_index": index, "content_index": 0}
        return self._frame(type, **where, **fields)

    def _response(self, status: str) -> dict[str, Any]:
        return {
            "id": f"resp-{self._number}",
            "object": "response",
            "created_at": _CREATED,
            "model": self._model,
            "status": status,
            "output": self._output,
        }

    def _frame(self, type: str, **fields: Any) -> Frame:
        self._sequence_number += 1
        body = {"type": type, "sequence_number": self._sequence_number, **fields}
        return Frame(_json(body), event=type)

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        return OpenAIChatEncoder.error_body(status, message)


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
        return [Frame(_json(self.error_body(503, message)))]

    def _chunk(self, part: dict[str, Any], **finish: str) -> Frame:
        content = {"parts": [part], "role": "model"}
        candidate = {"content": content, **finish, "index": 0}
        id = f"answer-{self._number}"
        return Frame(
            _json({"candidates": [candidate], "modelVersion": self._model, "responseId": id})
        )

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        names = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        name = names.get(status, "UNAVAILABLE" if status >= 500 else "FAILED_PRECONDITION")
        return {"error": {"code": status, "message": message, "status": name}}


ENCODERS: dict[str, type[Encoder]] = {
    encoder.dialect: encoder
    for encoder in (
        TurnEncoder,
        OpenAIChatEncoder,
        OpenAIResponsesEncoder,
        AnthropicEncoder,
        GeminiEncoder,
    )
}


def _named(type: str, **fields: Any) -> Frame:
    return Frame(_json({"type": type, **fields}), event=type)


def _json(body: Any) -> str:
    """The JSON of a body on one line, in the script that it is written in."""
    text = json.dumps(body, ensure_ascii=False)
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text)
