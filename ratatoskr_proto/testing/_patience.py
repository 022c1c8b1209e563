"""Runs code that may never return."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import TIMEOUT_MAX, Event, Thread
from typing import TypeVar

Result = TypeVar("Result")
_LOOKS = 4  # at the progress, in the time that is given


class Hung(Exception):
    """The code has made no progress; the message is the place where it stood."""


def run_patiently(run: Callable[[], Result], progress: Callable[[], int], seconds: float) -> Result:
    """Return what ``run`` returns. Raises what it raises.

    Raises Hung if ``progress()`` stays the same for ``seconds``, or a little longer. For that
    it runs in a thread of its own: nothing can stop code that never returns, so the thread is
    abandoned then, and does not keep the process alive.
    """
    results: list[Result] = []
    errors: list[BaseException] = []
    done = Event()

    def work() -> None:
        try:
            results.append(run())
        except BaseException as error:
            errors.append(error)
        done.set()

    thread = Thread(target=work, daemon=True)
    thread.start()
    before, looks = -1, 0
    while not done.wait(min(seconds / _LOOKS, TIMEOUT_MAX)):
        now = progress()
        looks = looks + 1 if now == before else 0
        before = now
        if looks == _LOOKS:
            raise Hung(_place(thread))
    if errors:
        raise errors[0]
    return results[0]


def _place(thread: Thread) -> str:
    frame = sys._current_frames()[thread.ident or 0]
    code = frame.f_code
    return f"{code.co_filename}, line {frame.f_lineno}, in {code.co_name}"
