"""The standard and the size limit once more, read as literally as can be: slow, whole-stream only.

It shares no code with the decoder, so that an agreement of the two means something.
"""

import re

from ratatoskr_proto import Comment, EventTooLarge, ServerSentEvent

_LINE_END = re.compile(b"\r\n|\r|\n")


def reference(data: bytes, limit: int, last_event_id: str = ""):
    """Items (comments included), last event id and retry of a stream that ends after ``data``."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    *lines, rest = _LINE_END.split(data)
    # A part of a BOM at the very start may yet become one, so it is no line to be judged.
    undecided = not lines and len(rest) < 3 and b"\xef\xbb\xbf".startswith(rest)
    items, retry = [], None
    event, values, held, skipping = "", [], 0, False
    for raw in lines:
        if skipping:
            skipping = raw != b""
            continue
        if raw and held + len(raw) > limit:
            items.append(EventTooLarge(limit))
            event, values, held, skipping, block_id = "", [], 0, True, None
            continue
        line = raw.decode("utf-8", errors="replace")
        if held == 0:
            block_id = None
        if line == "":
            if block_id is not None:
                last_event_id = block_id
            if values:
                items.append(ServerSentEvent(event or "message", "\n".join(values), last_event_id))
            event, values, held = "", [], 0
            continue
        if line.startswith(":"):
            items.append(Comment(line[2:] if line[1:2] == " " else line[1:]))
            continue
        held += len(raw) + 1
        name, colon, value = line.partition(":")
        if colon and value[:1] == " ":
            value = value[1:]
        if name == "event":
            event = value
        if name == "data":
            values.append(value)
        if name == "id" and "\0" not in value:
            block_id = value
        if name == "retry" and re.fullmatch("[0-9]+", value) and len(value.lstrip("0")) <= 4300:
            retry = int(value.lstrip("0") or "0")
    if not skipping and not undecided and held + len(rest) > limit and rest:
        items.append(EventTooLarge(limit))
    return items, last_event_id, retry
