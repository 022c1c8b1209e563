"""Runs SseExchange over the bytes of a response, whole and in pieces."""

import zlib
from typing import Any, NamedTuple

from ratatoskr_proto import TurnDecoder
from ratatoskr_transports import SseExchange
from support.feeding import chunkings
from support.frames import chunk, done, text

URL = "http://example.test/a/turns?key=1"

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
TEXT = text(1, "Grüße")
DONE = done(2)
TURN = TEXT + DONE


def chunked(*pieces: bytes) -> bytes:
    """A response with these chunks, and without the last one."""
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(map(chunk, pieces))


def with_length(body: bytes, length: int | None = None, coding: str = "identity") -> bytes:
    """A response that tells the length of its body."""
    length = len(body) if length is None else length
    lines = f"Content-Length: {length}\r\nContent-Encoding: {coding}\r\n\r\n"
    return HEAD + lines.encode() + body


def gzip(*pieces: bytes, wbits: int = 16 + zlib.MAX_WBITS, end: bool = True) -> bytes:
    """The pieces, compressed and flushed after each."""
    compress = zlib.compressobj(wbits=wbits)
    out = [compress.compress(piece) + compress.flush(zlib.Z_SYNC_FLUSH) for piece in pieces]
    return b"".join(out) + (compress.flush() if end else b"")


def sent_by(method: str, url: str, **options: Any) -> bytes:
    """The whole request, as bytes."""
    exchange = SseExchange(method, url, **options)
    return b"".join(iter(exchange.bytes_to_send, b""))


class Seen(NamedTuple):
    """All that can be seen of an exchange after a response and its end."""

    items: list[Any]
    status: int | None
    headers: dict[str, str]
    finished: bool


def feed(
    chunks: list[bytes], reason: str = "end of stream", url: str = URL, decoder: Any = None
) -> Seen:
    """The result of a new exchange after these bytes and their end."""
    exchange = SseExchange("GET", url, decoder=decoder)
    items: list[Any] = []
    for each in chunks:
        items += exchange.receive_data(each)
    items += exchange.receive_eof(reason)
    while exchange.has_more:
        items += exchange.next_items()
    return Seen(items, exchange.status, dict(exchange.headers), exchange.finished)


def seen(
    response: bytes, reason: str = "end of stream", url: str = URL, decoder: Any = TurnDecoder
) -> Seen:
    """The result of a response, the same for every chunking of it."""
    results = [feed(chunks, reason, url, decoder()) for chunks in chunkings(response)]
    for other in results[1:]:
        assert other == results[0]
    return results[0]


def types_of(items: list[Any]) -> list[str]:
    """The type of each event, and the class of each other item."""
    return [getattr(item, "type", type(item).__name__) for item in items]
