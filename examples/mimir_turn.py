"""Writes a sample to try things on: one long turn of the agent mimir, as a server would send it.

Over 1000 frames with text in several scripts, keep-alive comments, and as frame 1078 the one that
has an id and no data. It ends in `done`.

    python examples/mimir_turn.py > turn.sse
"""

import json
import sys
from collections.abc import Iterator
from itertools import count, cycle, islice

from ratatoskr_proto import encode_comment, encode_event

TURN = 93
EMPTY_FRAME = 1078
LAST_FRAME = 1100
KEEP_ALIVE_EVERY = 50

SAYINGS = (
    "Ratatoskr runs up and down the ash and carries words between the eagle and the serpent. ",
    "Ратато́ск бегает по ясеню и передаёт слова орла дракону. ",
    "ラタトスクは世界樹を駆け上がり、言葉を運ぶ。",
    "يركض السنجاب على شجرة العالم ويحمل الكلام. ",
    "रातातोस्क पेड़ पर ऊपर-नीचे दौड़ता है। ",
    "Íkorni, er renna skal at aski Yggdrasils. 🐿️🌳\n",
)


def words() -> Iterator[str]:
    """The sayings over and over, a few characters at a time, as a model streams them."""
    for saying in cycle(SAYINGS):
        for start in range(0, len(saying), 4):
            yield saying[start : start + 4]


def frame(seq: int, **body: str | int) -> bytes:
    return encode_event(json.dumps(body, ensure_ascii=False), id=f"{TURN}:{seq}")


def turn() -> Iterator[bytes]:
    """The chunks of the stream, one frame or comment each."""
    texts = words()
    for seq in islice(count(1), LAST_FRAME - 1):
        if seq % KEEP_ALIVE_EVERY == 0:
            yield encode_comment("keep-alive") + b"\n"
        if seq == EMPTY_FRAME:
            yield encode_event("", id=f"{TURN}:{seq}")
        else:
            yield frame(seq, type="text", text=next(texts))
    yield frame(LAST_FRAME, type="done", frames=LAST_FRAME)


if __name__ == "__main__":
    sys.stdout.buffer.writelines(turn())
