"""When to reconnect after a connection is lost: the rules, without a clock or random numbers.

See docs/resume.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from . import _arguments
from ._errors import RatatoskrError, SseConnectFailed, SseConnectionDropped

# A server that answers with one of these is up and expects to recover: RFC 9110 section 15, RFC
# 6585 and 8470.
_PASSING_STATUSES = frozenset([408, 425, 429, 500, 502, 503, 504])
# What another try does not change: the caller's own will, and what is wrong at the other end.
_FINAL_DROPS = frozenset(["closed", "event timeout"])
_FINAL_FAILURES = frozenset(["tls", "redirect", "protocol"])


def is_retryable(error: RatatoskrError) -> bool:
    """Whether an error is worth another try: the rule of ``ReconnectPolicy`` unless it has another.

    True for a connection that was lost or could not be made, and for the statuses 408, 425, 429,
    500, 502, 503 and 504. False for everything else; docs/errors.md has a list.
    """
    if isinstance(error, SseConnectionDropped):
        return error.reason.word not in _FINAL_DROPS
    if isinstance(error, SseConnectFailed):
        if error.status is None:
            return error.reason.word not in _FINAL_FAILURES
        return error.status in _PASSING_STATUSES
    return False


@dataclass(frozen=True)
class ReconnectPolicy:
    """How often to reconnect, and how long to wait before. All times are in seconds.

    ``attempts`` (int >= 0, or None for no limit) is how often to try again without progress in
    between. The first wait is ``floor``, or what the server's ``retry:`` says, and each further one
    is longer by ``factor`` (>= 1) until there is progress. Whatever the server says, no
    wait is shorter than ``floor`` (> 0) or longer than ``ceiling``. Then up to the fraction
    ``jitter`` (0 to 1) of the wait is added at random, so that many clients do not come back at the
    same moment.

    ``retryable`` (callable) says of an ``SseConnectionDropped`` or ``SseConnectFailed`` whether it
    is worth another try. Some errors are final without asking it, see ``Reconnector.lost``.

    Raises TypeError or ValueError for invalid values.
    """

    attempts: int | None = 8
    floor: float = 1.0
    ceiling: float = 30.0
    factor: float = 2.0
    jitter: float = 0.5
    retryable: Callable[[RatatoskrError], bool] = is_retryable

    def __post_init__(self) -> None:
        if self.attempts is not None:
            _arguments.integer("attempts", self.attempts, least=0)
        for name in ("floor", "ceiling", "factor", "jitter"):
            _arguments.number(name, getattr(self, name))
        if self.floor <= 0:
            raise ValueError("floor must be more than 0 seconds, or a server could make us spin")
        if self.ceiling < self.floor:
            raise ValueError("ceiling must be at least as many seconds as floor")
        if self.factor < 1:
            raise ValueError("factor must be 1 or more")
        if not 0 <= self.jitter <= 1:
            raise ValueError("jitter must be a fraction from 0 to 1")
        _arguments.function("retryable", self.retryable)


class Wait(NamedTuple):
    """Wait for ``seconds`` (float), then reconnect."""

    seconds: float


class GiveUp(NamedTuple):
    """Do not reconnect; ``reason`` (str) says why, in a few words for people."""

    reason: str


class Reconnector:
    """Decides, for one stream, whether and when to reconnect. It does no I/O, reads no clock and
    draws no random numbers: the time and the chance are arguments.

    Tell it what happens, and do what ``lost`` answers::

        reconnector = Reconnector(ReconnectPolicy(attempts=5))

        reconnector.opened()                    # the head of a good answer has come
        reconnector.retry_ms(decoder.retry_ms)  # any time before lost()
        reconnector.progress()                  # a new event has come
        reconnector.retry_after("120", now)     # a refusal had this header
        match reconnector.lost(error, random.random()):
            case Wait(seconds): ...
            case GiveUp(reason): raise error

    docs/resume.md has a whole client around it.
    """

    def __init__(self, policy: ReconnectPolicy | None = None) -> None:
        """``policy`` None is ``ReconnectPolicy()``. Raises TypeError for anything else."""
        if policy is None:
            policy = ReconnectPolicy()
        if not isinstance(policy, ReconnectPolicy):
            raise TypeError(f"policy must be a ReconnectPolicy, not {type(policy).__name__}")
        self._policy = policy
        self._base = policy.floor
        self._growth = 1.0
        self._attempts = 0
        self._least = 0.0  # what a Retry-After asked for
        self._given_up: GiveUp | None = None

    def opened(self) -> None:
        """Say that there is a stream. That alone is not progress: a server may open and drop for
        ever. But the wait that an earlier refusal asked for no longer counts.
        """
        self._least = 0.0

    def progress(self) -> None:
        """Say that something new has come, such as an event that is not a replay. Waits start from
        the shortest again, and attempts are counted from 0.
        """
        self._growth = 1.0
        self._attempts = 0

    def retry_ms(self, ms: int | None) -> None:
        """Say what the ``retry:`` of the stream is, in milliseconds. None, which decoders have
        until one has come, changes nothing.

        Raises TypeError for anything but an int, ValueError for a negative one.
        """
        if ms is None:
            return
        _arguments.integer("ms", ms, least=0)
        # Compared as an int, since one of 4300 digits fits no float.
        ceiling = self._policy.ceiling
        self._base = self._clamp(ceiling if ms // 1000 >= ceiling else ms / 1000)

    def retry_after(self, value: str, now: float) -> None:
        """Say what the ``Retry-After`` of a refusal was: the next wait is at least that long, as
        far as ``ceiling`` allows.

        ``value`` (str) is a number of seconds or an HTTP date (RFC 9110, section 10.2.3), and
        anything else is ignored. ``now`` is the time in seconds since 1970. Raises TypeError or
        ValueError for invalid arguments.
        """
        _arguments.text("value", value)
        _arguments.number("now", now)
        text = value.strip(" \t")
        if text.isascii() and text.isdigit():
            self._least = float(text)  # inf for too many digits
            return
        date = _http_date(text)
        if date is not None:
            self._least = max(0.0, date - now)

    def lost(self, error: RatatoskrError, jitter: float) -> Wait | GiveUp:
        """Say that a connection was lost or could not be made, and how.

        ``jitter`` is a random number from 0 to 1, such as ``random.random()`` gives. Returns
        ``Wait(seconds)``; or ``GiveUp(reason)``, and then ever after:

        - if the error is neither ``SseConnectionDropped`` nor ``SseConnectFailed``, if its reason
          is that the caller has closed the stream, or its status is 204, which means stop;
        - if the policy says that the error is not worth another try;
        - if all attempts are used up.

        Raises TypeError or ValueError for invalid arguments, and what ``retryable`` raises.
        """
        if not isinstance(error, RatatoskrError):
            raise TypeError(f"error must be a RatatoskrError, not {type(error).__name__}")
        _arguments.number("jitter", jitter)
        if not 0 <= jitter <= 1:
            raise ValueError("jitter must be from 0 to 1")
        if self._given_up is None:
            reason = self._reason_to_give_up(error)
            if reason is not None:
                self._given_up = GiveUp(reason)
        if self._given_up is not None:
            return self._given_up
        wait = self._clamp(max(self._base * self._growth, self._least))
        self._attempts += 1
        self._growth *= self._policy.factor  # inf at worst
        self._least = 0.0
        # The jitter comes last. Before the ceiling, it would be lost there, and all clients that a
        # server sent away with one Retry-After would come back in the same moment.
        longer = wait * (1 + self._policy.jitter * jitter)
        return Wait(min(longer, sys.float_info.max))

    def _reason_to_give_up(self, error: RatatoskrError) -> str | None:
        if not isinstance(error, (SseConnectionDropped, SseConnectFailed)):
            return f"{type(error).__name__} is final"
        if isinstance(error, SseConnectionDropped) and error.reason.word == "closed":
            return "the stream was closed"
        if isinstance(error, SseConnectFailed) and error.status == 204:
            return "status 204 means stop"
        if not self._policy.retryable(error):
            return f"{error.reason.word or error.reason} is not worth another try"
        if self._attempts == self._policy.attempts:
            return f"no progress in {self._attempts} attempts"
        return None

    def _clamp(self, seconds: float) -> float:
        return min(max(seconds, self._policy.floor), self._policy.ceiling)


def _http_date(text: str) -> float | None:
    """Return an HTTP date in seconds since 1970, None for any other text."""
    # Only here, since it is slow to import and, on Python 3.11, loads socket.
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
        # Two of the three forms of the date name a zone; in all, RFC 9110 says, it is UTC.
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except Exception:  # the parser accepts a lot, and may raise anything for the rest
        return None
