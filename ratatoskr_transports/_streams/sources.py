"""Where the bytes of a stream come from, and how an adapter opens a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from ratatoskr_proto import RatatoskrError, Reason

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class SourceLost(Exception):
    """Raised by the ``receive()`` of a source: the body has ended, for this ``reason``.

    ``reason`` (str) starts with a word of docs/errors.md, such as ``"reset"`` or ``"cut body"``,
    and the stream raises ``SseConnectionDropped`` with it; ``"end of stream"`` is the same as
    returning ``b""``. Raises TypeError if it is not a str, ValueError if it does not start with
    such a word.
    """

    def __init__(self, reason: str) -> None:
        if not isinstance(reason, str):
            raise TypeError(f"reason must be a str, not {type(reason).__name__}")
        if not Reason(reason).word:
            raise ValueError("reason must start with a word of docs/errors.md, such as 'reset'")
        super().__init__(reason)
        self.reason = Reason(reason)


class Source(Protocol):
    """Where the bytes of a body come from.

    It may also have ``receive_within(seconds)``, which is ``receive`` with a limit of its own and
    raises TimeoutError when that has passed; then timeouts are exact.
    """

    def receive(self) -> Awaitable[bytes]:
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


class HttpBody:
    """The body of an HTTP response whose head begins an event stream, as a source."""

    status = 0
    headers = NO_HEADERS
    content_encoding = ""


class AsyncBody(HttpBody, ABC):
    """An ``HttpBody`` for async code."""

    @abstractmethod
    def receive(self) -> Awaitable[bytes]:
        """As in ``Source``."""

    @abstractmethod
    async def aclose(self) -> None:
        """As in ``Source``."""

    async def drain(self) -> None:
        """Read the end of the body if it comes at once, so that the connection can be reused."""
        return


class SyncBody(HttpBody, ABC):
    """An ``HttpBody`` for sync code."""

    @abstractmethod
    def receive(self) -> bytes:
        """As in ``SyncSource``."""

    @abstractmethod
    def close(self) -> None:
        """As in ``SyncSource``."""


class Refused(NamedTuple):
    """What an adapter returns if there is no stream: why not, and the headers of the response, if
    any.
    """

    error: RatatoskrError
    headers: Mapping[str, str] = NO_HEADERS


class Opener(Protocol):
    """How an adapter opens a stream."""

    async def open(self, last_event_id: str | None) -> AsyncBody | Refused:
        """Send a request and read the head of the response.

        None stands for the first request, an id for one that resumes after it; the empty id is that
        of a stream without ids, which starts over.
        """
        ...


class SyncOpener(Protocol):
    """How an adapter opens a stream, for sync code."""

    def open(self, last_event_id: str | None) -> SyncBody | Refused:
        """Send a request and read the head of the response, see ``Opener``."""
        ...
