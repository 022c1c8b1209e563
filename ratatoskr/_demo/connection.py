"""HTTP/1.1 over one connection, the server's side, with the ways in which a body can break off."""

from __future__ import annotations

import contextlib
import enum
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import anyio
import anyio.abc
import h11

_MAX_REQUEST = 1024 * 1024
_READ = 65536

Headers = list[tuple[str, str]]


class BodyEnd(enum.Enum):
    """How the body of a response ends."""

    WHOLE = "end of stream"
    CUT = "cut body"
    RESET = "reset"
    STALL = "stall"


class ConnectionOver(Exception):
    """The connection has to be closed: no other response can follow."""


class BadRequest(Exception):
    """A request that is answered with an error, ``status`` (int), and with these ``headers``."""

    def __init__(self, status: int, message: str, headers: Headers | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers


class Request(NamedTuple):
    """A whole request. The names of its headers are in lower case; a header that was sent more
    than once has all its values, with commas between them.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """A connection of a client: requests in, responses out."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream
        self._http = h11.Connection(h11.SERVER)
        self._without_body = False  # as the answer to HEAD

    async def receive_request(self) -> Request | None:
        """Read the next request; None if the client has left. Raises BadRequest."""
        head = await self._next_event()
        if not isinstance(head, h11.Request):
            return None
        self._without_body = head.method == b"HEAD"
        body = bytearray()
        size = 0
        while isinstance(event := await self._next_event(), h11.Data):
            size += len(event.data)
            if size <= _MAX_REQUEST:
                body += event.data
        if size > _MAX_REQUEST:  # a client that is still sending would not read the answer
            raise BadRequest(413, f"a request can have {_MAX_REQUEST} bytes at most")
        headers: dict[str, str] = {}
        for raw_name, raw_value in head.headers:
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]},{value}" if name in headers else value
        target = head.target.decode("latin-1")
        return Request(head.method.decode("latin-1"), target, headers, bytes(body))

    async def _next_event(self) -> object:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                try:
                    self._http.receive_data(await self._stream.receive(_READ))
                except anyio.EndOfStream:
                    self._http.receive_data(b"")
            return event
        except h11.RemoteProtocolError:
            raise BadRequest(400, "this is not an HTTP/1.1 request") from None

    def next_request(self) -> bool:
        """Get ready for another request; return whether there can be one."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    async def send(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole response."""
        await self.send_head(status, [*headers, ("Content-Length", str(len(body)))])
        if not self._without_body:
            await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())

    async def send_json(self, status: int, body: Any, headers: Headers | None = None) -> None:
        """Send a whole response with a JSON body; 204 and 304 have none."""
        text = b"" if status in (204, 304) else json.dumps(body).encode()
        await self.send(status, [("Content-Type", "application/json"), *(headers or [])], text)

    async def send_head(self, status: int, headers: Headers) -> None:
        """Send the head of a response; without a length its body is chunked."""
        await self._send(h11.Response(status_code=status, headers=headers))

    async def send_body(self, data: bytes) -> None:
        """Send a piece of the body."""
        await self._send(h11.Data(data=data))

    async def end_body(self, end: BodyEnd, unfinished: bytes = b"") -> None:
        """End the body; ``unfinished`` is a piece of it of which only the first half goes out.

        Raises ConnectionOver unless the body ends cleanly.
        """
        if unfinished:
            chunk = self._http.send(h11.Data(data=unfinished)) or b""
            await self._stream.send(chunk[: chunk.index(unfinished) + len(unfinished) // 2])
        if end is BodyEnd.WHOLE:
            await self._send(h11.EndOfMessage())
            return
        if end is BodyEnd.RESET:
            await self._reset()
        elif end is BodyEnd.STALL:
            await self._wait_until_left()
        raise ConnectionOver

    async def _reset(self) -> None:
        """Have the connection reset when it is closed."""
        raw = self._stream.extra(anyio.abc.SocketAttribute.raw_socket)
        # A reset would throw away the bytes that are still on their way: wait, but not for ever.
        for _ in range(100):
            if not _unsent(raw):
                break
            await anyio.sleep(0.01)
        with contextlib.suppress(OSError):  # the client was faster
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _wait_until_left(self) -> None:
        try:
            while True:
                await self._stream.receive(_READ)
        except anyio.EndOfStream:
            return

    async def _send(self, event: h11.Event) -> None:
        await self._stream.send(self._http.send(event) or b"")


def _unsent(raw: socket.socket) -> int:
    """The bytes that have not arrived at the other side; 0 if the socket is closed, or where the
    system does not tell.
    """
    try:
        import fcntl
        import termios

        answer = fcntl.ioctl(raw.fileno(), termios.TIOCOUTQ, bytes(struct.calcsize("i")))
    except (ImportError, OSError, ValueError):  # a ValueError for the -1 of a closed socket
        return 0
    (unsent,) = struct.unpack("i", answer)
    return int(unsent)
