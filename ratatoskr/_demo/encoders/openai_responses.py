"""OpenAI's responses."""

from __future__ import annotations

from typing import Any

from .base import Encoder, Frame, to_json
from .openai_chat import CREATED, OpenAIChatEncoder


class OpenAIResponsesEncoder(Encoder):
    """OpenAI's responses. The last frame repeats the whole answer."""

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
            "created_at": CREATED,
            "model": self._model,
            "status": status,
            "output": self._output,
        }

    def _frame(self, type: str, **fields: Any) -> Frame:
        self._sequence_number += 1
        body = {"type": type, "sequence_number": self._sequence_number, **fields}
        return Frame(to_json(body), event=type)

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        return OpenAIChatEncoder.error_body(status, message)
