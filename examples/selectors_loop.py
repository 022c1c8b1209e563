"""Reads a turn in an event loop of your own, here one over `selectors`. It only speaks http.

    python examples/selectors_loop.py http://127.0.0.1:8000/turns

SseExchange knows HTTP and the turn protocol; the loop only waits and carries bytes.
"""

import selectors
import socket
import sys
from collections.abc import Iterator

from show_turn import show

from ratatoskr_proto import Done, Event, RatatoskrError
from ratatoskr_transports import SseExchange

READ_TIMEOUT = 60.0  # seconds without a byte


def read_turn(url: str) -> Iterator[Event | RatatoskrError]:
    json = [("Content-Type", "application/json")]
    exchange = SseExchange("POST", url, headers=json, body=b'{"message": "Hello"}')
    if exchange.tls:
        raise SystemExit("this example speaks http only")
    try:
        connection = socket.create_connection((exchange.host, exchange.port), timeout=10.0)
    except OSError:
        yield from exchange.receive_eof("unreachable")
        return
    with connection, selectors.DefaultSelector() as selector:
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
        unsent = b""
        while not exchange.finished:
            ready = selector.select(READ_TIMEOUT)
            if not ready:
                yield from exchange.receive_eof("read timeout")
            for _, events in ready:
                try:
                    if events & selectors.EVENT_READ:
                        data = connection.recv(65536)
                        yield from exchange.receive_data(data) if data else exchange.receive_eof()
                        while exchange.has_more:
                            yield from exchange.next_items()
                    elif unsent := unsent or exchange.bytes_to_send():
                        unsent = unsent[connection.send(unsent) :]
                    else:  # all is sent
                        selector.modify(connection, selectors.EVENT_READ)
                except OSError:
                    yield from exchange.receive_eof("reset")


if __name__ == "__main__":
    for item in read_turn(sys.argv[1]):
        show(item)
    sys.exit(0 if isinstance(item, Done) else 1)
