"""The script of the demo server: what it does with a request, and how a request changes that."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .answers import Prompt
from .faults import FAULT_WORDS, Faults, number
from .recording import Recording

LARGEST_EVENTS = 10**9
LARGEST_PACE = 3600


@dataclass(frozen=True)
class Script:
    """What the server does with every request, unless the request asks for something else.

    ``events`` (int) is the number of frames of an answer, by default 1100, or with a ``text`` one
    for each four characters; an answer has at least what its dialect needs. ``pace`` (float) is the
    time between frames, in seconds. ``text`` (str) is the whole text of the answer, by default a
    long talk about a squirrel; ``reasoning`` (str) is what the model thinks first. With a
    ``model`` (str), requests for another model, or for none, are refused.

    ``recording`` is sent to every request in place of an answer.

    Raises ValueError for a value out of range, and for a text that UTF-8 cannot carry.
    """

    faults: Faults = field(default_factory=Faults)
    events: int | None = None
    pace: float = 0.0
    text: str | None = None
    reasoning: str = ""
    model: str | None = None
    recording: Recording | None = None

    def __post_init__(self) -> None:
        if self.events is not None and not 1 <= self.events <= LARGEST_EVENTS:
            raise ValueError(f"events must be a number from 1 to {LARGEST_EVENTS}")
        if not 0 <= self.pace <= LARGEST_PACE:
            raise ValueError(f"pace must be a number of seconds from 0 to {LARGEST_PACE}")
        for name, text in (("text", self.text or ""), ("reasoning", self.reasoning)):
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError(f"{name} must not contain a lone surrogate") from None

    def prompt(self, message: str) -> Prompt:
        """What to answer to a message."""
        return Prompt(message, self.text, self.reasoning, self.events)


def changed_by_query(
    script: Script, query: Iterable[tuple[str, str]], *, strict: bool
) -> tuple[Script, Faults]:
    """The script with the changes in the query of a request, and the faults that the query adds.

    Raises ValueError for an invalid value, and with ``strict`` for an unknown parameter; else that
    is left alone, since it may mean something to the server that this one stands in for.
    """
    changes: dict[str, Any] = {}
    specs = []
    for name, value in query:
        if name == "events":
            changes[name] = number(name, value)
        elif name == "pace":
            changes[name] = _seconds(value)
        elif name in ("text", "reasoning"):
            changes[name] = value
        elif name == "fault":
            specs.append(value)
        elif strict or name in FAULT_WORDS:
            specs.append(f"{name}={value}" if value else name)
    return replace(script, **changes), Faults(specs)


def _seconds(value: str) -> float:
    with contextlib.suppress(ValueError):
        return float(value)
    return math.nan  # which is out of range
