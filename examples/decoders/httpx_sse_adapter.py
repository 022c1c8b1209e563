"""httpx-sse for ``ratatoskr check-decoder``. It reads a response, here a stand-in for one."""

from collections.abc import Iterator
from typing import Any

from httpx_sse import EventSource
from whole_stream import Response, WholeStream


class HttpxSse(WholeStream):
    def events(self) -> Iterator[Any]:
        response: Any = Response(self.chunks)
        return EventSource(response).iter_sse()
