"""The wire layer: bytes of a ``text/event-stream`` in, frames out.

The clauses named here are those of the WHATWG HTML standard, section 9.2 "Server-sent events". Our
choices where it leaves room, and the size limit, are described in docs/wire.md.

How it works. Every chunk is first made into bytes in which LF is the only line end, so nothing
below that knows of CR, and nothing ever waits for a byte that may not come. Then there are two ways
to go on:

- Where nothing can be too large, all lines up to the last blank line are decoded and read at once.
- Else, and behind that blank line, ``_receive_lines`` takes line by line. It is the only place that
  can meet the limit, and with it ``_skip``, which drops the rest of a block that was too large.

Lines are read in one place only, ``_receive_text``. What is unfinished is kept as bytes in one
buffer, never as an object a line, and no byte of it is scanned twice for a line end.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from ._errors import EventTooLarge

DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024
MAX_RETRY_DIGITS = 4300

_BOM = b"\xef\xbb\xbf"
_COLON = ord(":")
_CR = ord("\r")
_LF = ord("\n")
_WINDOW = 256 * 1024  # bytes decoded at once: bounds what one huge chunk costs on top of itself
_DIGITS_AT_ONCE = 600  # below 640, the lowest value that sys.set_int_max_str_digits() takes


class ServerSentEvent(NamedTuple):
    """One event as the standard dispatches it.

    ``event`` (str) is its type, ``"message"`` when the stream named none; ``data`` (str) its data
    lines joined with LF; ``id`` (str) the stream's last event id at that moment, its own or an
    earlier one.
    """

    event: str
    data: str
    id: str


class Comment(NamedTuple):
    """A comment line: ``text`` (str) follows the colon, less one leading space."""

    text: str


WireItem: TypeAlias = ServerSentEvent | Comment | EventTooLarge

_new_tuple = tuple.__new__  # a NamedTuple's own __new__ is a Python call, three times as slow


class EventStreamDecoder:
    """Decodes one event stream, to the letter of the standard, without any I/O.

    ``max_event_bytes`` (int >= 1) limits the size of one event in bytes; see docs/wire.md for how
    it is counted. ``last_event_id`` (str) is the id to start from, that of the connection before.
    With ``comments=True`` comments come out too. With ``flush_unfinished=True`` an event that only
    lacks its last line ends comes out at the end of the stream.

    The output is the same however the stream was cut into chunks. Use a new decoder for each
    connection.
    """

    def __init__(
        self,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        last_event_id: str = "",
        comments: bool = False,
        flush_unfinished: bool = False,
    ) -> None:
        """Raises TypeError or ValueError for an argument that is not as described above."""
        if not isinstance(max_event_bytes, int) or isinstance(max_event_bytes, bool):
            raise TypeError(f"max_event_bytes must be an int, not {type(max_event_bytes).__name__}")
        if max_event_bytes < 1:
            raise ValueError(f"max_event_bytes must be at least 1, not {max_event_bytes}")
        if not isinstance(last_event_id, str):
            raise TypeError(f"last_event_id must be a str, not {type(last_event_id).__name__}")
        for name, value in (("comments", comments), ("flush_unfinished", flush_unfinished)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, not {value!r}")
        self._max_event_bytes = max_event_bytes
        self._window = min(max_event_bytes, _WINDOW)
        self._comments = comments
        self._flush_unfinished = flush_unfinished
        self._last_event_id = last_event_id
        self._retry_ms: int | None = None
        self._closed = False
        # Of _normalise: the bytes so far if they may yet be a BOM, None once that is settled, and
        # whether the LF that may come next belongs to a CR that has ended its line already.
        self._start: bytes | None = b""
        self._after_cr = False
        # The unfinished block: its finished lines but for comments, each with its LF, then the
        # unfinished line, which begins at _line_start. So _line_start is also what the contract
        # of the limit calls "held".
        self._buffer = bytearray()
        self._line_start = 0
        # Of _skip: whether a block that was too large is being dropped, and whether its current
        # line has begun, so that an LF would end that line and not the block.
        self._skipping = False
        self._line_begun = False
        # Whether the next byte belongs to a line and is no matter for _normalise or _skip.
        self._plain = False

    @property
    def last_event_id(self) -> str:
        """The stream's last event id (str): committed at each blank line, with data or without."""
        return self._last_event_id

    @property
    def retry_ms(self) -> int | None:
        """The last valid ``retry:`` in milliseconds, or None; it counts once its line has ended."""
        return self._retry_ms

    @property
    def pending(self) -> bool:
        """Whether bytes of an unfinished line or block are held."""
        return bool(self._buffer or self._start)

    @property
    def over(self) -> bool:
        """Whether nothing more will come out: after ``receive_eof()``, and only then."""
        return self._closed

    def receive_data(self, chunk: bytes | bytearray | memoryview) -> list[WireItem]:
        """Take the next bytes and return what they complete, in order: events, ``EventTooLarge``
        and, if asked for, comments.

        No bytes make it raise, and nothing of the caller's buffer is kept. After an
        ``EventTooLarge`` the decoder goes on with the next block. Raises TypeError if ``chunk`` is
        not bytes-like, RuntimeError for data that comes after ``receive_eof()``.
        """
        if self._plain and type(chunk) is bytes and _LF not in chunk and _CR not in chunk:
            # A part of a line is only put aside: nothing else is quick enough for small chunks.
            buffer = self._buffer
            buffer += chunk
            if len(buffer) <= self._max_event_bytes:
                return []
            # Too large, with this chunk or with it twice; the general way drops it and says so.
        items: list[WireItem] = []
        self._feed(chunk, items)
        return items

    def receive_eof(self, reason: str = "end of stream") -> list[WireItem]:
        """Say that the stream has ended, for whatever ``reason`` (str); calling it again is
        harmless. Raises TypeError if ``reason`` is not a str.

        Returns what the end completes, which is nothing: an unfinished event is dropped, as the
        standard says ("Once the end of the file is reached, any pending data must be discarded").
        Only with ``flush_unfinished``, and for the reason ``"end of stream"``, the end counts as
        the missing line ends. Look at ``pending`` before, to learn whether an event was unfinished.
        """
        if not isinstance(reason, str):
            raise TypeError(f"reason must be a str, not {type(reason).__name__}")
        items: list[WireItem] = []
        if self._flush_unfinished and reason == "end of stream" and not self._closed:
            self._feed(b"\n\n", items)
        self._closed = True
        self._plain = False
        self._start = None
        self._clear()
        return items

    # Within the package. The turn layer derives from this class, and takes text in `_receive_text`.

    def _feed(self, chunk: bytes | bytearray | memoryview, out: Any) -> None:
        """As ``receive_data``, with ``out`` for what comes out: here a list to append to."""
        data = chunk if type(chunk) is bytes else as_bytes(chunk)
        if not self._plain:
            if not data:
                return
            if self._closed:
                raise RuntimeError("receive_data() was called with data after receive_eof()")
            data = self._normalise(data)
        elif _CR in data:
            data = self._normalise(data) if data.endswith(b"\r") else _with_lf(data)
        size = len(data)
        if size > self._window:
            for start in range(0, size, self._window):
                if self._receive_piece(data[start : start + self._window], out):
                    return
        elif self._plain and not self._buffer and data.endswith(b"\n\n"):
            # Whole events, as servers flush them.
            self._receive_text(data[:-1].decode("utf-8", "replace"), out)
        else:
            self._receive_piece(data, out)

    def _dispatch_too_large(self, out: Any) -> bool:
        """Put out the error in place of an event; return whether nothing that follows is wanted."""
        out.append(EventTooLarge(self._max_event_bytes))
        return False

    # Each of the following returns whether nothing that follows is wanted.

    def _receive_piece(self, data: bytes, out: Any) -> bool:
        """Take the next bytes, no more than a window of them."""
        buffer = self._buffer
        if self._skipping or len(buffer) + len(data) > self._max_event_bytes:
            return self._receive_lines(data, out)
        end = data.rfind(b"\n\n") + 1
        if end:
            # LF is never a part of another character in UTF-8, so lines decoded together give the
            # same text as one by one.
            if buffer:
                buffer += data[:end]
                text = buffer.decode("utf-8", "replace")
                self._clear()
            else:
                text = data[:end].decode("utf-8", "replace")
            if self._receive_text(text, out):
                return True
            data = data[end + 1 :]
        if _LF in data:
            return self._receive_lines(data, out)
        buffer += data
        return False

    def _receive_lines(self, data: bytes, out: Any) -> bool:
        """Take line by line, with a look at the limit and at what counts at once."""
        buffer = self._buffer
        position = 0
        while position < len(data):
            if self._skipping:
                position = self._skip(data, position)
                continue
            newline = data.find(b"\n", position)
            end = len(data) if newline == -1 else newline
            length = len(buffer) - self._line_start + end - position
            if length and self._line_start + length > self._max_event_bytes:
                self._clear()
                self._skipping = self._line_begun = True
                if self._dispatch_too_large(out):
                    return True
                position = end
                continue
            buffer += data[position:end]
            if newline == -1:
                break
            position = newline + 1
            if not length:
                text = buffer.decode("utf-8", "replace")
                self._clear()
                if self._receive_text(text, out):
                    return True
            elif buffer[self._line_start] == _COLON:
                self._receive_text(buffer[self._line_start :].decode("utf-8", "replace"), out)
                del buffer[self._line_start :]
            else:
                if buffer.startswith(b"retry", self._line_start):
                    # Counts now. That the whole block says it once more later on is harmless.
                    self._receive_text(buffer[self._line_start :].decode("utf-8", "replace"), out)
                buffer += b"\n"
                self._line_start = len(buffer)
        if self._skipping:
            self._plain = False
        return False

    def _skip(self, data: bytes, position: int) -> int:
        """Drop what is left of a block that was too large, with the blank line that ends it.

        Returns the position to go on from.
        """
        if not self._line_begun and data[position] == _LF:
            self._skipping = False
            return position + 1
        end = data.find(b"\n\n", position)
        if end == -1:
            self._line_begun = data[-1] != _LF
            return len(data)
        self._skipping = False
        return end + 2

    def _receive_text(self, text: str, out: Any) -> bool:
        """Read lines, each with its LF, and put out what they become. Behind the last LF stands
        nothing if that line ends a block, so that the blank line is there.

        Clauses "Parsing an event stream" (fields) and "Interpreting an event stream" (dispatch).
        """
        # A data line, alone or behind an id: all that many servers ever send, one in each chunk.
        first, last = text.find("\n"), len(text) - 1
        if first == last:
            if text.startswith("data: "):
                item = ("message", text[6:-1], self._last_event_id)
                out.append(_new_tuple(ServerSentEvent, item))
                return False
        elif text.startswith("data: ", first + 1) and text.find("\n", first + 1) == last:
            id = text[4:first]
            if text.startswith("id: ") and "\0" not in id:
                self._last_event_id = id
                out.append(_new_tuple(ServerSentEvent, ("message", text[first + 7 : -1], id)))
                return False
        event = ""
        data: str | None = None
        more: list[str] = []
        for line in text.split("\n"):
            if line.startswith("data: "):
                value = line[6:]
            elif not line:
                if data is not None:
                    if more:
                        data = "\n".join((data, *more))
                        more = []
                    item = (event or "message", data, self._last_event_id)
                    out.append(_new_tuple(ServerSentEvent, item))
                    data = None
                event = ""
                continue
            elif line.startswith("id: ") and "\0" not in line:
                self._last_event_id = line[4:]
                continue
            elif line.startswith(":"):
                if self._comments:
                    out.append(Comment(line[1:].removeprefix(" ")))
                continue
            else:
                field, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if field == "id":
                    if "\0" not in value:
                        self._last_event_id = value
                elif field == "event":
                    event = value
                elif field == "retry":
                    self._receive_retry(value)
                if field != "data":
                    continue
            if data is None:
                data = value
            else:
                more.append(value)
        return False

    def _receive_retry(self, value: str) -> None:
        """Take the value of a ``retry`` field if it is a number that Python can be trusted with."""
        if not (value.isascii() and value.isdigit()):
            return
        digits = value.lstrip("0")
        if len(digits) > MAX_RETRY_DIGITS:
            return
        # In pieces, since how many digits int() takes at once is a setting of the process.
        number = 0
        for start in range(0, len(digits), _DIGITS_AT_ONCE):
            piece = digits[start : start + _DIGITS_AT_ONCE]
            number = number * 10 ** len(piece) + int(piece)
        self._retry_ms = number

    def _normalise(self, data: bytes) -> bytes:
        """Return the data with LF as its only line end and without the leading BOM.

        A CR ends its line at once: if it is the last byte, an LF that opens the next chunk is
        dropped then.
        """
        if self._start is not None:
            data = self._start + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._start = data
                return b""
            self._start = None
            data = data.removeprefix(_BOM)
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if _CR in data:
            self._after_cr = data.endswith(b"\r")
            data = _with_lf(data)
        self._plain = not (self._after_cr or self._skipping)
        return data

    def _clear(self) -> None:
        self._buffer.clear()
        self._line_start = 0


def _with_lf(data: bytes) -> bytes:
    """Return the data with LF as its only line end."""
    data = data.replace(b"\r\n", b"\n")
    return data.replace(b"\r", b"\n") if _CR in data else data


def as_bytes(chunk: bytes | bytearray | memoryview) -> bytes:
    """Return a chunk as bytes of our own, or raise TypeError."""
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"receive_data() takes bytes, bytearray or memoryview, not {type(chunk).__name__}"
        )
    return bytes(chunk)
