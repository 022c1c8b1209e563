"""A server on loopback that sends exactly the bytes that a test wants, as no framework would.

    with serving(handler) as server:
        ... server.url ...

``handler(peer)`` runs in a thread of its own for each connection, with a ``Peer`` to talk to the
client. When it returns the connection is closed. A failure in it fails the test when the block is
left.
"""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator

from support.frames import chunk

TIMEOUT = 30.0  # seconds, less than the watchdog, after which a test that hangs fails

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TO_CLOSE = HEAD + b"Connection: close\r\n\r\n"


LAST_CHUNK = chunk(b"")


class Peer:
    """The server's end of one connection."""

    def __init__(self, connection: socket.socket, server: "RawServer") -> None:
        self._connection = connection
        self.server = server
        self.head = b""
        self.body = b""

    def read_head(self) -> bytes:
        """Read up to the end of the request's head; what came after it is in ``body``."""
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self._connection.recv(65536)
            if not piece:
                raise ConnectionResetError("the client has left before its head was out")
            data += piece
        self.head, _, self.body = data.partition(b"\r\n\r\n")
        return self.head

    def read_request(self) -> bytes:
        """Read the whole request and return its body."""
        self.read_head()
        length = int(self.header("content-length") or "0")
        while len(self.body) < length:
            piece = self._connection.recv(65536)
            assert piece, "the client closed the connection before its body was out"
            self.body += piece
        return self.body

    def header(self, name: str) -> str | None:
        """The value of a header of the request."""
        for line in self.head.decode("utf-8").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None

    def send(self, *pieces: bytes) -> None:
        """Send each piece in a packet of its own."""
        for piece in pieces:
            self._connection.sendall(piece)

    def send_until_refused(self, piece: bytes, times: int) -> int:
        """Send a piece again and again until the client is gone; return how often it went out."""
        for number in range(times):
            try:
                self._connection.sendall(piece)
            except OSError:
                return number
        return times

    @contextlib.contextmanager
    def speaking_tls(self, context: ssl.SSLContext) -> Iterator[None]:
        """Speak TLS from here on, and close the connection in the end."""
        with context.wrap_socket(self._connection, server_side=True) as self._connection:
            yield

    def receive_some(self) -> bytes:
        """Receive whatever comes first."""
        return self._connection.recv(65536)

    def send_past_tls(self, data: bytes) -> None:
        """Send bytes as they are in the middle of an encrypted stream."""
        socket.socket.sendall(self._connection, data)

    def wait_for_the_end(self) -> None:
        """Wait, without reading, until the test has its outcome."""
        self.server.signal.wait(TIMEOUT)

    def wait_for_close(self) -> bytes:
        """Wait until the client closes the connection; return what else it sent."""
        rest = b""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while piece := self._connection.recv(65536):
                rest += piece
        return rest

    def end(self) -> None:
        """Say that no more will come, and read on, since closing with bytes unread is a reset."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._connection, socket.SHUT_WR)
            self.wait_for_close()

    def reset(self) -> None:
        """Close with a reset instead of a proper end."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._connection.close()


class RawServer:
    """Where it listens, and what has happened."""

    def __init__(self, listener: socket.socket, tls: bool) -> None:
        self.port: int = listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/turns"
        self.connections = 0
        # For a test and its handler to wait for each other with.
        self.signal = threading.Event()

    def wait_for_signal(self) -> None:
        """Wait until the test sets ``signal``."""
        assert self.signal.wait(TIMEOUT), "the test never set the signal"


@contextlib.contextmanager
def serving(
    handler: Callable[[Peer], None], tls: ssl.SSLContext | None = None
) -> Iterator[RawServer]:
    """Run a server on a free port of 127.0.0.1; ``tls`` is the server's context."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    server = RawServer(listener, tls is not None)
    failures: list[BaseException] = []
    threads: list[threading.Thread] = []
    open_connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(TIMEOUT)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if tls is not None:
                    try:
                        connection = tls.wrap_socket(connection, server_side=True)
                    except (OSError, ssl.SSLError):
                        return  # the client did not like what it saw
                with connection:
                    open_connections.append(connection)
                    handler(Peer(connection, server))
            except BrokenPipeError:
                pass  # the client has left
            except ConnectionResetError:
                pass
            except BaseException as error:
                failures.append(error)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            thread = threading.Thread(target=serve, args=[connection], daemon=True)
            threads.append(thread)
            thread.start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield server
    finally:
        server.signal.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join(TIMEOUT)
        for connection in open_connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(TIMEOUT)
    if failures:
        raise failures[0]
