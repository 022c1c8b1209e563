"""Runs SseExchange over the bytes of a response, whole and in pieces."""

from typing import Any, NamedTuple

from ratatoskr_proto import TurnDecoder, encode_event
from ratatoskr_transports import SseExchange
from support.feeding import chunkings

URL = "http://example.test/a/turns?key=1"

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
TEXT = encode_event('{"type": "text", "text": "Grüße"}', id="42:1")
DONE = encode_event('{"type": "done"}', id="42:2")
TURN = TEXT + DONE


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; the empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def chunked(*pieces: bytes) -> bytes:
    """A response with these chunks, and without the last one."""
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(map(chunk, pieces))


def with_length(body: bytes, length: int | None = None, coding: str = "identity") -> bytes:
    """A response that tells the length of its body."""
    length = len(body) if length is None else length
    lines = f"Content-Length: {length}\r\nContent-Encoding: {coding}\r\n\r\n"
    return HEAD + lines.encode() + body


class Seen(NamedTuple):
    """All that can be seen of an exchange after a response and its end."""

    items: list[Any]
    status: int | None
    headers: dict[str, str]
    finished: bool


def feed(
    chunks: list[bytes], reason: str = "end of stream", url: str = URL, decoder: Any = None
) -> Seen:
    """What a new exchange makes of these bytes and their end."""
    exchange = SseExchange("GET", url, decoder=decoder)
    items = [item for chunk in chunks for item in exchange.receive_data(chunk)]
    items += exchange.receive_eof(reason)
    return Seen(items, exchange.status, dict(exchange.headers), exchange.finished)


def seen(
    response: bytes, reason: str = "end of stream", url: str = URL, decoder: Any = TurnDecoder
) -> Seen:
    """What an exchange makes of a response, the same for every chunking of it."""
    results = [feed(chunks, reason, url, decoder()) for chunks in chunkings(response)]
    for other in results[1:]:
        assert other == results[0]
    return results[0]
