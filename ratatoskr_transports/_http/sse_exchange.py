"""The exchange for custom event loops: bytes in and out, items of a decoder, no I/O."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Generic, TypeAlias, overload

from ratatoskr_proto import (
    Done,
    RatatoskrError,
    ServerError,
    SseConnectFailed,
    SseConnectionDropped,
    Text,
    TurnDecoder,
    Unknown,
)

from .body import BodyDecoder, Decoder, ItemT
from .exchange import HttpExchange
from .request import Headers, quiet_refusals

_PIECE = 64 * 1024

Items: TypeAlias = list[ItemT | SseConnectFailed | SseConnectionDropped]


class SseExchange(Generic[ItemT]):
    """One HTTP/1.1 request for an event stream, and the stream that answers it.

    Connect to ``host`` (str) and ``port`` (int), with TLS if ``tls`` (bool) says so. Send what
    ``bytes_to_send`` returns until it returns nothing, and meanwhile hand over the bytes that come.
    The items are those of the ``decoder``, by default a new ``TurnDecoder``; if there is no stream,
    or it does not end cleanly, one SseConnectFailed or SseConnectionDropped is the last.

    However much was handed over, one call decodes at most 64 KiB of body, so that a few bytes of
    gzip cannot hold up your loop. As long as ``has_more`` (bool), take the rest with
    ``next_items``. Once ``finished`` (bool), close the connection; it serves no other request.

    ``status`` (int or None) and ``headers`` (a read-only mapping with names in lower case) are
    those of the response, once its head has come.
    """

    @overload
    def __init__(
        self: SseExchange[Text | Done | ServerError | Unknown | RatatoskrError],
        method: str,
        url: str,
        *,
        headers: Headers = ...,
        body: bytes = ...,
        decoder: None = ...,
    ) -> None: ...

    @overload
    def __init__(
        self,
        method: str,
        url: str,
        *,
        headers: Headers = ...,
        body: bytes = ...,
        decoder: Decoder[ItemT],
    ) -> None: ...

    @quiet_refusals
    def __init__(
        self,
        method: str,
        url: str,
        *,
        headers: Headers = (),
        body: bytes = b"",
        decoder: Decoder[ItemT] | None = None,
    ) -> None:
        """``url`` is http:// or https://, and its userinfo becomes an Authorization header.
        ``headers`` are sent beside our own; a str value goes out as UTF-8. ``decoder`` is anything
        with the methods and properties of ``Decoder``.

        Raises TypeError or ValueError for invalid arguments, before anything is sent. The message
        names a header, but repeats no value.
        """
        if not isinstance(body, (bytes, bytearray, memoryview)):
            raise TypeError(f"body must be bytes, not {type(body).__name__}")
        self._decoder: Decoder[ItemT] = (
            TurnDecoder() if decoder is None else decoder  # type: ignore[assignment]
        )
        if isinstance(decoder, type):
            raise TypeError(f"decoder must be made first, as {decoder.__name__}() does")
        for name in ("receive_data", "receive_eof", "over", "pending"):
            if not hasattr(self._decoder, name):
                raise TypeError(f"decoder must have {name}, see ratatoskr_transports.Decoder")
        self._http = HttpExchange(method, url, headers, bytes(body))
        self._done = False
        # The bytes that were handed over and are not parsed yet, and why no more will come.
        self._received: deque[memoryview] = deque()
        self._end: str | None = None
        # The body as it came, and the pieces that it stands for.
        self._body: BodyDecoder[ItemT] | None = None
        self._raw: deque[bytes] = deque()
        self._pieces: Iterator[bytes] = iter(())
        self._held = b""  # a piece that would have been too much for the last call

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
        return self._done or self._decoder.over

    @property
    def has_more(self) -> bool:
        """Whether ``next_items`` can continue without further bytes."""
        return not self.finished and bool(self._held or self._received)

    def bytes_to_send(self) -> bytes:
        """Return the next bytes of the request, at most about 64 KiB; ``b""`` when there are no
        more, and as soon as the response has begun, which ends the sending.
        """
        return b"" if self.finished else self._http.bytes_to_send()

    def receive_data(self, data: bytes) -> Items[ItemT]:
        """Take bytes from the connection and return the next items, as ``next_items`` does.

        An empty ``data`` is not the end; say that with ``receive_eof``. Raises TypeError if it is
        not bytes-like, and what the decoder raises.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"receive_data() takes bytes, not {type(data).__name__}")
        if self._end is None and not self.finished and len(data) > 0:
            body, small = self._body, len(data) <= _PIECE and not self.has_more
            if small and body is not None and body.plain:
                return self._receive_plain(body, bytes(data))
            self._received.append(memoryview(bytes(data)))
        return self.next_items()

    def _receive_plain(self, body: BodyDecoder[ItemT], data: bytes) -> Items[ItemT]:
        """Take a small piece of a body without a coding: most of them, so the short way for it."""
        items: Items[ItemT] = []
        for piece in self._http.receive_data(data):
            items += body.decode(piece)
            if body.over:
                return items
        return items + self._end_items() if self._http.finished else items

    def receive_eof(self, reason: str = "end of stream") -> Items[ItemT]:
        """Say that no more bytes will come and return the next items, as ``next_items`` does.

        ``reason`` (str) is ``"end of stream"`` if the peer has ended the connection, else another
        word of docs/errors.md, such as ``"reset"`` or ``"read timeout"``. It waits until all that
        came before is decoded.
        """
        if not isinstance(reason, str):
            raise TypeError(f"reason must be a str, not {type(reason).__name__}")
        if self._end is None:
            self._end = reason
        return self.next_items()

    def next_items(self) -> Items[ItemT]:
        """Decode the next 64 KiB at most of the body and return the items that they complete.

        ``[]`` means that bytes are needed, or, while ``has_more``, that these completed none.
        Raises what the decoder raises.
        """
        items: Items[ItemT] = []
        if self.finished:
            self._drop()
            return items
        try:
            for piece in self._next_pieces():
                assert self._body is not None
                items += self._body.decode(piece)
                if self._body.over:
                    break
        except zlib.error:
            items += self._finish("protocol")
        if self.finished:
            self._drop()
        elif not self.has_more:
            items += self._end_items()
        return items

    def _next_pieces(self) -> Iterator[bytes]:
        """Yield pieces of the body, at most 64 KiB in all, from at most as many received bytes."""
        pieces_left = received_left = _PIECE
        while True:
            piece = self._held or self._next_piece()
            if len(piece) > pieces_left:
                self._held = piece
                return
            self._held = b""
            if piece:
                pieces_left -= len(piece)
                yield piece
            elif self._received and received_left:
                received_left -= self._take_apart(received_left)
            else:
                return

    def _next_piece(self) -> bytes:
        """Return the next piece of the body, ``b""`` if bytes are needed."""
        while True:
            for piece in self._pieces:
                if piece:
                    return piece
            if not self._raw:
                return b""
            assert self._body is not None
            self._pieces = self._body.pieces(self._raw.popleft())

    def _take_apart(self, size: int) -> int:
        """Hand at most ``size`` of the received bytes to HTTP; return how many."""
        data = self._received.popleft()
        if len(data) > size:
            self._received.appendleft(data[size:])
        self._add(self._http.receive_data(bytes(data[:size])))
        if self._http.finished:
            self._received.clear()  # what follows a response is of no interest
        return min(size, len(data))

    def _add(self, raw: list[bytes]) -> None:
        self._raw.extend(raw)
        if self._body is None and self._http.status is not None:
            coding = self._http.headers.get("content-encoding", "")
            self._body = BodyDecoder(self._decoder, coding)

    def _end_items(self) -> Items[ItemT]:
        """The last items, if all that came is decoded and no more will come."""
        if self._end is not None and not self._http.finished:
            self._add(self._http.receive_eof(self._end))
        if self._http.failure is not None:
            self._done = True
            return [self._http.failure]
        return [] if self._http.end is None else self._finish(self._http.end)

    def _finish(self, reason: str) -> Items[ItemT]:
        assert self._body is not None
        self._done = True
        return [*self._body.finish(reason)]

    def _drop(self) -> None:
        """Drop the bytes that were handed over and are no longer needed."""
        self._received.clear()
        self._raw.clear()
        self._pieces = iter(())
        self._held = b""
