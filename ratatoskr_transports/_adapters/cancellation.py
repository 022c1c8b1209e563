"""Lets a library finish closing a connection, however often its task is cancelled meanwhile.

httpcore shields its closing from cancel scopes, but not from ``Task.cancel()``. A second one, while
it still reacts to the first, would leave the connection in the pool, in use for ever.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def to_the_end(awaitable: Awaitable[T], *, shielded: bool = False) -> Generator[Any, Any, T]:
    """Await something that ``Task.cancel()`` can cancel once, or, if it is ``shielded``, not at
    all.

    From then on it runs to its end, and only then is CancelledError raised. On event loops other
    than that of asyncio this is a plain ``await``.
    """
    steps = awaitable.__await__()
    cancellation: asyncio.CancelledError | None = None  # one that was held back
    go_on: Any = steps.send
    value: Any = None
    while True:
        try:
            future = go_on(value)
        except StopIteration as end:
            if cancellation is not None:
                raise cancellation from None
            return end.value  # type: ignore[no-any-return]
        go_on, value = steps.send, None
        while True:
            try:
                if shielded and asyncio.isfuture(future):
                    # To cancel a task cancels what it waits for, so it waits for something else.
                    yield from asyncio.wait([future]).__await__()
                else:
                    value = yield future
            except asyncio.CancelledError as error:
                if shielded and _by_task(error):
                    cancellation = error
                    continue
                shielded = shielded or _by_task(error)
                go_on, value = steps.throw, error
            except BaseException as error:
                go_on, value = steps.throw, error
            break


def _by_task(cancellation: asyncio.CancelledError) -> bool:
    """Whether ``Task.cancel()`` raised it: cancel scopes of anyio name themselves."""
    return not str(cancellation).startswith("Cancelled via cancel scope")
