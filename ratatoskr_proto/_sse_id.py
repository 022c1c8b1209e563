"""The id of a turn's event: ``<turn>:<seq>``."""

from __future__ import annotations

from typing import NamedTuple

# 19 digits hold any 63-bit number and stay far below the length at which int() refuses to convert.
_MAX_DIGITS = 19


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
        turn_id, _, seq = raw.partition(":")
        if not (
            raw.isascii()  # or isdigit() would take the digits of other scripts
            and turn_id.isdigit()
            and seq.isdigit()
            and len(turn_id) <= _MAX_DIGITS
            and len(seq) <= _MAX_DIGITS
        ):
            raise ValueError(
                f"an SSE id is written '<turn>:<seq>', such as '42:3', each 1 to 19 ASCII digits; "
                f"got {raw[:64]!r}"
            )
        return cls(int(turn_id), int(seq))

    def __str__(self) -> str:
        return f"{self.turn_id}:{self.seq}"


def check_sse_id(name: str, value: object) -> None:
    """Raises TypeError or ValueError if an argument is not an id that a server can have sent."""
    if not isinstance(value, SseId):
        raise TypeError(
            f"{name} must be an SseId or None, not {type(value).__name__}; "
            f"SseId.parse('42:3') makes one"
        )
    # Raises ValueError for numbers that no id can have.
    if SseId.parse(str(value)) != value:
        raise TypeError(f"{name} must hold two ints, not {tuple(value)!r}")
