"""The one family of errors.

    RatatoskrError
    ├─ ProtocolError             the server broke the protocol
    │  ├─ MalformedSseData       a frame's data is not JSON
    │  ├─ MalformedSseId         a frame's id is not "<turn>:<seq>"
    │  ├─ MalformedEnvelope      the JSON is not an event that we can read
    │  ├─ TurnIdFlip             the turn changed in the middle of a stream
    │  └─ EventTooLarge          an event passed the size limit
    ├─ SseConnectionDropped      the stream ended before its terminal event
    └─ SseConnectFailed          there was no stream

Instances are values: the decoders return them in their place after the events that came before,
and the transports raise them. They are compared, hashed, copied and pickled by their fields.

They are ordinary classes and not frozen dataclasses, because Python itself writes
``__traceback__`` and ``__notes__`` on an exception that is raised.

Text from the server is cut in the constructor, so no error keeps more of a payload than its field
shows. See docs/errors.md.
"""

from __future__ import annotations

from typing import Any

from . import _arguments
from ._sse_id import SseId

__all__ = [
    "EventTooLarge",
    "MalformedEnvelope",
    "MalformedSseData",
    "MalformedSseId",
    "ProtocolError",
    "RatatoskrError",
    "Reason",
    "SseConnectFailed",
    "SseConnectionDropped",
    "TurnIdFlip",
]

_FAILURE_WORDS = (
    "status|redirect|content-type|content-encoding|dns|refused|unreachable|tls|connect timeout"
    "|pool timeout|read timeout|closed|protocol"
)
_DROP_WORDS = "end of stream|cut body|reset|protocol|read timeout|event timeout|closed"
_WORDS = frozenset(_FAILURE_WORDS.split("|") + _DROP_WORDS.split("|"))

_MAX_RAW_DATA = 200
_MAX_RAW_ID = 64
_MAX_BODY = 1024


class RatatoskrError(Exception):
    """Base of every error of this project.

    ``__match_args__`` names the fields of a class in the order of its constructor.
    """

    __match_args__: tuple[str, ...] = ()

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._fields()


class ProtocolError(RatatoskrError):
    """Base of the errors of a server that broke the protocol."""


class _MalformedText(ProtocolError):
    """A piece of server text that could not be read, cut to ``_limit`` characters."""

    __match_args__ = ("raw",)
    _limit = _MAX_RAW_DATA
    _what = ""

    def __init__(self, raw: str) -> None:
        self.raw: str = _arguments.text("raw", raw)[: self._limit]
        super().__init__(f"malformed {self._what}: {self.raw!r}")


class MalformedSseData(_MalformedText):
    """The data of a frame is not JSON.

    ``raw`` (str) holds its first 200 characters, and so does the message.
    """

    _what = "SSE data"


class MalformedSseId(_MalformedText):
    """The id of a frame is not ``<turn>:<seq>``, each 1 to 19 ASCII digits.

    ``raw`` (str) holds its first 64 characters, and so does the message.
    """

    _limit = _MAX_RAW_ID
    _what = "SSE id"


class MalformedEnvelope(_MalformedText):
    """The data of a frame is JSON, but not an event.

    It is not an object, has no string ``type``, or has a known type whose fields are missing or of
    the wrong kind. ``raw`` (str) holds its first 200 characters, and so does the message.
    """

    _what = "event envelope"


class TurnIdFlip(ProtocolError):
    """A frame belongs to another turn than the stream.

    ``expected`` (int) is the turn of the stream, ``got`` (int) that of the frame.
    """

    __match_args__ = ("expected", "got")

    def __init__(self, expected: int, got: int) -> None:
        self.expected: int = _arguments.integer("expected", expected)
        self.got: int = _arguments.integer("got", got)
        super().__init__(f"turn id changed from {expected} to {got}")


class EventTooLarge(ProtocolError):
    """An event passed the size limit and was skipped.

    ``limit`` (int) is the limit in bytes. The size of the event is left out: it would depend on how
    the stream was cut into chunks.
    """

    __match_args__ = ("limit",)

    def __init__(self, limit: int) -> None:
        self.limit: int = _arguments.integer("limit", limit)
        super().__init__(f"event larger than {limit} bytes")


class Reason(str):
    """Why there is no stream, or no more of it: a text that starts with a word for programs.

    A ``str`` like any other, with the word as ``word``. docs/errors.md lists the words.
    """

    __slots__ = ()

    @property
    def word(self) -> str:
        """The listed word (str) that the reason is or starts with, ``""`` if there is none.

        What follows the word in a reason is set off by ``"; "``, ``" ("`` or, for ``redirect``,
        ``" to "``.
        """
        word = self.partition("; ")[0].partition(" (")[0]
        if word.startswith("redirect to "):
            word = "redirect"
        return word if word in _WORDS else ""


class SseConnectionDropped(RatatoskrError):
    """The stream ended before its terminal event.

    ``last_sse_id`` (SseId or None) is the id of the last event that came out, from which a turn can
    be resumed. ``reason`` (Reason) is given as a str.
    """

    __match_args__ = ("last_sse_id", "reason")

    def __init__(self, last_sse_id: SseId | None, reason: str) -> None:
        if last_sse_id is not None and not isinstance(last_sse_id, SseId):
            raise TypeError(
                f"last_sse_id must be an SseId or None, not {type(last_sse_id).__name__}"
            )
        self.last_sse_id: SseId | None = last_sse_id
        self.reason: Reason = Reason(_arguments.text("reason", reason))
        super().__init__(f"connection dropped after id {last_sse_id}: {reason}")


class SseConnectFailed(RatatoskrError):
    """There was no stream to read.

    ``status`` (int or None) is the HTTP status if an answer came. ``body`` (str) holds the first
    1024 characters of that answer's body. ``reason`` (Reason) is given as a str.
    """

    __match_args__ = ("status", "body", "reason")

    def __init__(self, status: int | None, body: str, reason: str) -> None:
        self.status: int | None = None if status is None else _arguments.integer("status", status)
        self.body: str = _arguments.text("body", body)[:_MAX_BODY]
        self.reason: Reason = Reason(_arguments.text("reason", reason))
        super().__init__(f"no event stream (status {status}): {reason}")
