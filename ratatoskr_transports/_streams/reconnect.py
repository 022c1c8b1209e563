"""Going on over another connection when one was lost, see docs/resume.md.

A stream asks its resumption for a new connection and gets one, or none, and then the stream's
cursor knows how it all ended. So there is one place at which a stream goes on, and one object that
knows how; without it nothing of this runs.
"""

from __future__ import annotations

import inspect
import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from ratatoskr_proto import (
    RatatoskrError,
    Reconnector,
    ReconnectPolicy,
    SseConnectFailed,
    SseConnectionDropped,
    Wait,
)

from .._http.request import check_method
from .cursor import Cursor, EventCursor, logger
from .labels import reconnect_label
from .sources import Opened, Opener, Refused, Source, SyncOpener, SyncSource

OnWait: TypeAlias = Callable[[RatatoskrError, float], object]


def check_reconnect(
    reconnect: ReconnectPolicy | None,
    *,
    on_wait: OnWait | None = None,
    method: str = "GET",
    resume_url: str | None = None,
) -> None:
    """Raise TypeError or ValueError for arguments that no stream can reconnect with."""
    if on_wait is not None:
        if not callable(on_wait):
            raise TypeError(f"on_wait must be a function or None, not {type(on_wait).__name__}")
        if any(inspect.iscoroutinefunction(each) for each in (on_wait, type(on_wait).__call__)):
            raise TypeError("on_wait must be a plain function, not an async one")
    if reconnect is None:
        if resume_url is not None:
            raise ValueError("resume_url is used with reconnect only; give a ReconnectPolicy too")
        return
    if not isinstance(reconnect, ReconnectPolicy):
        raise TypeError(
            f"reconnect must be a ReconnectPolicy or None, not {type(reconnect).__name__}"
        )
    if check_method(method).upper() != b"GET":
        raise ValueError(
            "with reconnect the request is sent again, so its method must be GET; leave reconnect "
            "out, or start a turn with stream_turn, which resumes with a GET"
        )


class Resumption:
    """Whether a stream goes on after a loss, and when: what async and sync code share."""

    def __init__(
        self,
        policy: ReconnectPolicy,
        *,
        on_wait: OnWait | None = None,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.reconnects = 0
        self._reconnector = Reconnector(policy)
        self._on_wait = on_wait
        self._chance = chance
        self._now = now
        self._loss: SseConnectionDropped | None = None  # how the last connection ended

    def watch(self, cursor: Cursor[Any]) -> None:
        """Take on the stream of this cursor."""
        cursor.resumable = True
        self._cursor = cursor
        self._place = cursor.place

    def _wait_after(self, refused: Refused) -> float | None:
        """Return the seconds to wait before the next try, or None if there is to be none; then the
        cursor has been told how the stream ends. Raises what ``on_wait`` does.
        """
        cursor, reconnector, error = self._cursor, self._reconnector, refused.error
        if isinstance(error, SseConnectionDropped):
            self._loss = error
        if cursor.place is not self._place:
            self._place = cursor.place
            reconnector.progress()
        reconnector.retry_ms(cursor.retry_ms)
        if refused.retry_after:
            reconnector.retry_after(refused.retry_after, self._now())
        # What nobody can resume, such as a turn without an event, is not worth a wait either.
        if cursor.last_event_id_to_send is not None:
            answer = reconnector.lost(error, self._chance())
            if isinstance(answer, Wait):
                self.reconnects += 1
                label = reconnect_label(answer.seconds, error)
                logger.info(label, extra={"seconds": answer.seconds})
                if self._on_wait is not None:
                    self._on_wait(error, answer.seconds)
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
            failure = f"status {error.status}" if error.reason == "status" else error.reason
            reason = f"{self._loss.reason}; reconnect failed: {failure}"
            self._cursor.fail(SseConnectionDropped(self._loss.last_sse_id, reason))


class AsyncResumption(Resumption):
    """As ``Resumption``, and does it in async code.

    ``library`` is anyio or trio, whose ``sleep`` and ``CancelScope`` bear the same names.
    """

    def __init__(
        self, policy: ReconnectPolicy, opener: Opener, library: Any, **injected: Any
    ) -> None:
        super().__init__(policy, **injected)
        self._opener = opener
        self._library = library
        self._scope: Any = None
        self._closed = False

    async def reopen(self, refused: Refused) -> Opened[Source] | None:
        """Return a new connection in place of what was lost or refused, None if the stream ends."""
        while not self._closed and (seconds := self._wait_after(refused)) is not None:
            # It is open in here only, so closing the stream ends the wait, or the connecting.
            with self._library.CancelScope() as self._scope:
                await self._library.sleep(seconds)
                opened = await self._opener.again(self._cursor.last_event_id_to_send or "")
                if isinstance(opened, Opened):
                    self._reconnector.opened()
                    return opened
                refused = opened
        return None

    def close(self) -> None:
        """End a wait that is going on, and allow no other."""
        self._closed = True
        if self._scope is not None:
            self._scope.cancel()


class SyncResumption(Resumption):
    """As ``Resumption``, and does it in sync code."""

    def __init__(self, policy: ReconnectPolicy, opener: SyncOpener, **injected: Any) -> None:
        super().__init__(policy, **injected)
        self._opener = opener
        self._closed = threading.Event()

    def reopen(self, refused: Refused) -> Opened[SyncSource] | None:
        """Return a new connection in place of what was lost or refused, None if the stream ends."""
        while not self._closed.is_set() and (seconds := self._wait_after(refused)) is not None:
            if self._closed.wait(min(seconds, threading.TIMEOUT_MAX)):
                break
            opened = self._opener.again(self._cursor.last_event_id_to_send or "")
            if isinstance(opened, Opened):
                self._reconnector.opened()
                return opened
            refused = opened
        return None

    def close(self) -> None:
        """End a wait that is going on, and allow no other."""
        self._closed.set()
