"""For testing code that reads streams, and transports. Nothing here needs a test framework.

``ScriptedSource`` stands in for a connection, so that code that reads a stream can be tested
without one::

    pause = Pause()
    source = ScriptedSource([b"id: 42:1\\nda", b"ta: …\\n\\n", pause, ConnectionResetError()])
    async with TurnStream(source) as turn:
        ...

``check_transport`` runs a transport, ours or yours, against a server on loopback and reports the
rules of docs/transports.md that it breaks.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from ._testing.checks import run_checks

__all__ = [
    "Pause",
    "ScriptedSource",
    "SyncScriptedSource",
    "check_transport",
    "check_transport_sync",
]


class _Signal:
    """An event that tasks on asyncio and trio, and threads, can wait for."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._async_events: list[Any] = []

    def set(self) -> None:
        self._event.set()
        for event in self._async_events:
            event.set()

    async def wait(self) -> None:
        if not self._event.is_set():
            # A program that runs on trio has loaded it.
            trio = sys.modules.get("trio")
            in_trio = trio is not None and trio.lowlevel.in_trio_task()
            event = trio.Event() if trio is not None and in_trio else asyncio.Event()
            self._async_events.append(event)
            await event.wait()

    def wait_in_thread(self) -> None:
        self._event.wait()


class Pause:
    """A step of a script at which the source waits until ``go_on()`` is called, or for ever.

    Async code calls the methods on the event loop that it runs on; for sync sources, another thread
    may call ``go_on()``.
    """

    def __init__(self) -> None:
        self._reached = _Signal()
        self._over = _Signal()

    def go_on(self) -> None:
        """Let the source continue, even before it has reached this step."""
        self._over.set()

    async def reached(self) -> None:
        """Wait until a source has reached this step."""
        await self._reached.wait()

    def reached_in_thread(self) -> None:
        """As ``reached``, for sync code: block this thread."""
        self._reached.wait_in_thread()


Step: TypeAlias = bytes | Pause | type[Pause] | Exception


class _Script:
    """What sync and async sources share: the steps, and how far they have been played."""

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        """``steps`` are bytes to be received; a ``Pause``, or the class ``Pause`` itself to wait
        for ever; and exceptions (Exception) to be raised. After the last one the body ends.

        Raises TypeError for any other step.
        """
        self._steps = [Pause() if step is Pause else step for step in steps]
        for step in self._steps:
            if not isinstance(step, (bytes, Pause, Exception)):
                raise TypeError(
                    f"a step is bytes, a Pause or an exception, not {type(step).__name__}"
                )
        self._paused: Pause | None = None
        self._closed = False
        self._bytes_read = 0

    @property
    def closed(self) -> bool:
        """Whether the source was closed."""
        return self._closed

    @property
    def bytes_read(self) -> int:
        """How many bytes were received so far."""
        return self._bytes_read

    def _next_pause(self) -> Pause | None:
        """Take the next step if it is a pause, and say that it is reached."""
        if self._closed or not self._steps or not isinstance(self._steps[0], Pause):
            return None
        self._paused = self._steps[0]
        self._paused._reached.set()
        return self._paused

    def _end_pause(self) -> None:
        if not self._closed:
            del self._steps[0]

    def _next_bytes(self) -> bytes:
        if self._closed:
            raise ConnectionAbortedError("the source was closed")
        if not self._steps:
            return b""
        step = self._steps.pop(0)
        if isinstance(step, Exception):
            raise step
        assert isinstance(step, bytes)
        self._bytes_read += len(step)
        return step

    def _close(self) -> None:
        self._closed = True
        if self._paused is not None:
            self._paused.go_on()


class ScriptedSource(_Script):
    """A ``Source`` without a connection, for ``TurnStream`` and ``EventStream``.

    Once it is closed, ``receive()`` raises ConnectionAbortedError, even if it is at a pause. A
    ``receive()`` that is cancelled at a pause can be called again.
    """

    async def receive(self) -> bytes:
        """Return the next bytes of the script, ``b""`` after the last; or raise what it says."""
        while (pause := self._next_pause()) is not None:
            await pause._over.wait()
            self._end_pause()
        return self._next_bytes()

    async def aclose(self) -> None:
        """Close the source."""
        self._close()


class SyncScriptedSource(_Script):
    """As ``ScriptedSource``, for ``SyncTurnStream`` and ``SyncEventStream``."""

    def receive(self) -> bytes:
        """Return the next bytes of the script, ``b""`` after the last; or raise what it says."""
        while (pause := self._next_pause()) is not None:
            pause._over.wait_in_thread()
            self._end_pause()
        return self._next_bytes()

    def close(self) -> None:
        """Close the source."""
        self._close()


async def check_transport(connect: Callable[..., Any], *, seconds: float = 5.0) -> None:
    """Run a transport against a server on loopback, and check what it gives and raises.

    ``connect(url, json=…)`` returns what ``stream_turn`` of an adapter returns: an async context
    manager that gives a stream such as ``TurnStream``, or a sync one that gives a
    ``SyncTurnStream``::

        async with httpx.AsyncClient() as client:
            await check_transport(functools.partial(stream_turn, client))

    If it takes ``event_timeout`` or ``read_timeout`` (seconds), or any option, the checks of these
    timeouts run too.

    The server runs in threads, the transport on the event loop of the caller. Where a transport
    does not read, does not close or does not time out, the server waits up to ``seconds`` (float).

    Raises AssertionError with a line for each check that failed; TypeError if ``connect`` returns
    anything else.
    """
    _report(await run_checks(connect, seconds, sync_only=False))


def check_transport_sync(connect: Callable[..., Any], *, seconds: float = 5.0) -> None:
    """As ``check_transport``, for sync streams and without an event loop."""
    checks = run_checks(connect, seconds, sync_only=True)
    try:
        checks.send(None)  # runs through, since nothing in it ever waits
    except StopIteration as result:
        _report(result.value)


def _report(failures: list[str]) -> None:
    if failures:
        raise AssertionError(
            "\n- ".join([f"the transport failed {len(failures)} checks", *failures])
        )
