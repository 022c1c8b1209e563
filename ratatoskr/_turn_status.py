"""The figures of a turn that runs, as the status line of the terminal app shows them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ratatoskr_proto import SseId

_RATE_SECONDS = 1.0
_WIDE = 68  # columns that the long form needs


class TurnStatus:
    """Counts what comes of a turn. Times are seconds of ``clock``."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = False
        self._last_id: SseId | None = None
        self.begin(None)
        self._began = False

    @property
    def last_id(self) -> SseId | None:
        """The id of the last event; at first the one from which the turn was resumed."""
        return self._last_id

    def begin(self, resume_from: SseId | None) -> None:
        """Start again for a new turn, or for the rest of one."""
        now = self._clock()
        self._began = True
        self._last_id = resume_from
        self._events = 0
        self._start = self._heard_at = now
        self._recent = deque([(now, 0)])
        self._rate = 0.0

    def hear(self, data: bytes = b"") -> None:
        """Something came, be it only a keep-alive."""
        self._heard_at = self._clock()

    def count(self, sse_id: SseId | None) -> None:
        """An event came."""
        self._events += 1
        if sse_id is not None:
            self._last_id = sse_id
        self.hear()

    def end(self) -> None:
        """The turn is over; the rate is that of the whole turn now."""
        seconds = self._heard_at - self._start
        self._rate = self._events / seconds if seconds > 0 else 0.0

    def line(self, state: str, width: int) -> str:
        """The status line. With ``state`` "streaming" it has a rate of now, and the silence."""
        parts = [state]
        silence = ""
        if state == "streaming":
            now = self._clock()
            self._measure(now)
            silence = f"{now - self._heard_at:.1f}"
        wide = width >= _WIDE
        if self._began:
            if wide:
                turn = "-" if self._last_id is None else self._last_id.turn_id
                parts += [f"turn {turn}", f"last {self._last_id or '-'}"]
                parts += [f"{self._events} events", f"{self._rate:.0f}/s"]
                parts += [f"silent {silence} s"] if silence else []
            else:
                parts += [str(self._last_id or "-")]
                parts += [f"{silence}s"] if silence else []
                parts += [f"{self._events}ev", f"{self._rate:.0f}/s"]
        return (" · " if wide else " ").join(parts)

    def _measure(self, now: float) -> None:
        self._recent.append((now, self._events))
        while len(self._recent) > 2 and self._recent[1][0] <= now - _RATE_SECONDS:
            self._recent.popleft()
        since, events = self._recent[0]
        self._rate = (self._events - events) / (now - since) if now > since else 0.0
