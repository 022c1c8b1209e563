"""LangGraph: the type is the field ``event:``, and the data is JSON of any kind."""

from collections.abc import Sequence
from typing import Any

from ratatoskr_proto import Done, Event, ServerError, SseId, Text, Unknown
from ratatoskr_proto.dialects import Dialect


class LangGraph(Dialect):
    name = "langgraph"

    def read(self, sse_id: SseId, event: str, body: Any) -> Sequence[Event]:
        kept = body if isinstance(body, dict) else {"data": body}
        match event.partition("|")[0], body:  # after the bar stands which part of the graph it was
            case "messages", [{"content": str(text)}, *_]:
                return [Text(text, sse_id=sse_id, body=kept)]
            case "error", {"message": str(message)}:
                return [ServerError(message, sse_id=sse_id, body=kept)]
            case "end", _:
                return [Done(sse_id=sse_id, body=kept)]
        return [Unknown(event, sse_id=sse_id, body=kept)]
