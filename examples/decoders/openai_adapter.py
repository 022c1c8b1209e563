"""openai for ``ratatoskr check-decoder``: its SSE decoder, which is private there."""

from collections.abc import Iterator
from typing import Any

from openai._streaming import SSEDecoder
from whole_stream import WholeStream


class OpenAI(WholeStream):
    def events(self) -> Iterator[Any]:
        yield from SSEDecoder().iter_bytes(iter(self.chunks))
