"""One HTTP/1.1 request and its response, without I/O, over h11.

``HttpExchange`` gives the raw bytes of the body; ``SseExchange`` and the sources of the transports
are built on it.
"""

from __future__ import annotations

from collections.abc import Mapping

import h11

from ratatoskr_proto import SseConnectFailed

from .body import Inflater
from .head import MAX_ERROR_BODY, read_headers, refusal
from .request import (
    DEFAULT_HEADERS,
    Headers,
    Url,
    check_headers,
    check_method,
    with_defaults,
)

_PIECE = 64 * 1024
_MAX_HEAD = 102400
_MAX_INFORMATIONAL = 20
_BODY_METHODS = (b"POST", b"PUT", b"PATCH")


class HttpExchange:
    """Sends one request and reads its response up to the end of the body.

    ``end`` (str or None) is the reason why the body ended; ``failure`` (SseConnectFailed or
    None) says why there is no event stream. In the end one of them is set.
    """

    def __init__(
        self,
        method: str,
        url: str,
        headers: Headers | None,
        body: bytes,
        *,
        any_media_type: bool = False,
    ) -> None:
        """Raises TypeError or ValueError for invalid arguments."""
        where = Url(url)
        self.host = where.host
        self.port = where.port
        self.tls = where.tls
        self.status: int | None = None
        self.headers: Mapping[str, str] = read_headers([])
        self.failure: SseConnectFailed | None = None
        self.end: str | None = None
        self._url = where.shown
        self._any_media_type = any_media_type
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)
        self._informational = 0
        self._at_eof = False
        self._held = 0  # h11 holds no more bytes than this
        # If the response is not an event stream: why, and the start of its body.
        self._refusal: str | None = None
        self._error_body = bytearray()
        self._error_inflater = Inflater("")
        self._unsent = self._start(method, where, headers, body)
        self._body = memoryview(body)

    def _start(self, method: str, where: Url, headers: Headers | None, body: bytes) -> bytes:
        raw_method = check_method(method)
        given = check_headers(headers)
        if where.authorization is not None:
            given = with_defaults(given, [(b"authorization", where.authorization)])
        framing = [(b"host", where.host_header.encode("ascii")), (b"connection", b"close")]
        if body or raw_method.upper() in _BODY_METHODS:
            framing.append((b"content-length", str(len(body)).encode("ascii")))
        every = [*framing, *with_defaults(given, DEFAULT_HEADERS)]
        request = h11.Request(method=raw_method, target=where.target, headers=every)
        return self._connection.send(request) or b""

    @property
    def finished(self) -> bool:
        """Whether the response is over."""
        return self.end is not None or self.failure is not None

    @property
    def answered(self) -> bool:
        """Whether the head of the response is there, or will not come."""
        return self.status is not None or self.finished

    @property
    def sends_much(self) -> bool:
        """Whether the body is too large to be sent in one piece."""
        return len(self._body) > _PIECE

    @property
    def refused(self) -> bool:
        """Whether the head of the response is there and does not start an event stream."""
        return self._refusal is not None

    def bytes_to_send(self) -> bytes:
        """Return the next bytes of the request, at most about 64 KiB; ``b""`` when all are out, and
        as soon as there is an answer, which ends the sending.
        """
        if self.answered:
            return b""
        if self._unsent:
            unsent, self._unsent = self._unsent, b""
            return unsent
        if self._body:
            piece, self._body = self._body[:_PIECE], self._body[_PIECE:]
            return self._connection.send(h11.Data(data=bytes(piece))) or b""
        if self._connection.our_state is h11.SEND_BODY:
            self._connection.send(h11.EndOfMessage())  # no bytes, since the length was sent
        return b""

    def receive_data(self, data: bytes) -> list[bytes]:
        """Take bytes from the connection and return those of the body of an event stream."""
        body: list[bytes] = []
        start = 0
        while start < len(data) and not self.finished:
            # h11 only tests its limit between calls. We never pass it more than one byte beyond the
            # limit, so that the result is the same however the bytes were cut.
            if self._held + len(data) - start > _MAX_HEAD:
                self._held = len(self._connection.trailing_data[0])
            piece = data[start : start + _MAX_HEAD + 1 - self._held]
            start += len(piece)
            self._held += len(piece)
            self._connection.receive_data(piece)
            body += self._process()
        return body

    def receive_eof(self, reason: str) -> list[bytes]:
        """Take the reason why no more bytes will come, ``"end of stream"`` if the peer ended
        the connection. Not to be called once ``finished``.
        """
        self._at_eof = True
        if reason == "end of stream":
            self._connection.receive_data(b"")
            return self._process()
        self._finish(reason)
        return []

    def _process(self) -> list[bytes]:
        body: list[bytes] = []
        while not self.finished:
            try:
                event = self._connection.next_event()
            except h11.RemoteProtocolError:
                self._finish("cut body" if self._at_eof else "protocol")
                break
            if event is h11.NEED_DATA:
                break
            if isinstance(event, h11.InformationalResponse):
                self._informational += 1
                if self._informational > _MAX_INFORMATIONAL:
                    self._finish("protocol")
            elif isinstance(event, h11.Response):
                self._receive_head(event)
            elif isinstance(event, h11.Data):
                self._receive_body(bytes(event.data), body)
            else:  # the end of the message, of the connection, or of HTTP/1.1 on it
                ended = isinstance(event, h11.EndOfMessage)
                self._finish("end of stream" if ended or self._at_eof else "protocol")
        return body

    def _receive_head(self, response: h11.Response) -> None:
        self.status = response.status_code
        self.headers = read_headers(response.headers)
        self._refusal = refusal(
            self.status, self.headers, self._url, any_media_type=self._any_media_type
        )
        self._error_inflater = Inflater(self.headers.get("content-encoding", ""))
        self._body = memoryview(b"")

    def _receive_body(self, data: bytes, body: list[bytes]) -> None:
        if self._refusal is None:
            body.append(data)
            return
        self._error_body += self._error_inflater.start_of(data, MAX_ERROR_BODY)
        if len(self._error_body) >= MAX_ERROR_BODY:
            self._finish("end of stream")

    def _finish(self, reason: str) -> None:
        if self.status is None:
            # Before the head, every kind of lost connection is called closed.
            word, bracket, name = reason.partition(" (")
            if word in ("end of stream", "cut body", "reset"):
                word = "closed"
            self.failure = SseConnectFailed(None, "", word + bracket + name)
        elif self._refusal is not None:
            text = bytes(self._error_body[:MAX_ERROR_BODY]).decode("utf-8", "replace")
            self.failure = SseConnectFailed(self.status, text, self._refusal)
        else:
            self.end = reason
