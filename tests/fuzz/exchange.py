"""``SseExchange``: any bytes of a connection give the same items for every chunking, and at most
one final error.
"""

import gzip
import zlib
from typing import Any

from support.exchanging import DONE, HEAD, TEXT, Seen, chunk, chunked, feed, with_length

from fuzz.inputs import Choices, chosen, chunkings, streams
from ratatoskr_proto import (
    Event,
    EventStreamDecoder,
    EventTooLarge,
    RatatoskrError,
    SseConnectFailed,
    SseConnectionDropped,
    TurnDecoder,
)
from ratatoskr_transports import SseExchange

REASONS = ["end of stream", "reset", "read timeout", "protocol (OSError)"]
TURN = TEXT + DONE
BYTE_BY_BYTE = 150  # heads take their time


def seeds() -> list[bytes]:
    deflate = zlib.compressobj(wbits=-15)
    responses = [
        with_length(TURN),
        with_length(TEXT, 999),
        with_length(gzip.compress(TEXT, mtime=0) + gzip.compress(DONE, mtime=0), coding="gzip"),
        with_length(zlib.compress(TURN), coding="deflate"),
        with_length(deflate.compress(TURN) + deflate.flush(), coding="deflate"),
        with_length(gzip.compress(TURN, mtime=0)[:-3], coding="gzip"),
        with_length(gzip.compress(TURN, mtime=0), coding="br"),
        chunked(TEXT, DONE, b""),
        chunked(TEXT) + b"0\r\nX-Trailer: a\r\n\r\n",
        chunked(TEXT) + b"zz\r\n",
        HEAD + b"\r\n" + TURN,
        HEAD + b"X-Long: a\r\n b\r\n\r\n" + TURN,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;a=b\r\ndata:\r\n" + chunk(b"\n\n"),
        HEAD.replace(b"1.1", b"1.0").replace(b"\r\n", b"\n") + b"\n" + TURN,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 2 + with_length(TURN),
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + TURN,
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /a?b#c\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n\r\n",
        b"HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: 4\r\n\r\nbusy",
        b"HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"busy", mtime=0),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\r\n<p>",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"SSH-2.0-x\r\n",
    ]
    responses += [chunked(*filter(None, chunks), b"") for chunks in streams()[::8]]
    return [chosen(0, place % 4, [40, 90]) + each for place, each in enumerate(responses)] + [
        chosen(limit, 0, [200]) + each for limit in (1, 41) for each in responses[::3]
    ]


def check(data: bytes) -> None:
    choices = Choices(data)
    limit = choices.byte()
    reason = REASONS[choices.byte() % len(REASONS)]
    sizes = choices.bytes()
    response = choices.rest()

    def new_decoder() -> Any:
        """For an odd limit one of any event stream, else one of a turn."""
        if limit % 2:
            return EventStreamDecoder(limit)
        return TurnDecoder(max_event_bytes=limit) if limit else TurnDecoder()

    cuts = chunkings(response, sizes, BYTE_BY_BYTE)
    results = [feed(chunks, reason, decoder=new_decoder()) for chunks in cuts]
    for other in results[1:]:
        assert told(other) == told(results[0])
    assert results[0].finished
    check_items(results[0].items, is_turn=limit % 2 == 0)
    check_over(response, reason, new_decoder())


def told(seen: Seen) -> tuple[Any, ...]:
    """What was seen, with the text of the items, since NaN in a body is not equal to itself."""
    return list(map(repr, seen.items)), *seen[1:]


def check_items(items: list[Any], is_turn: bool) -> None:
    final = (SseConnectFailed, SseConnectionDropped) if not is_turn else RatatoskrError
    assert not any(isinstance(item, final) for item in items[:-1])
    if is_turn:
        assert all(isinstance(item, Event) and not item.terminal for item in items[:-1])
        assert items  # an end without an event is an error
    for item in items:
        if isinstance(item, SseConnectFailed):
            assert items == [item]
            assert len(item.body) <= 1024
        assert not isinstance(item, EventTooLarge) or item.limit >= 1


def check_over(response: bytes, reason: str, decoder: Any) -> None:
    """An exchange that is finished takes and gives nothing, whenever it is asked."""
    exchange = SseExchange("POST", "http://127.0.0.1/", body=b"{}", decoder=decoder)
    assert exchange.bytes_to_send().startswith(b"POST / HTTP/1.1\r\n")
    exchange.receive_data(response)
    answered = exchange.status is not None or exchange.finished
    assert (exchange.bytes_to_send() == b"") is answered
    exchange.receive_eof(reason)
    status, headers = exchange.status, dict(exchange.headers)
    assert exchange.finished
    assert exchange.receive_data(b"HTTP/1.1 200 OK\r\n\r\n") == []
    assert exchange.receive_eof("reset") == []
    assert exchange.bytes_to_send() == b""
    assert (exchange.status, exchange.headers) == (status, headers)
