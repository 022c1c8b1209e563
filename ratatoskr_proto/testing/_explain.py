"""Says what each line of a stream does, for people who look for the one that does nothing."""

from __future__ import annotations

import sys
from typing import TextIO

from .. import _arguments
from ._escaped import escaped
from ._reference import Interpreter, parse_retry, split_field, split_lines

_MAX_SHOWN = 60  # characters of a line, or of a value
_FIELDS = ("data", "event", "id", "retry")


def explain(data: bytes, *, file: TextIO | None = None) -> str:
    """Print what each line of a stream does, by the WHATWG HTML standard, 9.2.6.

    ``data`` (bytes) is the whole stream, and ``file`` (text file, or None for stdout) where to
    print. Returns what was printed. Control characters come out as escapes and long lines are cut.
    No bytes make it raise. Raises TypeError for arguments of another type.
    """
    data = _arguments.binary("data", data)
    output = sys.stdout if file is None else file
    if not hasattr(output, "write"):
        raise TypeError(f"file must be a text file or None, not {type(output).__name__}")
    rows = []
    if data.startswith(b"\xef\xbb\xbf"):
        rows.append(("", "", "a leading BOM is dropped"))
    interpreter = Interpreter("")
    lines, rest = split_lines(data)
    for number, (line, _) in enumerate(lines, 1):
        rows.append((str(number), _shown(line), _meaning(line, interpreter)))
    if rest.text:
        rows.append((str(len(lines) + 1), _shown(rest.text), "dropped: the line has no end"))
    if interpreter.data_buffer:
        rows.append(("", "", "dropped: an event that no blank line has ended"))
    width = max((len(shown) for _, shown, _ in rows), default=0)
    text = "".join(f"{number:>4}  {shown:<{width}}  {what}\n" for number, shown, what in rows)
    encoding = getattr(output, "encoding", None) or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    output.write(text)
    return text


def _meaning(line: str, interpreter: Interpreter) -> str:
    """What a line does to an interpreter, which then processes it."""
    has_data = bool(interpreter.data_buffer)
    event = interpreter.process_line(line)
    if line == "":
        if event is None:
            return "a blank line: no event, since there is no data"
        kind, data, id = map(_shown, event)
        return f"a blank line: event {kind}, data {data}, id {id}"
    if line.startswith(":"):
        return "ignored: a comment"
    field, value = split_field(line)
    if field not in _FIELDS:
        return f"ignored: there is no field {_shown(field)}{_hint(field)}"
    if field == "data":
        return f"data: {'LF and ' if has_data else ''}{_shown(value)}"
    if field == "event":
        return f"the type of the event: {_shown(value or 'message')}"
    if field == "id":
        if "\0" in value:
            return "ignored: there is a NUL in the id"
        return f"the id from the next blank line on: {_shown(value)}"
    if parse_retry(value) is None:
        return f"ignored: {_shown(value)} is not a number of ASCII digits that we take"
    return f"the time to wait before reconnecting: {_shown(value)} ms"


def _hint(field: str) -> str:
    likely = "".join(filter(str.isalpha, field)).lower()
    return f"; did the server mean {likely}?" if likely in _FIELDS else ""


def _shown(text: str) -> str:
    cut = text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
    return f"'{escaped(cut)}'"
