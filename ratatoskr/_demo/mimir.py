"""The turns of mimir, the agent of the demo server: long, and with all that makes a client stumble.

A turn is made frame by frame as it is asked for, so a resumed one goes on at any place and one of
a million frames takes no memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from ratatoskr_proto import encode_comment, encode_event

KEEP_ALIVE_EVERY = 50  # frames
EMPTY_FRAME = 1078  # the place of the frame that once crashed a client: an id, and no data

_PIECE = 4  # characters a frame, about a token
_SAYINGS = (
    "Ratatoskr runs up and down the ash and carries words between the eagle and the serpent. "
    "Ратато́ск бегает по ясеню и передаёт слова орла дракону.\n"
    "ラタトスクは世界樹を駆け上がり、言葉を運ぶ。\n"
    "يركض السنجاب على شجرة العالم ويحمل الكلام.\n"
    "रातातोस्क पेड़ पर ऊपर-नीचे दौड़ता है।\n"
    "Íkorni, er renna skal at aski Yggdrasils. 🐿️🌳\n\n"
)


class Turn(NamedTuple):
    """One turn: its number, the message that it answers, and how many frames it has."""

    number: int
    message: str
    frames: int

    def chunks(self, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield each frame behind the place ``after``, keep-alives before it, with its place.

        The terminal one comes in any case: who has it already need not have understood it.
        """
        for seq in range(min(after + 1, self.frames), self.frames + 1):
            before = encode_comment("keep-alive") + b"\n" if seq % KEEP_ALIVE_EVERY == 0 else b""
            yield seq, before + self._frame(seq)

    def _frame(self, seq: int) -> bytes:
        id = f"{self.number}:{seq}"
        if seq == self.frames:
            return encode_event(envelope("done", frames=self.frames), id=id)
        if seq == EMPTY_FRAME:
            return encode_event("", id=id)
        return encode_event(envelope("text", text=self._text(seq)), id=id)

    def _text(self, seq: int) -> str:
        if seq == 1:
            return f"You said: {self.message}\n\n" if self.message else "Listen.\n\n"
        start = (seq - 2) * _PIECE % len(_SAYINGS)
        return _SAYINGS[start : start + _PIECE]


def envelope(type: str, **fields: str | int) -> str:
    """The JSON object of an event, in the script it is written in."""
    return json.dumps({"type": type, **fields}, ensure_ascii=False)
