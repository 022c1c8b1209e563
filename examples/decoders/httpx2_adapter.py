"""httpx2 for ``ratatoskr check-decoder``. It reads a response, here a stand-in for one."""

from collections.abc import Iterator
from typing import Any

from httpx2 import EventSource
from whole_stream import Response, WholeStream


class Httpx2(WholeStream):
    def events(self) -> Iterator[Any]:
        response: Any = Response(self.chunks)
        return iter(EventSource(response))
