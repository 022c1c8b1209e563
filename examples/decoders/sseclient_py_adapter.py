"""sseclient-py for ``ratatoskr check-decoder``."""

from typing import Any

from sseclient import SSEClient


class SseclientPy:
    """All events come with the end, since the library pulls its bytes from an iterator."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def receive_data(self, chunk: bytes) -> list[Any]:
        self.chunks.append(chunk)
        return []

    def receive_eof(self) -> list[Any]:
        return list(SSEClient(iter(self.chunks)).events())
