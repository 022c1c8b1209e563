"""The id of a turn's event: ``<turn>:<seq>``."""

from __future__ import annotations

import re
from typing import NamedTuple

# [0-9] and not \d, which also takes the digits of other scripts. 19 digits hold any 63-bit number
# and stay far below the length at which int() refuses to convert.
_PATTERN = re.compile(r"([0-9]{1,19}):([0-9]{1,19})")


class SseId(NamedTuple):
    """Where an event stands: the number of its turn and its place in it.

    A tuple, so ``sse_id == (42, 3)`` and ids of one turn compare by place. ``str()`` gives the
    form that travels on the wire and in ``Last-Event-ID``, ``"42:3"``. See docs/turn-protocol.md.
    """

    turn_id: int
    seq: int

    @classmethod
    def parse(cls, raw: str) -> SseId:
        """Read ``"42:3"``: two numbers of 1 to 19 ASCII digits and one colon, nothing else.

        Raises ValueError for any other text, TypeError for anything but a str.
        """
        if not isinstance(raw, str):
            raise TypeError(f"an SSE id is read from a str, not {type(raw).__name__}")
        match = _PATTERN.fullmatch(raw)
        if match is None:
            raise ValueError(
                f"an SSE id is written '<turn>:<seq>', such as '42:3', each 1 to 19 ASCII digits; "
                f"got {raw[:64]!r}"
            )
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.turn_id}:{self.seq}"
