"""The wire layer: bytes of a ``text/event-stream`` in, frames out.

The clauses named here are those of the WHATWG HTML standard, section 9.2 "Server-sent events". Our
choices where it leaves room, and the size limit, are described in docs/wire.md.

How it works. ``_normalise`` turns every chunk into bytes in which LF is the only line end, so
nothing below it knows of CR, and nothing ever waits for a byte that may not come. Then there are
three ways to go on, chosen by what is held:

- nothing: ``_receive_window`` decodes all whole blocks of the chunk at once. This is the hot path.
- a part of a block: ``_receive_lines`` takes line by line until a blank line ends it. It is the
  only place that can meet the limit.
- the rest of a block that was too large: ``_skip`` drops it.

A block is read in one place only, ``_receive_block``. What is unfinished is kept as bytes in one
buffer, never as an object a line, and no byte of it is scanned twice for a line end.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from ._errors import EventTooLarge

DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024
MAX_RETRY_DIGITS = 4300

_BOM = b"\xef\xbb\xbf"
_COLON = ord(":")
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
    With ``comments=True`` comments come out too.

    The output is the same however the stream was cut into chunks. Use a new decoder for each
    connection.
    """

    def __init__(
        self,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        last_event_id: str = "",
        comments: bool = False,
    ) -> None:
        """Raises TypeError or ValueError for an argument that is not as described above."""
        if not isinstance(max_event_bytes, int) or isinstance(max_event_bytes, bool):
            raise TypeError(f"max_event_bytes must be an int, not {type(max_event_bytes).__name__}")
        if max_event_bytes < 1:
            raise ValueError(f"max_event_bytes must be at least 1, not {max_event_bytes}")
        if not isinstance(last_event_id, str):
            raise TypeError(f"last_event_id must be a str, not {type(last_event_id).__name__}")
        if not isinstance(comments, bool):
            raise TypeError(f"comments must be True or False, not {comments!r}")
        self._max_event_bytes = max_event_bytes
        self._window = min(max_event_bytes, _WINDOW)
        self._comments = comments
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
        # Whether nothing at all is held or awaited, so that the next byte begins a block.
        self._idle = False

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

    def receive_data(self, chunk: bytes | bytearray | memoryview) -> list[WireItem]:
        """Take the next bytes and return what they complete, in order: events, ``EventTooLarge``
        and, if asked for, comments.

        No bytes make it raise, and nothing of the caller's buffer is kept. After an
        ``EventTooLarge`` the decoder goes on with the next block. Raises TypeError if ``chunk`` is
        not bytes-like, RuntimeError for data that comes after ``receive_eof()``.
        """
        items: list[WireItem] = []
        self._feed(chunk, items)
        return items

    def receive_eof(self) -> list[WireItem]:
        """Say that the stream has ended; calling it again is harmless.

        Returns what the end completes, which is nothing: an unfinished event is dropped, as the
        standard says ("Once the end of the file is reached, any pending data must be discarded").
        Look at ``pending`` before, to learn whether there was one.
        """
        self._closed = True
        self._idle = False
        self._start = None
        self._clear()
        return []

    # Within the package. The turn layer derives from this class and takes frames in `_dispatch`.

    def _feed(self, chunk: bytes | bytearray | memoryview, out: Any) -> None:
        """As ``receive_data``, with ``out`` for what comes out: here a list to append to."""
        # A chunk that is one whole event, as servers flush them, needs none of what follows.
        if self._idle and type(chunk) is bytes and chunk.endswith(b"\n\n"):
            block = chunk[:-2].decode("utf-8", "replace")
            # One LF can be found faster than two in a row, and most blocks have no more.
            one = block.count("\n") < 2 or "\n\n" not in block
            if one and "\r" not in block and len(chunk) <= self._window:
                self._receive_blocks([block], out)
                return
        data = chunk if type(chunk) is bytes else as_bytes(chunk)
        if not data:
            return
        if self._closed:
            raise RuntimeError("receive_data() was called with data after receive_eof()")
        if b"\r" in data or self._after_cr or self._start is not None:
            data = self._normalise(data)
        position, end = 0, len(data)
        while position < end:
            if self._skipping:
                position = self._skip(data, position)
            elif self._buffer:
                position = self._receive_lines(data, position, out)
            else:
                position = self._receive_window(data, position, out)
        self._idle = self._start is None and not (self._buffer or self._skipping or self._after_cr)

    def _dispatch(self, event: str, data: str, out: Any) -> bool:
        """Put out an event; return whether nothing that follows is wanted."""
        out.append(_new_tuple(ServerSentEvent, (event, data, self._last_event_id)))
        return False

    def _dispatch_too_large(self, out: Any) -> bool:
        """Put out the error in place of an event; return as ``_dispatch`` does."""
        out.append(EventTooLarge(self._max_event_bytes))
        return False

    # Each of the following takes a position in the data and returns the one to go on from.

    def _receive_window(self, data: bytes, position: int, out: Any) -> int:
        """Read whole blocks, as many as the window holds, when nothing is held.

        Not one of them can be too large, since all of them together are not: the window is no
        larger than the limit. LF is never a part of another character in UTF-8, so blocks decoded
        together give the same text as line by line.
        """
        end = data.rfind(b"\n\n", position, position + self._window + 2)
        if end == -1:
            return self._receive_lines(data, position, out)
        blocks = data[position:end].decode("utf-8", "replace").split("\n\n")
        return len(data) if self._receive_blocks(blocks, out) else end + 2

    def _receive_lines(self, data: bytes, position: int, out: Any) -> int:
        """Read line by line up to the blank line that ends the block, or to the end of the data."""
        buffer = self._buffer
        while position < len(data):
            newline = data.find(b"\n", position)
            end = len(data) if newline == -1 else newline
            length = len(buffer) - self._line_start + end - position
            if length and self._line_start + length > self._max_event_bytes:
                self._clear()
                self._skipping = self._line_begun = True
                return len(data) if self._dispatch_too_large(out) else end
            buffer += data[position:end]
            if newline == -1:
                break
            position = newline + 1
            if not length:
                block = buffer.decode("utf-8", "replace")
                self._clear()
                return len(data) if self._receive_block(block, out) else position
            if buffer[self._line_start] == _COLON:
                self._receive_block(buffer[self._line_start :].decode("utf-8", "replace"), out)
                del buffer[self._line_start :]
                continue
            if buffer.startswith(b"retry", self._line_start):
                # Counts now. That the whole block says it once more later on is harmless.
                self._receive_block(buffer[self._line_start :].decode("utf-8", "replace"), out)
            buffer += b"\n"
            self._line_start = len(buffer)
        return len(data)

    def _skip(self, data: bytes, position: int) -> int:
        """Drop what is left of a block that was too large, with the blank line that ends it."""
        if not self._line_begun and data[position] == _LF:
            self._skipping = False
            return position + 1
        end = data.find(b"\n\n", position)
        if end == -1:
            self._line_begun = data[-1] != _LF
            return len(data)
        self._skipping = False
        return end + 2

    def _receive_blocks(self, blocks: list[str], out: Any) -> bool:
        """Read blocks; return whether nothing that follows is wanted."""
        for block in blocks:
            # The two most common ones, a data line alone or behind an id, are read right here.
            if block.startswith("data: ") and "\n" not in block:
                event = ("message", block[6:], self._last_event_id)
                out.append(_new_tuple(ServerSentEvent, event))
                continue
            head, found, data = block.partition("\ndata: ")
            if found and head.startswith("id: ") and block.count("\n") == 1 and "\0" not in head:
                self._last_event_id = id = head[4:]
                out.append(_new_tuple(ServerSentEvent, ("message", data, id)))
            else:
                self._receive_block(block, out)
        return False

    def _receive_block(self, block: str, out: Any) -> bool:
        """Read the lines of a block and dispatch its event, if it has data.

        Clauses "Parsing an event stream" (fields) and "Interpreting an event stream" (dispatch).
        Returns what ``_dispatch`` did.
        """
        event = ""
        data: list[str] = []
        for line in block.split("\n"):
            # The two most common lines, in their usual spelling.
            if line.startswith("data: "):
                data.append(line[6:])
                continue
            if line.startswith("id: ") and "\0" not in line:
                self._last_event_id = line[4:]
                continue
            field, _, value = line.partition(":")
            if value.startswith(" "):
                value = value[1:]
            if field == "data":
                data.append(value)
            elif field == "id":
                if "\0" not in value:
                    self._last_event_id = value
            elif field == "event":
                event = value
            elif field == "retry":
                self._receive_retry(value)
            elif self._comments and line[:1] == ":":
                out.append(Comment(value))
        if not data:
            return False
        text = data[0] if len(data) == 1 else "\n".join(data)
        return self._dispatch(event or "message", text, out)

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
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _clear(self) -> None:
        self._buffer.clear()
        self._line_start = 0


def as_bytes(chunk: bytes | bytearray | memoryview) -> bytes:
    """Return a chunk as bytes of our own, or raise TypeError."""
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise TypeError(
            f"receive_data() takes bytes, bytearray or memoryview, not {type(chunk).__name__}"
        )
    return bytes(chunk)
