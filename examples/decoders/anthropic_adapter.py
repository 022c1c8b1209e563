"""anthropic for ``ratatoskr check-decoder``: the SSE decoder of the SDK, which is private there."""

from collections.abc import Iterator
from typing import Any

from anthropic._streaming import SSEDecoder
from whole_stream import WholeStream


class Anthropic(WholeStream):
    def events(self) -> Iterator[Any]:
        events: Iterator[Any] = SSEDecoder().iter_bytes(iter(self.chunks))
        return events
