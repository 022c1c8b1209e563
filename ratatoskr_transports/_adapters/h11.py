"""Opening a stream over a connection of our own, the same for every async library.

The part of a library is a ``Connection`` and how to make one; ``H11Transport`` does the rest.
"""

from __future__ import annotations

import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, Unpack

from ratatoskr_proto import ReconnectPolicy, SseConnectFailed, SseId

from .._http.exchange import HttpExchange
from .._http.head import ERROR_BODY_SECONDS
from .._http.reasons import failure_of, reason_of
from .._http.request import (
    Headers,
    Request,
    check_headers,
    encode_body,
    quiet_refusals,
    resume_point,
    with_defaults,
)
from .._streams.loops import check_seconds
from .._streams.reconnect import AsyncResumption, OnWait, check_reconnect
from .._streams.sources import Lost, Opened, Refused, Source
from .._streams.streams import EventOptions, EventStream, TurnOptions, TurnStream


class Connection(Protocol):
    """A connection of an async library. Its methods raise what the library raises."""

    async def receive(self, seconds: float | None) -> bytes:
        """Return the next bytes, ``b""`` at the end; raise TimeoutError if none came in time."""
        ...

    async def send(self, data: bytes, seconds: float | None) -> None:
        """Send all the bytes; raise TimeoutError if that took longer."""
        ...

    async def aclose(self) -> None:
        """Close at once, without a word to the peer."""
        ...

    async def run_while(
        self,
        background: Callable[[], Coroutine[Any, Any, None]],
        main: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        """Run both, and cancel the one in the background when the other has returned."""
        ...


Connect = Callable[[str, int, ssl.SSLContext | None, float | None], Awaitable[Connection]]


class BodySource:
    """A body that is all that comes over a connection."""

    def __init__(self, connection: Connection, read_timeout: float | None) -> None:
        self._connection = connection
        self._read_timeout = read_timeout

    async def receive(self) -> bytes:
        """Return the next bytes of the body."""
        return await self.receive_within(None)

    async def receive_within(self, seconds: float | None) -> bytes:
        """Return the next bytes of the body; raise TimeoutError when so many seconds have passed,
        Lost when the read timeout has.
        """
        ours = seconds is None or (self._read_timeout is not None and self._read_timeout < seconds)
        try:
            return await self._connection.receive(self._read_timeout if ours else seconds)
        except TimeoutError:
            if not ours:
                raise
        raise Lost("read timeout")

    async def aclose(self) -> None:
        """Close the connection at once."""
        await self._connection.aclose()


class H11Source(BodySource):
    """The body of a response, and before it the request and the head."""

    def __init__(
        self, connection: Connection, http: HttpExchange, read_timeout: float | None
    ) -> None:
        super().__init__(connection, read_timeout)
        self._http = http
        self._body: deque[bytes] = deque()

    async def send(self) -> None:
        """Send what is left of the request, or until there is an answer."""
        while data := self._http.bytes_to_send():
            try:
                await self._connection.send(data, self._read_timeout)
            except Exception as error:
                if reason_of(error, opening=True) is None:
                    raise
                return  # a peer that takes no more may have answered all the same

    async def receive_head(self) -> None:
        """Read up to the end of the head, whatever it says, or of the connection."""
        while not self._http.answered:
            await self._read(None)

    async def exchange(self) -> None:
        """Send the request and read the head, and what is wanted of the body of a refusal."""
        if self._http.sends_much:
            # A peer may answer, and stop reading, before it has taken all.
            await self._connection.run_while(self.send, self.receive_head)
        else:
            await self.send()
            await self.receive_head()
        if self._http.refused:
            await self.receive_error_body()

    async def receive_error_body(self) -> None:
        """Read what is wanted of the body of a response that is no event stream."""
        end = time.monotonic() + ERROR_BODY_SECONDS
        while not self._http.finished:
            try:
                await self._read(max(0.0, end - time.monotonic()))
            except TimeoutError:
                self._http.receive_eof("read timeout")

    async def receive_within(self, seconds: float | None) -> bytes:
        """Return the next bytes of the body; raise TimeoutError when so many seconds have passed,
        Lost if the connection was lost.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while not self._body:
            if self._http.end == "end of stream":
                return b""
            if self._http.end is not None:
                raise Lost(self._http.end)
            await self._read(None if end is None else max(0.0, end - time.monotonic()))
        return self._body.popleft()

    async def _read(self, seconds: float | None) -> None:
        """Read once from the connection; what goes wrong is in the exchange, but for TimeoutError
        when so many seconds have passed.
        """
        try:
            data = await super().receive_within(seconds)
        except TimeoutError:
            raise
        except Lost as lost:
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


class _Opener:
    """Connects, sends the request and reads the head, when it is called. Its ``repr()`` shows
    nothing of the request.

    ``resuming`` is the request with which the stream is opened again.
    """

    def __init__(
        self,
        connect: Connect,
        request: Request,
        resuming: Request,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        if ssl_context is not None and not isinstance(ssl_context, ssl.SSLContext):
            raise TypeError(
                f"ssl_context must be an SSLContext or None, not {type(ssl_context).__name__}"
            )
        self._connect = connect
        self._http = _exchange_of(request)
        if resuming is not request:
            _exchange_of(resuming)  # raises now for what could not be asked for later
        self._resuming = resuming
        self._ssl_context = ssl_context
        self._connect_timeout = check_seconds("connect_timeout", connect_timeout)
        self._read_timeout = check_seconds("read_timeout", read_timeout)

    async def again(self, last_event_id: str) -> Opened[Source] | Refused:
        try:
            self._http = _exchange_of(self._resuming.behind(last_event_id))
        except ValueError:  # an id of the server that no header can carry
            return Refused(SseConnectFailed(None, "", "protocol"))
        return await self()

    async def __call__(self) -> Opened[Source] | Refused:
        http = self._http
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
        try:
            source = H11Source(connection, http, self._read_timeout)
            await source.exchange()
        except BaseException:
            await connection.aclose()
            raise
        if http.failure is not None:
            await connection.aclose()
            return Refused(http.failure, http.headers.get("retry-after", ""))
        return Opened(source, http.status or 0, http.headers)


def _exchange_of(request: Request) -> HttpExchange:
    return HttpExchange(request.method, request.url, request.headers, request.body)


class H11Transport:
    """The functions of an adapter, over its way to connect and its ``library``."""

    def __init__(self, connect: Connect, library: Any) -> None:
        self._connect = connect
        self._library = library

    @quiet_refusals
    def stream_turn(
        self,
        url: str,
        *,
        method: str = "POST",
        json: Any = None,
        content: str | bytes | None = None,
        headers: Headers | None = None,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        ssl_context: ssl.SSLContext | None = None,
        reconnect: ReconnectPolicy | None = None,
        on_wait: OnWait | None = None,
        resume_url: str | None = None,
        **options: Unpack[TurnOptions],
    ) -> TurnStream:
        """Start a turn; ``async with stream_turn(…) as turn`` opens it and closes it again.

        ``json`` (any JSON value) or ``content`` (str or bytes) is the body of the request;
        ``headers`` are sent beside our own. Timeouts are in seconds, None waits for ever:
        ``connect_timeout`` for DNS, TCP and TLS together, ``read_timeout`` without a byte, for each
        send too. ``ssl_context`` is by default that of ``ssl.create_default_context()``. The
        ``options`` are those of ``TurnStream``.

        With ``reconnect`` (ReconnectPolicy) a turn that is lost is resumed after its last event,
        with a GET to ``resume_url`` (str, by default ``url``). ``on_wait(error, seconds)``, a plain
        function, is called before each wait. See docs/resume.md.

        Raises TypeError or ValueError for arguments that are not such; the message repeats no
        value of a header. Entering raises SseConnectFailed if there is no stream. No redirect is
        followed. See docs/transports.md.
        """
        body, body_headers = encode_body(json, content)
        every = with_defaults(check_headers(headers), body_headers)
        check_reconnect(reconnect, on_wait=on_wait, resume_url=resume_url)
        request = Request(method, url, every, body)
        resuming = request if reconnect is None else request.resuming(resume_url)
        opener = _Opener(
            self._connect, request, resuming, connect_timeout, read_timeout, ssl_context
        )
        return TurnStream.opened_by(opener, self._resumption(reconnect, on_wait, opener), **options)

    @quiet_refusals
    def reconnect_turn(
        self,
        url: str,
        last_sse_id: SseId | str,
        *,
        method: str = "GET",
        headers: Headers | None = None,
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        ssl_context: ssl.SSLContext | None = None,
        reconnect: ReconnectPolicy | None = None,
        on_wait: OnWait | None = None,
        **options: Unpack[TurnOptions],
    ) -> TurnStream:
        """Resume a turn behind its event ``last_sse_id`` (SseId, or its text such as "93:1077").

        It is sent as ``Last-Event-ID``, and what the server sends again is dropped. With
        ``reconnect`` the method must be GET, and also the first request is sent again if that is
        worth it. All else is as in ``stream_turn``.
        """
        point = resume_point(last_sse_id)
        check_reconnect(reconnect, on_wait=on_wait, method=method)
        request = Request(method, url, check_headers(headers)).behind(str(point))
        opener = _Opener(
            self._connect, request, request, connect_timeout, read_timeout, ssl_context
        )
        resumption = self._resumption(reconnect, on_wait, opener)
        return TurnStream.opened_by(opener, resumption, resume_from=point, **options)

    @quiet_refusals
    def stream_events(
        self,
        url: str,
        *,
        method: str = "GET",
        json: Any = None,
        content: str | bytes | None = None,
        headers: Headers | None = None,
        last_event_id: str = "",
        connect_timeout: float | None = 10.0,
        read_timeout: float | None = 60.0,
        ssl_context: ssl.SSLContext | None = None,
        reconnect: ReconnectPolicy | None = None,
        on_wait: OnWait | None = None,
        **options: Unpack[EventOptions],
    ) -> EventStream:
        """Read any event stream, without the turn protocol.

        ``last_event_id`` (str) is sent as ``Last-Event-ID`` if it is not empty. The ``options`` are
        those of ``EventStream``. With ``reconnect`` the method must be GET, and the request is sent
        again whenever the stream is lost or ends, until the server answers 204. All else is as in
        ``stream_turn``.
        """
        body, body_headers = encode_body(json, content)
        every = with_defaults(check_headers(headers), body_headers)
        check_reconnect(reconnect, on_wait=on_wait, method=method)
        request = Request(method, url, every, body).behind(last_event_id)
        opener = _Opener(
            self._connect, request, request, connect_timeout, read_timeout, ssl_context
        )
        resumption = self._resumption(reconnect, on_wait, opener)
        return EventStream.opened_by(opener, resumption, last_event_id=last_event_id, **options)

    def _resumption(
        self, reconnect: ReconnectPolicy | None, on_wait: OnWait | None, opener: _Opener
    ) -> AsyncResumption | None:
        if reconnect is None:
            return None
        return AsyncResumption(reconnect, opener, self._library, on_wait=on_wait)
