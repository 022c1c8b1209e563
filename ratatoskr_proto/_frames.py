"""What the wire layer puts out."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ._errors import EventTooLarge

new_tuple = tuple.__new__  # a NamedTuple's own __new__ is a Python call, three times as slow


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

#: What FrameDecoder puts out in place of a ServerSentEvent: the same three, unnamed.
Frame: TypeAlias = tuple[str, str, str]
