"""The frames that the tests send, and the chunks in which they go out: one definition of each."""

import json
from typing import Any

from ratatoskr_proto import encode_event


def frame(seq: int, turn: int = 42, **body: Any) -> bytes:
    """An event of a turn, with this body."""
    return encode_event(json.dumps(body), id=f"{turn}:{seq}")


def text(seq: int, said: str | None = None, turn: int = 42) -> bytes:
    """A piece of text; by default it is the number of the event."""
    return frame(seq, turn, type="text", text=str(seq) if said is None else said)


def done(seq: int, turn: int = 42) -> bytes:
    """The terminal event of a turn."""
    return frame(seq, turn, type="done")


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body; the empty one ends it."""
    return b"%x\r\n%s\r\n" % (len(data), data)
