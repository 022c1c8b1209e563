"""Decodes a body piece by piece, and undoes its content coding.

The coding is undone here, and not by an HTTP library, since a few bytes of gzip can stand for a
very large body. A piece is at most 64 KiB, and the next one is only made when it is asked for.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ratatoskr_proto import RatatoskrError, SseConnectionDropped

_PIECE = 65536
_UNDONE = ("", "gzip", "x-gzip", "deflate")
# The other codings of the registry of HTTP. Bytes in one of these must not pass unchanged.
_NOT_UNDONE = "aes128gcm br compress dcb dcz exi pack200-gzip x-compress zstd"
_CODINGS = frozenset([*_UNDONE, *_NOT_UNDONE.split()]) - {""}
_GZIP = 16 + zlib.MAX_WBITS
_END_OF_STREAM = "end of stream"


if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    from ratatoskr_proto import TurnItem

    ItemT = TypeVarWithDefault("ItemT", default=TurnItem, covariant=True)
else:  # before Python 3.13 a TypeVar has no default
    ItemT = TypeVar("ItemT")
ItemT_co = TypeVar("ItemT_co", covariant=True)


class Decoder(Protocol[ItemT_co]):
    """Turns a body into items: a ``TurnDecoder``, an ``EventStreamDecoder``, or your own."""

    def receive_data(self, chunk: bytes, /) -> Sequence[ItemT_co]:
        """Take the next bytes of the body and return the items that they complete."""
        ...

    def receive_eof(self, reason: str, /) -> Sequence[ItemT_co]:
        """Take the reason why the body ended and return the last items.

        ``reason`` is ``"end of stream"`` or another word of docs/errors.md.
        """
        ...

    @property
    def over(self) -> bool:
        """Whether no more items will come out, so that the rest of the body need not be read."""
        ...

    @property
    def pending(self) -> bool:
        """Whether bytes of an unfinished event are held."""
        ...


def can_undo(content_encoding: str) -> bool:
    """Whether a ``Content-Encoding`` is one that can be undone."""
    return _coding(content_encoding) in _UNDONE


def _coding(content_encoding: str) -> str:
    """The one coding to be undone, ``""`` if there is none; several count as one that nobody knows.

    As in browsers, a coding that HTTP does not have changes nothing: `none` and `utf-8` are known
    ways to tell a framework not to compress.
    """
    names = [name.strip(" \t").lower() for name in content_encoding.split(",")]
    return " ".join(name for name in names if name in _CODINGS)


class Inflater:
    """Undoes a content coding in pieces of at most 64 KiB; bytes in an unknown coding pass
    unchanged.
    """

    def __init__(self, content_encoding: str) -> None:
        self._coding = _coding(content_encoding) if can_undo(content_encoding) else ""
        self._inflate: Any = None
        self._complete = True

    @property
    def plain(self) -> bool:
        """Whether there is nothing to undo."""
        return self._coding == ""

    @property
    def complete(self) -> bool:
        """Whether the coded data could end here."""
        return self._complete

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded data. Raises zlib.error where it is not in this coding."""
        if self.plain:
            yield data
            return
        # zlib copies what it has not used yet for each piece, so it never gets much at a time.
        for start in range(0, len(data), _PIECE):
            yield from self._undo(data[start : start + _PIECE])

    def _undo(self, data: bytes) -> Iterator[bytes]:
        full = False  # after a full piece, zlib may hold more though all data is in
        while data or full:
            if self._inflate is None:
                self._inflate = zlib.decompressobj(self._window_bits(data))
                self._complete = False
            before = self._inflate.copy()
            try:
                piece = self._inflate.decompress(data, _PIECE)
            except zlib.error:
                if len(data) <= 1:
                    raise
                # zlib drops the good data before a fault. Decode again up to there, in halves.
                self._inflate = before
                half = len(data) // 2
                yield from self._undo(data[:half])
                data = data[half:]
                continue
            yield piece
            full = len(piece) == _PIECE
            data = self._inflate.unconsumed_tail
            if self._inflate.eof:  # gzip may have another member
                data = self._inflate.unused_data
                self._inflate = None
                self._complete = True
                full = False

    def start_of(self, data: bytes, size: int) -> bytes:
        """Return at least ``size`` bytes of the decoded data, or as many as there are."""
        start = b""
        with contextlib.suppress(zlib.error):
            for piece in self.pieces(data):
                start += piece
                if len(start) >= size:
                    break
        return start

    def _window_bits(self, data: bytes) -> int:
        if self._coding != "deflate":
            return _GZIP
        # "deflate" is the zlib format, but some servers send the data without its header. A zlib
        # header has method 8 in the lower half of its first byte.
        return zlib.MAX_WBITS if data[0] & 0x0F == 8 else -zlib.MAX_WBITS


class BodyDecoder(Generic[ItemT]):
    """Undoes the content coding of a body and decodes it."""

    def __init__(self, decoder: Decoder[ItemT], content_encoding: str = "") -> None:
        self.tap: Callable[[bytes], object] | None = None  # sees each piece before it is decoded
        self._decoder = decoder
        self._last: object = None  # of the decoder's items
        self._inflater = Inflater(content_encoding)

    @property
    def over(self) -> bool:
        """Whether the decoder wants no more: the turn is done, or has failed."""
        return self._decoder.over

    @property
    def plain(self) -> bool:
        """Whether there is no content coding to undo."""
        return self._inflater.plain

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Undo the coding of some bytes, in pieces of at most 64 KiB unless there is nothing to
        undo. Raises zlib.error after the pieces before it.
        """
        return self._inflater.pieces(data)

    def decode(self, piece: bytes) -> Sequence[ItemT]:
        """Return the items that a piece completes. Raises what the decoder raises."""
        if self.tap is not None:
            self.tap(piece)
        items = self._decoder.receive_data(piece)
        if items:
            self._last = items[-1]
        return items

    def finish(self, reason: str) -> list[ItemT | SseConnectionDropped]:
        """Return the last items of a body that ended for this reason.

        If it did not end cleanly, and the decoder does not say so itself, the last one is an
        ``SseConnectionDropped`` with the reason.
        """
        if reason == _END_OF_STREAM and not self._inflater.complete:
            reason = "cut body"
        pending = self._decoder.pending
        items: list[ItemT | SseConnectionDropped] = [*self._decoder.receive_eof(reason)]
        last = items[-1] if items else self._last
        said = isinstance(last, RatatoskrError) or getattr(last, "terminal", False)
        if reason != _END_OF_STREAM and not said:
            reason += "; unfinished event lost" if pending else ""
            items.append(SseConnectionDropped(None, reason))
        return items
