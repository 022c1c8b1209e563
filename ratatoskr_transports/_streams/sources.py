"""Where the bytes of a stream come from, and what comes of opening it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from ratatoskr_proto import RatatoskrError


class Lost(Exception):
    """Raised by a source of our own: the body ended for the reason that it carries."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Source(Protocol):
    """Where the bytes of a body come from.

    It may also have ``receive_within(seconds)``, which is ``receive`` with a limit of its own and
    raises TimeoutError when that has passed; then timeouts are exact.
    """

    async def receive(self) -> bytes:
        """Return the next bytes of the body as they come, ``b""`` at its end."""
        ...

    async def aclose(self) -> None:
        """Close the connection at once, however much of the body is left."""
        ...


class SyncSource(Protocol):
    """Where the bytes of a body come from, for sync code."""

    def receive(self) -> bytes:
        """Return the next bytes of the body as they come, ``b""`` at its end."""
        ...

    def close(self) -> None:
        """Close the connection at once, however much of the body is left."""
        ...


SourceT = TypeVar("SourceT")


class Opened(NamedTuple, Generic[SourceT]):
    """What an adapter gives once the head of a good response is there."""

    source: SourceT
    status: int
    headers: Mapping[str, str]


class Refused(NamedTuple):
    """What an adapter gives if there is no stream: why, and the ``Retry-After`` of the answer."""

    error: RatatoskrError
    retry_after: str = ""


class Opener(Protocol):
    """What an adapter opens a stream with."""

    async def __call__(self) -> Opened[Source] | Refused:
        """Send the request and read the head of the response."""
        ...

    async def again(self, last_event_id: str) -> Opened[Source] | Refused:
        """Open the stream once more, behind this event."""
        ...


class SyncOpener(Protocol):
    """What an adapter opens a stream with, for sync code."""

    def __call__(self) -> Opened[SyncSource] | Refused:
        """Send the request and read the head of the response."""
        ...

    def again(self, last_event_id: str) -> Opened[SyncSource] | Refused:
        """Open the stream once more, behind this event."""
        ...
