"""A second decoder, as literal a reading of the standard as can be: slow, for whole streams only.

Each step stands below its clause of the WHATWG HTML standard, section 9.2 "Server-sent events". It
shares no code with the decoder, only the checks of arguments and the types of what comes out, so
that an agreement of the two means something. The one step that is not of the standard is the size
limit of docs/wire.md.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias, overload

from .. import _arguments
from .._errors import EventTooLarge
from .._frames import Comment, ServerSentEvent
from .._wire import MAX_RETRY_DIGITS

WireItem: TypeAlias = ServerSentEvent | Comment | EventTooLarge


class Line(NamedTuple):
    """A line that has ended, and its length in bytes."""

    text: str
    size: int


def split_lines(data: bytes) -> tuple[list[Line], Line]:
    """The lines of a stream that have ended, and the rest, which has not."""
    # 9.2.6 "Streams must be decoded using the UTF-8 decode algorithm." "The UTF-8 decode algorithm
    # strips one leading UTF-8 Byte Order Mark (BOM), if any."
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    # 9.2.6 "The stream must then be parsed by reading everything line by line, with a U+000D
    # CARRIAGE RETURN U+000A LINE FEED (CRLF) character pair, a single U+000A LINE FEED (LF)
    # character not preceded by a U+000D CARRIAGE RETURN (CR) character, and a single U+000D
    # CARRIAGE RETURN (CR) character not followed by a U+000A LINE FEED (LF) character being the
    # ways in which a line can end."
    texts = re.split("\r\n|\r|\n", text)
    sizes = map(len, re.split(b"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf")))
    *lines, rest = map(Line, texts, sizes)
    return lines, rest


def split_field(line: str) -> tuple[str, str]:
    """The name and the value of a field."""
    # 9.2.6 "If the line contains a U+003A COLON character (:): Collect the characters on the line
    # before the first U+003A COLON character (:), and let field be that string. Collect the
    # characters on the line after the first U+003A COLON character (:), and let value be that
    # string."
    if ":" in line:
        field, value = line.split(":", 1)
        # "If value starts with a U+0020 SPACE character, remove it from value."
        return field, value.removeprefix(" ")
    # "Otherwise, the string is not empty but does not contain a U+003A COLON character (:):
    # Process the field [...] using the whole line as the field name, and the empty string as the
    # field value."
    return line, ""


class Interpreter:
    """9.2.6 "Interpreting an event stream", line by line.

    ``last_event_id`` (str) is the last event ID string of the event source, and ``retry_ms`` (int
    or None) its reconnection time, if the stream has set it.
    """

    def __init__(self, last_event_id: str) -> None:
        self.last_event_id = last_event_id
        self.retry_ms: int | None = None
        # 9.2.6 "When a stream is parsed, a data buffer, an event type buffer, and a last event ID
        # buffer must be associated with it. They must be initialized to the empty string."
        # The data buffer is kept in pieces, since a str that grows is copied each time.
        self.data_buffer: list[str] = []
        self.event_type_buffer = ""
        # Not so the last one, when a connection is resumed: see docs/wire.md.
        self.last_event_id_buffer = last_event_id

    def process_line(self, line: str) -> ServerSentEvent | Comment | None:
        """Take one line that has ended, and return what it puts out, if anything."""
        # "If the line is empty (a blank line): Dispatch the event, as defined below."
        if line == "":
            return self.dispatch()
        # "If the line starts with a U+003A COLON character (:): Ignore the line."
        if line[0] == ":":
            return Comment(split_field(line)[1])
        self.process_field(*split_field(line))
        return None

    def process_field(self, field: str, value: str) -> None:
        """Process a field.

        "Field names must be compared literally, with no case folding performed."
        """
        # "If the field name is "event": Set the event type buffer to the field value."
        if field == "event":
            self.event_type_buffer = value
        # "If the field name is "data": Append the field value to the data buffer, then append a
        # single U+000A LINE FEED (LF) character to the data buffer."
        elif field == "data":
            self.data_buffer += [value, "\n"]
        # "If the field name is "id": If the field value does not contain U+0000 NULL, then set the
        # last event ID buffer to the field value. Otherwise, ignore the field."
        elif field == "id":
            if "\0" not in value:
                self.last_event_id_buffer = value
        # "If the field name is "retry": If the field value consists of only ASCII digits, then
        # interpret the field value as an integer in base ten, and set the event stream's
        # reconnection time to that integer. Otherwise, ignore the field."
        elif field == "retry":
            retry_ms = parse_retry(value)
            if retry_ms is not None:
                self.retry_ms = retry_ms
        # "Otherwise: The field is ignored."

    def dispatch(self) -> ServerSentEvent | None:
        """Dispatch the event, if there is one."""
        # 1. "Set the last event ID string of the event source to the value of the last event ID
        # buffer. The buffer does not get reset".
        self.last_event_id = self.last_event_id_buffer
        # 2. "If the data buffer is an empty string, set the data buffer and the event type buffer
        # to the empty string and return."
        if not self.data_buffer:
            self.event_type_buffer = ""
            return None
        # 3. "If the data buffer's last character is a U+000A LINE FEED (LF) character, then remove
        # the last character from the data buffer."
        data = "".join(self.data_buffer[:-1])
        # 4. "Let event be the result of creating an event using MessageEvent".
        # 5. "Initialize event's type attribute to "message", its data attribute to data [...] and
        # its lastEventId attribute to the last event ID string of the event source."
        # 6. "If the event type buffer has a value other than the empty string, change the type of
        # the newly created event to equal the value of the event type buffer."
        event = ServerSentEvent(self.event_type_buffer or "message", data, self.last_event_id)
        # 7. "Set the data buffer and the event type buffer to the empty string."
        self.data_buffer = []
        self.event_type_buffer = ""
        # 8. "Queue a task which, if the readyState attribute is set to a value other than CLOSED,
        # dispatches the newly created event".
        return event

    def discard(self) -> None:
        """Drop the unfinished event."""
        self.data_buffer = []
        self.event_type_buffer = ""
        self.last_event_id_buffer = self.last_event_id


def parse_retry(value: str) -> int | None:
    """The number that the value of a ``retry`` field is, or None if it is to be ignored."""
    if re.fullmatch("[0-9]+", value) is None:
        return None
    digits = value.lstrip("0")
    # Not of the standard, but of docs/wire.md.
    if len(digits) > MAX_RETRY_DIGITS:
        return None
    # By way of Decimal, since int() of a long text is refused where a process says so.
    return int(Decimal(digits or "0"))


class Interpreted(NamedTuple):
    """All that a stream leads to."""

    items: list[WireItem]
    last_event_id: str
    retry_ms: int | None


def interpret(
    data: bytes, max_event_bytes: int | None = None, last_event_id: str = ""
) -> Interpreted:
    """Interpret a stream that ends after ``data``; the items have comments among them."""
    limit = float("inf") if max_event_bytes is None else max_event_bytes
    interpreter = Interpreter(last_event_id)
    items: list[WireItem] = []
    held, skipping = 0, False
    lines, rest = split_lines(data)
    for line, size in lines:
        if skipping:
            skipping = size > 0
        elif size > 0 and held + size > limit:
            # docs/wire.md, "The size limit": an error in the place of the line, and everything up
            # to and including the next empty line is skipped.
            items.append(EventTooLarge(int(limit)))
            interpreter.discard()
            held, skipping = 0, True
        else:
            # "held is the sum of (length + 1) over the finished lines of the event, comments left
            # out."
            if size == 0:
                held = 0
            elif not line.startswith(":"):
                held += size + 1
            item = interpreter.process_line(line)
            if item is not None:
                items.append(item)
    # 9.2.6 "Once the end of the file is reached, any pending data must be discarded. (If the file
    # ends in the middle of an event, before the final empty line, the incomplete event is not
    # dispatched.)" Yet a line that is too long is so before it ends; but not what may yet be a BOM.
    undecided = not lines and rest.size < 3 and b"\xef\xbb\xbf".startswith(data)
    if not skipping and not undecided and rest.size > 0 and held + rest.size > limit:
        items.append(EventTooLarge(int(limit)))
    return Interpreted(items, interpreter.last_event_id, interpreter.retry_ms)


@overload
def reference_decode(  # pyright: ignore[reportOverlappingOverload]  # a bool may be False
    data: bytes, *, last_event_id: str = "", comments: Literal[False] = False
) -> list[ServerSentEvent]: ...


@overload
def reference_decode(
    data: bytes,
    *,
    max_event_bytes: int | None = None,
    last_event_id: str = "",
    comments: bool = False,
) -> list[WireItem]: ...


def reference_decode(
    data: bytes,
    *,
    max_event_bytes: int | None = None,
    last_event_id: str = "",
    comments: bool = False,
) -> list[ServerSentEvent] | list[WireItem]:
    """Return the events that the WHATWG HTML standard, section 9.2, dispatches for a stream.

    ``data`` (bytes) is the whole stream. ``max_event_bytes`` (int >= 1, or None for no limit) is
    the limit of docs/wire.md: with it, an ``EventTooLarge`` stands in the place of an event that
    passes it. ``last_event_id`` (str) is the id to start from. With ``comments=True`` comments come
    out too. No bytes make it raise. It is written to be compared with the standard, and is slow.

    Raises TypeError or ValueError for an argument that is not as described above.
    """
    data = _arguments.binary("data", data)
    if max_event_bytes is not None:
        _arguments.integer("max_event_bytes", max_event_bytes, least=1)
    _arguments.text("last_event_id", last_event_id)
    _arguments.flag("comments", comments)
    items = interpret(data, max_event_bytes, last_event_id).items
    return [item for item in items if comments or not isinstance(item, Comment)]
