"""The exchange for custom event loops: bytes in and out, items of a decoder, no I/O."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from ratatoskr_proto import TurnDecoder

from .body import BodyDecoder, Decoder
from .exchange import HttpExchange
from .request import Headers, quiet_refusals


class SseExchange:
    """One HTTP/1.1 request for an event stream, and the stream that answers it.

    Connect to ``host`` (str) and ``port`` (int), with TLS if ``tls`` (bool) says so. Send what
    ``bytes_to_send`` returns until it returns nothing, and meanwhile hand over what comes. The
    items are those of the ``decoder``, by default a new ``TurnDecoder``; if there is no stream, or
    it does not end well, one SseConnectFailed or SseConnectionDropped is the last. Once
    ``finished`` (bool), close the connection; it serves no other request.

    ``status`` (int or None) and ``headers`` (a read-only mapping with names in lower case) are
    those of the response, once its head has come.
    """

    @quiet_refusals
    def __init__(
        self,
        method: str,
        url: str,
        *,
        headers: Headers = (),
        body: bytes = b"",
        decoder: Decoder | None = None,
    ) -> None:
        """``url`` is http:// or https://, and its userinfo becomes an Authorization header.
        ``headers`` are sent beside our own; a str value goes out as UTF-8.

        Raises TypeError or ValueError for what cannot be asked for, before anything is sent. The
        message names a header, but repeats no value.
        """
        if not isinstance(body, (bytes, bytearray, memoryview)):
            raise TypeError(f"body must be bytes, not {type(body).__name__}")
        self._http = HttpExchange(method, url, headers, bytes(body))
        self._decoder = TurnDecoder() if decoder is None else decoder
        self._body: BodyDecoder | None = None
        self._broken = False  # the content coding could not be undone

    @property
    def host(self) -> str:
        """The host to connect to, and to check a certificate for: a name or an IP address."""
        return self._http.host

    @property
    def port(self) -> int:
        """The port to connect to."""
        return self._http.port

    @property
    def tls(self) -> bool:
        """Whether the connection is to be encrypted."""
        return self._http.tls

    @property
    def status(self) -> int | None:
        """The status of the response, None until its head has come."""
        return self._http.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response, names in lower case; empty until its head has come."""
        return self._http.headers

    @property
    def finished(self) -> bool:
        """Whether no further item will come out."""
        over = self._body is not None and self._body.over
        return over or self._broken or self._http.finished

    def bytes_to_send(self) -> bytes:
        """Return the next bytes of the request, at most about 64 KiB; ``b""`` when there are no
        more, and as soon as the response has begun, which ends the sending.
        """
        return b"" if self.finished else self._http.bytes_to_send()

    def receive_data(self, data: bytes) -> list[Any]:
        """Take bytes from the connection and return the items that they complete.

        An empty ``data`` is no end; say that with ``receive_eof``. Raises TypeError if it is not
        bytes-like, and what the decoder raises.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"receive_data() takes bytes, not {type(data).__name__}")
        if self.finished:
            return []
        return self._decode(self._http.receive_data(bytes(data)))

    def receive_eof(self, reason: str = "end of stream") -> list[Any]:
        """Say that no more bytes will come and return the last items.

        ``reason`` (str) is ``"end of stream"`` if the peer has ended the connection, else another
        word of docs/errors.md, such as ``"reset"`` or ``"read timeout"``.
        """
        if not isinstance(reason, str):
            raise TypeError(f"reason must be a str, not {type(reason).__name__}")
        if self.finished:
            return []
        return self._decode(self._http.receive_eof(reason))

    def _decode(self, raw: list[bytes]) -> list[Any]:
        http = self._http
        if http.failure is not None:
            return [http.failure]
        if self._body is None:
            if http.status is None:
                return []
            self._body = BodyDecoder(self._decoder, http.headers.get("content-encoding", ""))
        items: list[Any] = []
        end = http.end
        try:
            for data in raw:
                for item in self._body.items(data):
                    items.append(item)
        except zlib.error:
            self._broken = True
            end = "protocol"
        if end is not None:
            items += self._body.finish(end)
        return items
