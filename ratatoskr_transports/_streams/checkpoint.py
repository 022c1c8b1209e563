"""A point at which a task can be cancelled and others can run, on whatever event loop it is."""

from __future__ import annotations

import sys
from typing import Any


async def checkpoint() -> None:
    """Let the event loop run once, if it is that of asyncio or of trio; else return at once.

    The library is found among the modules that are loaded: a program that runs on it has loaded it.
    """
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        await trio.lowlevel.checkpoint()
        return
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None and _in_task(asyncio):
        await asyncio.sleep(0)


def _in_task(asyncio: Any) -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:  # no event loop of asyncio is running
        return False
