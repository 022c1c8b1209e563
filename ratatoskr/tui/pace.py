"""How often the app draws."""

from __future__ import annotations

import time
from collections.abc import Callable

DRAWINGS_A_SECOND = 20
_LONGEST = 5.0  # seconds, after which a drawing counts as done


class DrawingPace:
    """Leaves two thirds of the time to what is drawn, so that on a busy machine, where a drawing
    takes long, events are still read.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = 0.0
        self._next = 0.0

    def start_drawing(self) -> bool:
        """Begin a drawing; return False if it is too early for one."""
        now = self._clock()
        if now < self._next:
            return False
        self._began = now
        self._next = now + _LONGEST
        return True

    def done(self) -> None:
        """The drawing is on the screen."""
        now = self._clock()
        self._next = now + 2 * (now - self._began)
