"""httpx2 for ``ratatoskr check-decoder``. It reads a response, here a stand-in for one."""

import codecs
from collections.abc import Iterator
from typing import Any

from httpx2 import EventSource


class Response:
    """The part of ``httpx2.Response`` that is read: the type of the body and its text."""

    headers = {"content-type": "text/event-stream"}  # noqa: RUF012  # nobody changes it
    request = None

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks

    def iter_text(self) -> Iterator[str]:
        # As httpx2 does it.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        yield from map(decoder.decode, self.chunks)
        yield decoder.decode(b"", True)


class Httpx2:
    """All events come with the end, since the library pulls its bytes from the response."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def receive_data(self, chunk: bytes) -> list[Any]:
        self.chunks.append(chunk)
        return []

    def receive_eof(self) -> list[Any]:
        response: Any = Response(self.chunks)
        return list(EventSource(response))
