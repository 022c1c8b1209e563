"""The wire layer: bytes of a ``text/event-stream`` in, frames out.

The clauses named here are those of the WHATWG HTML standard, section 9.2 "Server-sent events". Our
choices where it leaves room, and the size limit, are described in docs/wire.md.

How it works. Every chunk is first made into bytes in which LF is the only line end, so nothing
below that knows of CR, and nothing ever waits for a byte that may not come. Lines are read as they
end, many at once, in ``_read_lines``. Only where the next bytes may pass the size limit,
``_receive_limited`` goes line by line.

Of an unfinished event no lines are kept, only what they say: the data in one buffer, the type, the
id, and how many bytes they were. So the blank line costs one decode of that buffer. What is kept
must not grow, or the limit would not bound it; so it is kept as the bytes that came.
"""

from __future__ import annotations

import enum
from typing import Any, ClassVar, Generic, Literal, NoReturn, overload

from . import _arguments, _utf8
from ._errors import EventTooLarge
from ._frames import Comment, Frame, ServerSentEvent, WireItem, new_tuple
from ._typing import TypeVar

DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024
MAX_RETRY_DIGITS = 4300

_BOM = b"\xef\xbb\xbf"
_CR = ord("\r")
_LF = ord("\n")
_WINDOW = 32 * 1024  # bytes read at once: bounds the memory that many short lines take
_DIGITS_AT_ONCE = 600  # below 640, the lowest value that sys.set_int_max_str_digits() takes

#: What the decoder puts out: no comments, unless they are asked for.
Item = TypeVar("Item", default=WireItem, covariant=True)  # pyright: ignore[reportGeneralTypeIssues]


class _Place(enum.Enum):
    """Where in the stream the next byte stands."""

    START = enum.auto()  # at its start, where a BOM may stand
    INSIDE = enum.auto()
    AFTER_CR = enum.auto()  # after a CR, which has ended its line; an LF would belong to it
    END = enum.auto()  # nowhere: the stream has ended


_INSIDE = _Place.INSIDE


class EventStreamDecoder(Generic[Item]):
    """Decodes one event stream, to the letter of the standard, without any I/O.

    ``max_event_bytes`` (int >= 1) limits the size of one event in bytes; see docs/wire.md for how
    it is counted. ``last_event_id`` (str) is the id to start from, as the connection before left
    it. With ``comments=True`` comments come out too. With ``flush_unfinished=True`` an event that
    only lacks its last line ends comes out at the end of the stream.

    The output is the same however the stream was cut into chunks. Use a new decoder for each
    connection.
    """

    #: What it is written in: ``"python"``.
    implementation: ClassVar[str] = "python"
    _plain_frames: ClassVar[bool] = False  # see FrameDecoder

    @overload
    def __init__(
        self: EventStreamDecoder[ServerSentEvent | EventTooLarge],
        max_event_bytes: int = ...,
        last_event_id: str = ...,
        comments: Literal[False] = ...,
        flush_unfinished: bool = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: EventStreamDecoder[WireItem],
        max_event_bytes: int = ...,
        last_event_id: str = ...,
        comments: bool = ...,
        flush_unfinished: bool = ...,
    ) -> None: ...

    def __init__(
        self,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        last_event_id: str = "",
        comments: bool = False,
        flush_unfinished: bool = False,
    ) -> None:
        """Raises TypeError or ValueError for an argument that is not as described above."""
        self._max_event_bytes = _arguments.integer("max_event_bytes", max_event_bytes, least=1)
        self._window = min(max_event_bytes, _WINDOW)
        self._last_event_id = _arguments.text("last_event_id", last_event_id)
        self._comments = _arguments.flag("comments", comments)
        self._flush_unfinished = _arguments.flag("flush_unfinished", flush_unfinished)
        self._retry_ms: int | None = None
        self._place = _Place.START
        # The unfinished line; at the start of the stream, bytes that may become a BOM.
        self._line = bytearray()
        # What the finished lines of the unfinished event say: the data, each line of it with an LF,
        # the type and the id. And the number of their bytes, "held" in docs/wire.md.
        self._data = bytearray()
        self._event = b""
        self._id: bytes | None = None
        self._held = 0
        # Whether an event that was too large is being dropped, and whether a line of it has begun,
        # so that an LF would end that line and not the event.
        self._skipping = False
        self._line_begun = False

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a decoder holds the state of one connection, so it cannot be copied or pickled"
        )

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
        return bool(self._held or self._line)

    @property
    def over(self) -> bool:
        """Whether nothing more will come out: after ``receive_eof()``, and only then."""
        return self._place is _Place.END

    def receive_data(self, chunk: bytes | bytearray | memoryview) -> list[Item]:
        """Take the next bytes and return what they complete, in order: events, ``EventTooLarge``
        and, if asked for, comments.

        No bytes make it raise, and nothing of the caller's buffer is kept. After an
        ``EventTooLarge`` the decoder reads on from the next block. Raises TypeError if ``chunk`` is
        not bytes-like, RuntimeError for data that comes after ``receive_eof()``.
        """
        if self._place is _INSIDE and type(chunk) is bytes and _LF not in chunk:
            # A part of a line is only put aside: nothing else is quick enough for small chunks.
            size = self._held + len(self._line) + len(chunk)
            if size <= self._max_event_bytes and _CR not in chunk and not self._skipping:
                self._line += chunk
                return []
        items: list[Any] = []
        data = chunk if type(chunk) is bytes else _arguments.chunk(chunk)
        if self._place is not _INSIDE or data.endswith(b"\r"):
            if not data:
                return items
            if self._place is _Place.END:
                raise RuntimeError("receive_data() was called with data after receive_eof()")
            data = self._normalise(data)
        elif _CR in data:
            data = data.replace(b"\r\n", b"\n")
            if _CR in data:
                data = data.replace(b"\r", b"\n")
        size, window = len(data), self._window
        # Lines are read a window at a time, since a list of many short ones takes much memory; but
        # a last line that is longer than that need not be cut.
        if size <= window or (
            size <= self._max_event_bytes and data.rfind(b"\n", 0, size - 2) < window
        ):
            if data.endswith(b"\n\n") and not (self._line or self._held or self._skipping):
                self._read(data, items)  # whole events, as servers flush them
            else:
                self._receive_piece(data, items)
        else:
            for start in range(0, size, window):
                self._receive_piece(data[start : start + window], items)
        return items

    def receive_eof(self, reason: str = "end of stream") -> list[Item]:
        """Say that the stream has ended, for whatever ``reason`` (str); calling it again is
        harmless. Raises TypeError if ``reason`` is not a str.

        Returns what the end completes, which is nothing: an unfinished event is dropped, as the
        standard says ("Once the end of the file is reached, any pending data must be discarded").
        Only with ``flush_unfinished``, and for the reason ``"end of stream"``, the end counts as
        the missing line ends. Look at ``pending`` before, to learn whether an event was unfinished.
        """
        _arguments.text("reason", reason)
        items: list[Item] = []
        if self._flush_unfinished and reason == "end of stream" and self._place is not _Place.END:
            # Not what a derived class has made of it: these bytes are not of the stream.
            items = EventStreamDecoder[Item].receive_data(self, b"\n\n")
        self._place = _Place.END
        self._forget_event()
        return items

    def _normalise(self, data: bytes) -> bytes:
        """Return the data with LF as its only line end and without the leading BOM.

        A CR ends its line at once: if it is the last byte, an LF that opens the next chunk is
        dropped then.
        """
        if self._place is _Place.AFTER_CR:
            data = data.removeprefix(b"\n")
        elif self._place is _Place.START:
            data = bytes(self._line) + data
            self._line.clear()
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._line += data
                return b""
            data = data.removeprefix(_BOM)
        self._place = _Place.AFTER_CR if data.endswith(b"\r") else _INSIDE
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _receive_piece(self, data: bytes, items: list[Any]) -> None:
        """Take the next bytes, no more than a window of them."""
        line = self._line
        if self._skipping or self._held + len(line) + len(data) > self._max_event_bytes:
            self._receive_limited(data, items)
            return
        end = data.rfind(b"\n")
        if end == -1:
            line += data
            return
        if line:
            line += data[: end + 1]
            self._read(line, items)
        else:
            self._read(data[: end + 1], items)
        line += data[end + 1 :]

    def _receive_limited(self, data: bytes, items: list[Any]) -> None:
        """Take line by line, with a look at the limit."""
        line = self._line
        position = 0
        while position < len(data):
            if self._skipping:
                position = self._skip(data, position)
                continue
            newline = data.find(b"\n", position)
            end = len(data) if newline == -1 else newline
            length = len(line) + end - position
            # An empty line is never too large, since it ends the event.
            if length and self._held + length > self._max_event_bytes:
                self._forget_event()
                self._skipping = self._line_begun = True
                items.append(EventTooLarge(self._max_event_bytes))
                position = end
                continue
            line += data[position : end + 1]
            if newline == -1:
                return
            position = newline + 1
            self._read(line, items)

    def _skip(self, data: bytes, position: int) -> int:
        """Drop what is left of an event that was too large, with the blank line that ends it.

        Returns the position to continue from.
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

    def _read(self, source: bytes | bytearray, items: list[Any]) -> None:
        """Read finished lines, with what was the unfinished one, and put out what they complete.

        One event alone, with its data in the last line, or a keep-alive, is what most servers
        flush: it is read right here, which spares the list of lines. Everything else is up to
        ``_read_lines``.
        """
        # LF is never a part of another character in UTF-8, so lines decoded together give the same
        # text as one by one.
        try:
            text = source.decode()
            valid = True
        except UnicodeDecodeError:
            text = _utf8.decoded(source)
            valid = False
        self._line.clear()  # now, since a line may be long
        event, id = "", self._last_event_id
        position, last = 0, len(text) - 2
        while valid and not self._held:
            end = text.find("\n", position)
            if text.startswith("data: ", position):
                if end != last:
                    break
                self._last_event_id = id
                frame = (event or "message", text[position + 6 : end], id)
                named = not self._plain_frames
                items.append(new_tuple(ServerSentEvent, frame) if named else frame)
                return
            if text.startswith("id: ", position):
                id = text[position + 4 : end]
                if "\0" in id:
                    break
            elif text.startswith("event: ", position):
                event = text[position + 7 : end]
            elif self._comments or not text.startswith(":", position):
                break
            if end == last:  # no data, such as a keep-alive
                self._last_event_id = id
                return
            position = end + 1
        self._read_lines(text, valid, items)

    def _read_lines(self, text: str, valid: bool, items: list[Any]) -> None:
        """Read any lines, ``valid`` if all their bytes were.

        Clauses "Parsing an event stream" (fields) and "Interpreting an event stream" (dispatch).
        """
        # What these lines of the event say; its id counts from its blank line on.
        event: str | None = None
        id: str | None = None
        data: str | None = None
        more: list[str] = []  # further lines of the data
        as_it_is = valid and not (self._data or self._event) and self._id is None
        last_event_id, named = self._last_event_id, not self._plain_frames
        commented = False
        lines = text.split("\n")
        line = lines.pop()  # what follows the last LF: nothing
        for line in lines:
            if not line:
                if not as_it_is:
                    event, id, data = self._complete(event, id, data, more)
                    more = []
                    as_it_is = valid
                if id is not None:
                    last_event_id = id
                    id = None
                if data is not None:
                    if more:
                        data = "\n".join((data, *more))
                        more = []
                    frame = (event or "message", data, last_event_id)
                    items.append(new_tuple(ServerSentEvent, frame) if named else frame)
                    data = None
                event = None
                continue
            # The usual forms of the usual fields, which a slice reads, then any other line.
            if line.startswith("data: "):
                value = line[6:]
            elif line.startswith("id: ") and "\0" not in line:
                id = line[4:]
                continue
            elif line.startswith("event: "):
                event = line[7:]
                continue
            elif line.startswith(":"):
                commented = True
                if self._comments:
                    items.append(Comment(_utf8.replaced(line[1:].removeprefix(" "))))
                continue
            else:
                field, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if field == "id":
                    if "\0" not in value:
                        id = value
                elif field == "event":
                    event = value
                elif field == "retry":
                    self._receive_retry(value, items)
                if field != "data":
                    continue
            if data is None:
                data = value
            else:
                more.append(value)
        self._last_event_id = last_event_id
        if not line:
            self._held = 0
            return
        # An unfinished event is left.
        blank = text.rfind("\n\n") + 1
        if blank or text.startswith("\n"):
            self._held = 0
            text = text[blank + 1 :]
        self._held += _utf8.size(text)
        if commented:  # comments do not count
            self._held -= sum(
                _utf8.size(line) + 1 for line in text.split("\n") if line.startswith(":")
            )
        self._keep(event, id, data, more)

    def _keep(self, event: str | None, id: str | None, data: str | None, more: list[str]) -> None:
        """Keep what lines of the unfinished event say."""
        if event is not None:
            self._event = _utf8.as_bytes(event)
        if id is not None:
            self._id = _utf8.as_bytes(id)
        if data is not None:
            self._data += _utf8.as_bytes("\n".join((data, *more)))
            self._data += b"\n"

    def _complete(
        self, event: str | None, id: str | None, data: str | None, more: list[str]
    ) -> tuple[str, str | None, str | None]:
        """Return the type, the id and the data of an event that began earlier or has invalid bytes,
        as they are put out: with what is kept of it, and with U+FFFD for the invalid bytes.
        """
        self._keep(event, id, data, more)
        if self._data:
            del self._data[-1]  # the LF of the last line
            data = self._data.decode("utf-8", "replace")
        event = self._event.decode("utf-8", "replace")
        id = None if self._id is None else self._id.decode("utf-8", "replace")
        self._forget_event()
        return event, id, data

    def _receive_retry(self, value: str, items: list[Any]) -> None:
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
        if self._plain_frames:
            items.append(number)

    def _forget_event(self) -> None:
        """Drop what has come of the unfinished event."""
        self._line.clear()
        self._data.clear()
        self._event, self._id, self._held = b"", None, 0


class FrameDecoder(EventStreamDecoder[Frame | EventTooLarge | int]):
    """The wire decoder of the turn layer: it puts out what the turn layer has to see in its place.

    An event is a plain ``(event, data, id)``, since a named tuple takes as long to make as all of
    its lines to read. A valid ``retry:`` comes out as an int when its line ends.
    """

    _plain_frames = True

    def __init__(self, max_event_bytes: int, flush_unfinished: bool) -> None:
        super().__init__(max_event_bytes, flush_unfinished=flush_unfinished)  # type: ignore[misc]

    @property
    def begun(self) -> bool:
        """Whether anything but a comment is unfinished."""
        return bool(self._held) or (bool(self._line) and not self._line.startswith(b":"))
