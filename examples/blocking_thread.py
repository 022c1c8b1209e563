"""Reads a turn in a thread with a blocking socket, over http or https.

    python examples/blocking_thread.py https://chat.example/turns

What the thread reads comes out of a queue, for a program that is busy with its own window.
"""

import socket
import ssl
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from show_turn import ends_turn, show

from ratatoskr_proto import Done
from ratatoskr_transports import SseExchange


def connect(exchange: SseExchange) -> socket.socket:
    connection = socket.create_connection((exchange.host, exchange.port), timeout=10.0)
    if exchange.tls:
        context = ssl.create_default_context()
        connection = context.wrap_socket(connection, server_hostname=exchange.host)
    connection.settimeout(60.0)  # for each read
    return connection


def read_turn(exchange: SseExchange, put: Callable[[list[Any]], None]) -> None:
    try:
        connection = connect(exchange)
    except OSError:
        put(exchange.receive_eof("unreachable"))
        return
    with connection:
        try:
            while data := exchange.bytes_to_send():
                connection.sendall(data)
            while not exchange.finished:
                data = connection.recv(65536)
                put(exchange.receive_data(data) if data else exchange.receive_eof())
                while exchange.has_more:
                    put(exchange.next_items())
        except TimeoutError:
            put(exchange.receive_eof("read timeout"))
        except OSError:
            put(exchange.receive_eof("reset"))


if __name__ == "__main__":
    json = [("Content-Type", "application/json")]
    exchange = SseExchange("POST", sys.argv[1], headers=json, body=b'{"message": "Hello"}')
    queue: SimpleQueue[list[Any]] = SimpleQueue()
    threading.Thread(target=read_turn, args=[exchange, queue.put], daemon=True).start()
    last = None
    while not ends_turn(last):
        for last in queue.get():
            show(last)
    sys.exit(0 if isinstance(last, Done) else 1)
