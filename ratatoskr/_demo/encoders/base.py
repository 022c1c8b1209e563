"""What the encoders have in common."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from ratatoskr_proto import (
    Done,
    Event,
    Reasoning,
    ServerError,
    Text,
    encode_comment,
    encode_event,
)

# Line ends to str.splitlines(), with which google-genai reads lines; in the standard they are not.
_LINE_ENDS = re.compile("[\x85\u2028\u2029]")


class Frame(NamedTuple):
    """One frame of an event stream; None leaves a field out. ``before`` goes out before it."""

    data: str
    event: str | None = None
    id: str | None = None
    before: bytes = b""

    def encode(self) -> bytes:
        """The bytes of the frame, with the blank line that ends it."""
        return self.before + encode_event(self.data, event=self.event, id=self.id)


class Encoder(ABC):
    """Writes one answer. Call ``start`` first, and ``done`` or ``error`` last.

    ``number`` (int) tells the answers of a server apart; ``model`` (str) is the name that the
    answer gives its model.
    """

    dialect: ClassVar[str]
    keep_alive: ClassVar[bytes] = encode_comment("keep-alive") + b"\n"

    def __init__(self, number: int, model: str) -> None:
        self._number = number
        self._model = model

    def start(self) -> list[Frame]:
        """The frames before the first piece of the answer."""
        return []

    def encode(self, event: Event) -> list[Frame]:
        """The frames of a ``Text``, ``Reasoning``, ``Done`` or ``ServerError``.

        Raises TypeError for another event.
        """
        match event:
            case Text(text):
                return self.text(text)
            case Reasoning(text):
                return self.reasoning(text)
            case Done(stop_reason):
                return self.done(stop_reason)
            case ServerError(message):
                return self.error(message)
        raise TypeError(f"cannot encode {type(event).__name__}")

    @abstractmethod
    def text(self, text: str) -> list[Frame]:
        """The frames of a piece of the answer."""

    @abstractmethod
    def reasoning(self, text: str) -> list[Frame]:
        """The frames of a piece of the model's thinking."""

    @abstractmethod
    def done(self, stop_reason: str | None = None) -> list[Frame]:
        """The frames that complete the answer. None is the usual reason of the dialect."""

    @abstractmethod
    def error(self, message: str) -> list[Frame]:
        """The frames in which the server gives up the answer."""

    @staticmethod
    @abstractmethod
    def error_body(status: int, message: str) -> Any:
        """The JSON body of a response with an error status."""


def to_json(body: Any) -> str:
    """The JSON of a body on one line, in the script that it is written in."""
    text = json.dumps(body, ensure_ascii=False)
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text)
