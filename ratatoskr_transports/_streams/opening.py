"""Opening the connections of a stream: the first one and, with a policy, others after a loss.

A stream that has yet to be opened has its opening as its source. It asks the opening for a
connection and gets one, or None; then its cursor knows how the stream ended. See docs/resume.md.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeAlias

from ratatoskr_proto import (
    RatatoskrError,
    Reconnector,
    ReconnectPolicy,
    SseConnectFailed,
    SseConnectionDropped,
    Wait,
)

from .cursor import Cursor, EventCursor, logger
from .labels import reconnect_label
from .sources import AsyncBody, HttpBody, Opener, Refused, SyncBody, SyncOpener

# Called before a wait with the error that led to it and the seconds that it takes.
OnWait: TypeAlias = Callable[[RatatoskrError, float], object]


class Reconnecting(NamedTuple):
    """How a stream reconnects: not at all without a ``policy``."""

    policy: ReconnectPolicy | None = None
    on_wait: OnWait | None = None
    needs_id: bool = False  # whether an event stream can be resumed after an id only
    chance: Callable[[], float] = random.random
    now: Callable[[], float] = time.time


class _Opening:
    """Decides whether and when a stream reconnects: the part that async and sync code share."""

    def __init__(self, reconnecting: Reconnecting) -> None:
        self.reconnects = 0
        self.refused: Refused | None = None  # the response that was not a stream
        self._how = reconnecting
        self._reconnector = Reconnector(reconnecting.policy)
        self._loss: SseConnectionDropped | None = None  # how the last connection ended

    def attach(self, cursor: Cursor[Any]) -> None:
        """Take on the stream of this cursor."""
        self._cursor = cursor
        cursor.resumable = self._how.policy is not None
        cursor.needs_id = self._how.needs_id

    def _wait_after(self, refused: Refused) -> float | None:
        """Return the seconds to wait before the next try, or None if there is to be none; then the
        cursor has been told how the stream ends. Raises what ``on_wait`` does.
        """
        self.refused = refused
        cursor, reconnector, error = self._cursor, self._reconnector, refused.error
        if self._how.policy is None:
            cursor.fail(error)
            return None
        if isinstance(error, SseConnectionDropped):
            self._loss = error
        if cursor.has_progressed():
            reconnector.progress()
        reconnector.retry_ms(cursor.retry_ms)
        if retry_after := refused.headers.get("retry-after"):
            reconnector.retry_after(retry_after, self._how.now())
        # A stream that nobody can resume, such as a turn without an event, is not worth a wait.
        if cursor.last_event_id_to_send is not None:
            answer = reconnector.lost(error, self._how.chance())
            if isinstance(answer, Wait):
                self.reconnects += 1
                label = reconnect_label(answer.seconds, error)
                logger.info(label, extra={"seconds": answer.seconds})
                if self._how.on_wait is not None:
                    self._how.on_wait(error, answer.seconds)
                return answer.seconds
        self._give_up(error)
        return None

    def _give_up(self, error: RatatoskrError) -> None:
        """Tell the cursor how the stream ends, after this error."""
        if self._loss is None or not isinstance(error, SseConnectFailed):
            self._cursor.fail(error)
        elif error.status == 204 and isinstance(self._cursor, EventCursor):
            self._cursor.end()  # the standard: this is how a server says that there is no more
        else:
            word = error.reason.word
            failure = f"status {error.status}" if word == "status" else error.reason
            reason = f"{self._loss.reason}; reconnect failed: {failure}"
            self._cursor.fail(SseConnectionDropped(self._loss.last_sse_id, reason))


class AsyncOpening(_Opening):
    """Opens the connections of an async stream, and is its source until there is one.

    ``library`` is anyio or trio, whose ``sleep`` and ``CancelScope`` bear the same names.
    """

    def __init__(self, opener: Opener, library: Any, reconnecting: Reconnecting) -> None:
        super().__init__(reconnecting)
        self._opener = opener
        self._library = library
        self._scope: Any = None
        self._closed = False

    async def open(self, loss: RatatoskrError | None = None) -> AsyncBody | None:
        """Return the first connection, or the one that resumes after a ``loss``; None if the stream
        has ended.
        """
        refused = None if loss is None else Refused(loss)
        while not self._closed:
            seconds, last_event_id = 0.0, None
            if refused is not None:
                wait = self._wait_after(refused)
                if wait is None:
                    break
                seconds, last_event_id = wait, self._cursor.last_event_id_to_send
            # It is open in here only, so closing the stream ends the wait, or the connecting.
            with self._library.CancelScope() as self._scope:
                if seconds:
                    await self._library.sleep(seconds)
                opened = await self._opener.open(last_event_id)
                if isinstance(opened, HttpBody):
                    self._reconnector.opened()
                    return opened
                refused = opened
        return None

    async def receive(self) -> NoReturn:
        """Raise RuntimeError, since there is no connection yet."""
        raise RuntimeError("the stream is not open; enter it with 'async with' first")

    async def aclose(self) -> None:
        """End a wait or an attempt to connect that is going on, and allow no other."""
        self._closed = True
        if self._scope is not None:
            self._scope.cancel()


class SyncOpening(_Opening):
    """Opens the connections of a sync stream, and is its source until there is one."""

    def __init__(self, opener: SyncOpener, reconnecting: Reconnecting) -> None:
        super().__init__(reconnecting)
        self._opener = opener
        self._closed = threading.Event()

    def open(self, loss: RatatoskrError | None = None) -> SyncBody | None:
        """Return the first connection, or the one that resumes after a ``loss``; None if the stream
        has ended.
        """
        refused = None if loss is None else Refused(loss)
        while not self._closed.is_set():
            last_event_id = None
            if refused is not None:
                wait = self._wait_after(refused)
                if wait is None or self._closed.wait(min(wait, threading.TIMEOUT_MAX)):
                    break
                last_event_id = self._cursor.last_event_id_to_send
            opened = self._opener.open(last_event_id)
            if isinstance(opened, HttpBody):
                self._reconnector.opened()
                return opened
            refused = opened
        return None

    def receive(self) -> NoReturn:
        """Raise RuntimeError, since there is no connection yet."""
        raise RuntimeError("the stream is not open; enter it with 'with' first")

    def close(self) -> None:
        """End a wait that is going on, and allow no other."""
        self._closed.set()
