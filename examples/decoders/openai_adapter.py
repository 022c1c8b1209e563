"""openai for ``ratatoskr check-decoder``: its SSE decoder, which is private there."""

from typing import Any

from openai._streaming import SSEDecoder


class OpenAI:
    """All events come with the end, since the decoder pulls its bytes from an iterator."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def receive_data(self, chunk: bytes) -> list[Any]:
        self.chunks.append(chunk)
        return []

    def receive_eof(self) -> list[Any]:
        return list(SSEDecoder().iter_bytes(iter(self.chunks)))
