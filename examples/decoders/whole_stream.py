"""Shared by the adapters of libraries that pull their bytes, and so read a whole stream at once."""

import codecs
from collections.abc import Iterator
from typing import Any


class WholeStream:
    """Collects chunks, and returns all events at the end."""

    id_attribute = "id"  # of an event of the library: the last event id of the stream

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def receive_data(self, chunk: bytes) -> list[Any]:
        self.chunks.append(chunk)
        return []

    def receive_eof(self) -> list[Any]:
        return [(each.event, each.data, getattr(each, self.id_attribute)) for each in self.events()]

    def events(self) -> Iterator[Any]:
        """Return the library's own events for the chunks."""
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
