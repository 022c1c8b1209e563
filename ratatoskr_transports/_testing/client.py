"""The client of ``check_transport``: opens streams, reads them, and compares.

Checks are written for async streams. A sync stream gets the face of one; nothing in it ever waits,
so the same checks run through without an event loop.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Self

from ratatoskr_proto import Event, RatatoskrError

from .server import CHUNKED, DONE, LAST_CHUNK, CheckPeer, CheckServer, Visit, chunk, frame

MESSAGE = {"message": "Grüße"}
MAX_EVENTS = 100  # no check sends as many


class Misuse(Exception):
    """``connect`` returned something that is not a stream."""


class RuleBroken(Exception):
    """A transport broke one of the rules."""


def require(condition: object, message: str) -> None:
    """Raise RuleBroken unless the condition holds."""
    if not condition:
        raise RuleBroken(message)


class SyncFace:
    """A sync stream with the face of an async one."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    async def __aenter__(self) -> Self:
        self._stream = self._manager.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return self._manager.__exit__(*error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return next(self._stream)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Client:
    """Opens the streams of one check."""

    def __init__(
        self,
        connect: Callable[..., Any],
        server: CheckServer,
        serve: Callable[[CheckPeer], None],
        sync_only: bool,
    ) -> None:
        self._connect = connect
        self._server = server
        self._sync_only = sync_only
        self._takes = _options_of(connect)
        self._url, self.visit = server.expect(serve)

    def open(self, **timeouts: float) -> Any:
        """An async context manager that gives the stream; with those of the timeouts that
        ``connect`` takes.
        """
        return self._open(
            self._url, {name: timeouts[name] for name in timeouts if self.takes(name)}
        )

    def takes(self, option: str) -> bool:
        """Whether ``connect`` takes this option."""
        return option in self._takes

    def _open(self, url: str, timeouts: dict[str, float]) -> Any:
        manager = self._connect(url, json=MESSAGE, **timeouts)
        if hasattr(manager, "__aenter__"):
            if self._sync_only:
                raise Misuse("connect() returns an async stream; use 'await check_transport(...)'")
            return manager
        if hasattr(manager, "__enter__"):
            return SyncFace(manager)
        raise Misuse(f"connect() must return a context manager, not {type(manager).__name__}")

    async def require_closed(self) -> None:
        """Fail unless the server sees the connection closed.

        The server tells by a stream of its own, so that the client's event loop can run meanwhile.
        """

        def tell(peer: CheckPeer) -> None:
            answer = "yes" if self.visit.closed.wait(self.visit.seconds) else "no"
            peer.send(CHUNKED + chunk(frame(1, answer) + DONE) + LAST_CHUNK)

        url, _ = self._server.expect(tell)
        async with self._open(url, {}) as turn:
            event = await anext(aiter(turn))
            require(getattr(event, "text", "") == "yes", "the connection was not closed")


def _options_of(connect: Callable[..., Any]) -> frozenset[str]:
    """Which timeouts ``connect`` takes. Where it takes any option, that is the event timeout, which
    every stream has; the read timeout may be a matter of the client.
    """
    try:
        parameters = inspect.signature(connect).parameters
    except (TypeError, ValueError):  # of a callable that does not tell
        return frozenset()
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return frozenset([*parameters, *(["event_timeout"] if takes_any else [])])


class Counted:
    """Counts how often an awaitable lets the event loop run."""

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self.turns = 0
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        steps: Any = self._awaitable.__await__()
        step, value = steps.send, None
        while True:
            try:
                waited_for = step(value)
            except StopIteration as result:
                return result.value
            self.turns += 1
            try:
                value = yield waited_for
                step = steps.send
            except BaseException as error:  # a cancellation, most likely
                step, value = steps.throw, error


async def read(turn: Any, visit: Visit) -> tuple[list[Event], RatatoskrError | None]:
    """Read a stream to its end, telling the server of each event."""
    events: list[Event] = []
    try:
        async for event in turn:
            events.append(event)
            visit.go_on.set()
            require(len(events) < MAX_EVENTS, "the stream does not end")
    except RatatoskrError as error:
        return events, error
    return events, None


def compare(events: list[Event], expected: list[Event]) -> None:
    require(events == expected, f"the events are {events!r}, not {expected!r}")


def compare_error(got: RatatoskrError | None, expected: RatatoskrError | None) -> None:
    if got is None or expected is None:
        require(got is expected, f"it ended with {got!r}, not with {expected!r}")
        return
    same = type(got) is type(expected)
    for name in expected.__match_args__:
        ours, theirs = getattr(expected, name), getattr(got, name, None)
        if name == "reason":  # it may hold the name of a foreign exception in brackets
            theirs = re.sub(r" \(\w+\)", "", str(theirs))
        same &= theirs == ours
    require(same, f"it ended with {got!r}, not with {expected!r}")
    hidden = got.__cause__ is None and got.__context__ is None
    require(hidden, "the error has another exception as its cause or context")
