"""The server that ``check_transport`` runs transports against: raw sockets, in threads."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable
from typing import Self

from ratatoskr_proto import encode_event


class Visit:
    """What the server and the client of one check share."""

    def __init__(self, serve: Callable[[CheckPeer], None], seconds: float) -> None:
        self.serve = serve
        self.seconds = seconds
        self.go_on = threading.Event()  # set by the client
        self.closed = threading.Event()  # set by the server: the client has closed the connection
        self.late = False  # the client did not set go_on in time
        self.request = b""


class CheckPeer:
    """The server's end of a connection. None of its methods waits for longer than ``seconds``."""

    def __init__(self, connection: socket.socket, visit: Visit) -> None:
        self._connection = connection
        self.visit = visit

    def send(self, *pieces: bytes) -> None:
        """Send each piece on its own."""
        for piece in pieces:
            self._connection.sendall(piece)

    def wait_to_go_on(self) -> None:
        """Wait until the client says so, or until its time is up."""
        self.visit.late = not self.visit.go_on.wait(self.visit.seconds)

    def wait_for_close(self) -> None:
        """Wait until the client closes the connection, or until its time is up."""
        with contextlib.suppress(ConnectionError):
            list(iter(lambda: self._connection.recv(65536), b""))
        self.visit.closed.set()

    def reset(self) -> None:
        """Close the connection with a reset instead of a proper end."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._connection.close()


class CheckServer:
    """A server on a free port of loopback. Each visit has a URL of its own."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._visits: dict[bytes, Visit] = {}
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        for each in [self._listener, *self._connections]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for visit in self._visits.values():
            visit.go_on.set()
            visit.closed.set()
        for thread in self._threads:
            thread.join(self._seconds)
        self._listener.close()

    def expect(self, serve: Callable[[CheckPeer], None]) -> tuple[str, Visit]:
        """Return the URL of a new visit, which ``serve`` is to answer."""
        path = f"/{len(self._visits)}"
        visit = self._visits[path.encode()] = Visit(serve, self._seconds)
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}{path}", visit

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the listener was shut down
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        # A client that leaves, or does not continue in time, fails by its own observations.
        with connection, contextlib.suppress(OSError):
            connection.settimeout(self._seconds)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            request = _read_request(connection)
            visit = self._visits[request.split(b" ")[1]]
            visit.request = request
            visit.serve(CheckPeer(connection, visit))


def _read_request(connection: socket.socket) -> bytes:
    """Read a request whose body has a length."""
    request = b""
    missing = 1
    while missing > 0:
        data = connection.recv(65536)
        if not data:
            raise ConnectionError
        request += data
        head, end, body = request.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        missing = length - len(body) if end else 1
    return request


# What the server sends.


def frame(seq: int, text: str, turn: int = 42) -> bytes:
    """An event with a piece of text."""
    data = json.dumps({"type": "text", "text": text}, ensure_ascii=False)
    return encode_event(data, id=f"{turn}:{seq}")


def chunk(data: bytes) -> bytes:
    """A chunk of a chunked body; the empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def head(*lines: bytes, status: bytes = b"200 OK", media: bytes = b"text/event-stream") -> bytes:
    """The head of a response, after which the connection closes."""
    every = [b"HTTP/1.1 " + status, b"Content-Type: " + media, b"Connection: close", *lines]
    return b"\r\n".join([*every, b"", b""])


ONE, TWO = frame(1, "Grüße, "), frame(2, "世界 🌍")
EMPTY = encode_event("", id="no id that could be read")
DONE = encode_event('{"type": "done"}', id="42:3")
TURN = ONE + TWO + DONE
CHUNKED = head(b"Transfer-Encoding: chunked")
LAST_CHUNK = chunk(b"")
KEEP_ALIVES = b": still here, though there is nothing to say about anything now\n" * 1024  # 64 KiB
DRIP_SECONDS = 0.01


def sends(*pieces: bytes) -> Callable[[CheckPeer], None]:
    return lambda peer: peer.send(*pieces)


def sends_bytes(data: bytes) -> Callable[[CheckPeer], None]:
    return sends(*[data[place : place + 1] for place in range(len(data))])


def sends_and_resets(peer: CheckPeer) -> None:
    peer.send(CHUNKED + chunk(ONE))
    peer.wait_to_go_on()  # a reset overtakes what was not read yet
    peer.reset()


def waits_between_events(peer: CheckPeer) -> None:
    peer.send(CHUNKED + chunk(ONE))
    peer.wait_to_go_on()
    peer.send(chunk(TWO), chunk(DONE), LAST_CHUNK)


def stays_open(peer: CheckPeer) -> None:
    peer.send(CHUNKED + chunk(ONE + TWO))
    peer.wait_for_close()


def sends_nonsense_and_stays_open(peer: CheckPeer) -> None:
    peer.send(CHUNKED + chunk(ONE + encode_event("{", id="42:2")))
    peer.wait_for_close()


def sends_keep_alives_for_ever(peer: CheckPeer) -> None:
    """As fast as the client takes them, until it leaves or its time is up."""
    peer.send(CHUNKED + chunk(ONE))
    end = time.monotonic() + peer.visit.seconds
    while time.monotonic() < end:
        peer.send(chunk(KEEP_ALIVES))


def sends_a_head_that_drips(peer: CheckPeer) -> None:
    """A byte at a time, until the client leaves or its time is up."""
    end = time.monotonic() + peer.visit.seconds
    drops = iter(b"HTTP/1.1 200 OK\r\nX-Filler: " + b"a" * 4096)
    while time.monotonic() < end and not peer.visit.closed.wait(DRIP_SECONDS):
        peer.send(bytes([next(drops)]))
    peer.send(bytes(drops) + b"\r\n" + CHUNKED.partition(b"\r\n")[2] + chunk(TURN) + LAST_CHUNK)


def gzip(*pieces: bytes) -> bytes:
    compress = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    flushed = [compress.compress(each) + compress.flush(zlib.Z_SYNC_FLUSH) for each in pieces]
    return b"".join([*flushed, compress.flush()])
