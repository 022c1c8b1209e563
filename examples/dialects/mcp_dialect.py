"""MCP over streamable HTTP: JSON-RPC messages, until the response to the client's own request."""

from collections.abc import Sequence
from typing import Any

from ratatoskr_proto import Done, Event, ServerError, SseId, Unknown
from ratatoskr_proto.dialects import Dialect


class Mcp(Dialect):
    name = "mcp"

    def __init__(self, request_id: int | str) -> None:
        self.request_id = request_id

    def read(self, sse_id: SseId, event: str, body: Any) -> Sequence[Event]:
        if "method" not in body and body["id"] == self.request_id:
            if "error" in body:
                return [ServerError(body["error"]["message"], sse_id=sse_id, body=body)]
            return [Done(sse_id=sse_id, body=body)]  # the result is body["result"]
        # A notification or a request of the server, or the response to another request.
        return [Unknown(body.get("method", "response"), sse_id=sse_id, body=body)]
