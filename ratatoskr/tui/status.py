"""The figures of a turn that runs, as the status line of the terminal app shows them."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence

from rich.cells import cell_len

from ratatoskr_proto import (
    Event,
    RatatoskrError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
)

_RATE_SECONDS = 1.0
_WIDE = 68  # columns that the long form needs


class TurnStatus:
    """Counts the bytes and events of a turn. Times are seconds of ``clock``."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = False
        self._last_id: SseId | None = None
        self.start(None)
        self._began = False

    @property
    def last_id(self) -> SseId | None:
        """The id of the last event; at first the one from which the turn was resumed."""
        return self._last_id

    def start(self, resume_from: SseId | None) -> None:
        """Start again for a new turn, or for the rest of one."""
        now = self._clock()
        self._began = True
        self._last_id = resume_from
        self._resumed = resume_from is not None
        self._events = 0
        self._start = self._heard_at = now
        self._recent = deque([(now, 0)])
        self._rate = 0.0
        self._back_at: float | None = None

    def wait(self, error: RatatoskrError, seconds: float) -> None:
        """The connection was lost, and there will be another one after this wait."""
        self._back_at = self._clock() + seconds

    def bytes_came(self) -> None:
        """Bytes came, if only a keep-alive."""
        self._heard_at = self._clock()
        self._back_at = None

    def count(self, sse_id: SseId | None) -> None:
        """An event came."""
        self._events += 1
        if sse_id is not None:
            self._last_id = sse_id
        self.bytes_came()

    def resume_point(self, ending: Event | RatatoskrError | None) -> SseId | None:
        """The id after which a turn that ended like this can be resumed: if its connection was
        lost, or if it was cancelled (None).
        """
        if ending is None:
            return self._last_id
        if isinstance(ending, SseConnectionDropped):
            return ending.last_sse_id
        lost_before = self._resumed or self._back_at is not None
        if isinstance(ending, SseConnectFailed) and lost_before:
            return self._last_id
        return None

    def end(self) -> None:
        """The turn is over; from now on the rate is the average of the whole turn."""
        seconds = self._heard_at - self._start
        self._rate = self._events / seconds if seconds > 0 else 0.0
        self._back_at = None

    def line(
        self, state: str, width: int, *, reconnect: bool = False, names: Sequence[str] = ()
    ) -> str:
        """The status line. In the ``state`` "streaming" it has the present rate and the silence, or
        how long a wait takes; in another state, whether the next turn will ``reconnect``. It has
        as many of the ``names`` as there is room for.
        """
        wide = width >= _WIDE
        now = self._clock()
        rate = silence = ""
        if self._back_at is not None:
            parts = [_until(self._back_at - now, wide)]
        else:
            parts = [state, "reconnect on" if reconnect and wide and state != "streaming" else ""]
            if state == "streaming":
                self._measure(now)
                silence = f"{now - self._heard_at:.1f}"
            rate = f"{self._rate:.0f}/s"
        if self._began and wide:
            parts.append(f"last {self._last_id}" if self._last_id else "")
            parts += [f"{self._events} events", rate, silence and f"silent {silence} s"]
        elif self._began:
            parts += [str(self._last_id or ""), silence and f"{silence}s"]
            parts += [f"{self._events}ev", rate]
        parts = list(filter(None, parts))
        between = " · " if wide else " "
        for place, name in enumerate(names, 1):
            if cell_len(between.join([*parts, name])) > width:
                break
            parts.insert(place, name)
        return between.join(parts)

    def _measure(self, now: float) -> None:
        self._recent.append((now, self._events))
        while len(self._recent) > 2 and self._recent[1][0] <= now - _RATE_SECONDS:
            self._recent.popleft()
        since, events = self._recent[0]
        self._rate = (self._events - events) / (now - since) if now > since else 0.0


def _until(seconds: float, wide: bool) -> str:
    """How long it takes until there is another connection, unless it is being opened already."""
    if seconds <= 0:
        return "reconnecting"
    return f"reconnecting in {math.ceil(seconds)} s" if wide else f"back in {math.ceil(seconds)}s"
