"""What adapters of libraries share that pull their bytes, and so read a whole stream at once."""

import codecs
from collections.abc import Iterator
from typing import Any


class WholeStream:
    """Takes chunks, and gives all events with the end."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def receive_data(self, chunk: bytes) -> list[Any]:
        self.chunks.append(chunk)
        return []

    def receive_eof(self) -> list[Any]:
        return list(self.events())

    def events(self) -> Iterator[Any]:
        """The events that the library makes of the chunks."""
        raise NotImplementedError


class Response:
    """The part of a response of httpx or httpx2 that is read: the type of the body and its text."""

    headers = {"content-type": "text/event-stream"}  # noqa: RUF012  # nobody changes it
    request = None

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks

    def iter_text(self) -> Iterator[str]:
        # As both do it.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        yield from map(decoder.decode, self.chunks)
        yield decoder.decode(b"", True)
