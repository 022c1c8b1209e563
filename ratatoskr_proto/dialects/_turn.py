"""Turns of a chat server that numbers its frames: see docs/turn-protocol.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._event_types import DEFAULT_EVENT_TYPES, EventTypes
from .._events import Done, E, Event, ServerError, Text, Unknown, new_text
from .._sse_id import SseId
from ._dialect import Dialect


class TurnDialect(Dialect[E | Unknown]):
    """The JSON ``type`` of a frame names the event class, in a table."""

    name = "turn"

    def __init__(self, event_types: EventTypes[E]) -> None:
        self.event_types = event_types
        self._classes: dict[str, type[Event]] = dict(event_types)  # its get() is no Python code

    def read(self, sse_id: SseId, event: str, body: Any) -> Sequence[E | Unknown]:
        """Build the event. The field ``event`` plays no part."""
        if not isinstance(body, dict):
            raise TypeError("an event is a JSON object")
        type_name = body["type"]
        event_class = self._classes.get(type_name)
        found: list[Any]  # no type checker can follow the table
        if event_class is Text and isinstance(text := body["text"], str):
            found = [new_text(text, sse_id, body)]  # as from_body() does
        elif event_class is not None:
            found = [event_class.from_body(sse_id, body)]
        elif isinstance(type_name, str):
            found = [Unknown(type_name, sse_id=sse_id, body=body)]
        else:
            raise TypeError("the type of an event is a string")
        return found


TurnDialect.numbered = True  # no other dialect may set it

TURN: TurnDialect[Text | Done | ServerError] = TurnDialect(DEFAULT_EVENT_TYPES)
