"""Sources over a connection of our own, and opening them, in the same way for every async library.

Each library brings a ``Connection`` and a way to make one.
"""

from __future__ import annotations

import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from ratatoskr_proto import SseConnectFailed

from .._http.exchange import HttpExchange
from .._http.head import ERROR_BODY_SECONDS
from .._http.reasons import failure_of, reason_of
from .._streams.arguments import check_seconds
from .._streams.sources import AsyncBody, Refused, SourceLost
from .calls import Call, Request


class Connection(Protocol):
    """A connection of an async library. Its methods raise what the library raises."""

    async def receive(self, seconds: float | None) -> bytes:
        """Return the next bytes, ``b""`` at the end; raise TimeoutError if none came in time."""
        ...

    async def send(self, data: bytes, seconds: float | None) -> None:
        """Send all the bytes; raise TimeoutError if that took longer."""
        ...

    async def aclose(self) -> None:
        """Close at once, without telling the peer."""
        ...

    async def run_while(
        self,
        background: Callable[[], Coroutine[Any, Any, None]],
        main: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        """Run both, and cancel the one in the background when the other has returned."""
        ...


Connect = Callable[[str, int, ssl.SSLContext | None, float | None], Awaitable[Connection]]


class BareSource:
    """A body that is all the bytes of a connection."""

    def __init__(self, connection: Connection, read_timeout: float | None) -> None:
        self._connection = connection
        self._read_timeout = read_timeout

    async def receive(self) -> bytes:
        """Return the next bytes of the body."""
        return await self.receive_within(None)

    async def receive_within(self, seconds: float | None) -> bytes:
        """Return the next bytes of the body; raise TimeoutError when the ``seconds`` have passed,
        SourceLost when the read timeout has.
        """
        ours = seconds is None or (self._read_timeout is not None and self._read_timeout < seconds)
        try:
            return await self._connection.receive(self._read_timeout if ours else seconds)
        except TimeoutError:
            if not ours:
                raise
        raise SourceLost("read timeout")

    async def aclose(self) -> None:
        """Close the connection at once."""
        await self._connection.aclose()


class H11Body(AsyncBody):
    """The body of a response, and before it the request and the head."""

    def __init__(
        self, connection: Connection, http: HttpExchange, read_timeout: float | None, library: Any
    ) -> None:
        self._connection = connection
        self._bytes = BareSource(connection, read_timeout)
        self._http = http
        self._read_timeout = read_timeout
        self._library = library
        self._body: deque[bytes] = deque()

    async def exchange(self) -> None:
        """Send the request and read the head, and the start of the body of a refusal."""
        with self._library.CancelScope() as scope:
            if self._http.sends_much:
                # A peer may answer, and stop reading, before it has taken all.
                await self._connection.run_while(lambda: self._send(scope), self._receive_head)
            else:
                await self._send(scope)
                await self._receive_head()
        if not self._http.answered:
            self._http.receive_eof("read timeout")
        if self._http.refused:
            await self._receive_error_body()
        self.status = self._http.status or 0
        self.headers = self._http.headers
        self.content_encoding = self.headers.get("content-encoding", "")

    async def _send(self, scope: Any) -> None:
        """Send the rest of the request, or until there is an answer. Then the whole head, which is
        read in ``scope``, has to come within the read timeout.
        """
        while data := self._http.bytes_to_send():
            try:
                await self._connection.send(data, self._read_timeout)
            except Exception as error:
                if reason_of(error, opening=True) is None:
                    raise
                break  # a peer that takes no more may have answered all the same
        if self._read_timeout is not None:
            scope.deadline = self._library.current_time() + self._read_timeout

    async def _receive_head(self) -> None:
        """Read up to the end of the head, whatever it says, or of the connection."""
        while not self._http.answered:
            await self._read(self._connection.receive(None))

    async def _receive_error_body(self) -> None:
        """Read the start of the body of a response that is not an event stream."""
        end = time.monotonic() + ERROR_BODY_SECONDS
        while not self._http.finished:
            try:
                await self._read(self._bytes.receive_within(max(0.0, end - time.monotonic())))
            except TimeoutError:
                self._http.receive_eof("read timeout")

    async def receive(self) -> bytes:
        """Return the next bytes of the body."""
        return await self.receive_within(None)

    async def receive_within(self, seconds: float | None) -> bytes:
        """Return the next bytes of the body; raise TimeoutError when the ``seconds`` have passed,
        SourceLost if the connection was lost.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while not self._body:
            if self._http.end is not None:
                raise SourceLost(self._http.end)
            left = None if end is None else max(0.0, end - time.monotonic())
            await self._read(self._bytes.receive_within(left))
        return self._body.popleft()

    async def _read(self, received: Awaitable[bytes]) -> None:
        """Hand the bytes of the connection, or its loss, to the exchange; let a TimeoutError
        through.
        """
        try:
            data = await received
        except TimeoutError:
            raise
        except SourceLost as lost:
            self._http.receive_eof(lost.reason)
        except Exception as error:
            reason = reason_of(error, opening=not self._http.answered)
            if reason is None:
                raise
            self._http.receive_eof(reason)
        else:
            if data:
                self._body += self._http.receive_data(data)
            else:
                self._body += self._http.receive_eof("end of stream")

    async def aclose(self) -> None:
        """Close the connection at once."""
        await self._connection.aclose()


class ConnectionOpener:
    """Connects, sends the requests of a call and reads the heads of their responses. Its ``repr()``
    shows nothing of the requests.
    """

    def __init__(
        self,
        connect: Connect,
        library: Any,
        call: Call,
        connect_timeout: float | None,
        read_timeout: float | None,
        ssl_context: ssl.SSLContext | None,
    ) -> None:
        """Raises TypeError or ValueError for invalid arguments."""
        if ssl_context is not None and not isinstance(ssl_context, ssl.SSLContext):
            raise TypeError(
                f"ssl_context must be an SSLContext or None, not {type(ssl_context).__name__}"
            )
        self._connect = connect
        self._library = library
        self._call = call
        self._ssl_context = ssl_context
        self._connect_timeout = check_seconds("connect_timeout", connect_timeout)
        self._read_timeout = check_seconds("read_timeout", read_timeout)
        for request in call.requests():
            self._exchange(request)

    async def open(self, last_event_id: str | None) -> AsyncBody | Refused:
        """Connect, send a request and read the head of the response."""
        request = self._call.next_request(last_event_id)
        if request is None:
            return Refused(SseConnectFailed(None, "", "protocol"))
        http = self._exchange(request)
        if http.tls and self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()
        tls = self._ssl_context if http.tls else None
        try:
            connection = await self._connect(http.host, http.port, tls, self._connect_timeout)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            return Refused(failure)
        body = H11Body(connection, http, self._read_timeout, self._library)
        try:
            await body.exchange()
        except BaseException:
            await connection.aclose()
            raise
        if http.failure is not None:
            await connection.aclose()
            return Refused(http.failure, http.headers)
        return body

    def _exchange(self, request: Request) -> HttpExchange:
        return HttpExchange(
            request.method,
            request.url,
            request.headers,
            request.body,
            any_media_type=self._call.any_media_type,
        )
