"""The answers of mimir, the agent of the demo server: long, with everything that makes a client
stumble.

An answer is made frame by frame as it is sent, so a turn can be resumed anywhere, and one of a
million frames takes no memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from .encoders import ENCODERS, Encoder, Frame, TurnEncoder

DEFAULT_EVENTS = 1100
KEEP_ALIVE_EVERY = 50  # frames of a turn
EMPTY_FRAME = 1078  # of a long turn: the frame that once crashed a client, an id and no data

_PIECE = 4  # characters in a frame, about a token
_SAYINGS = (
    "Ratatoskr runs up and down the ash and carries words between the eagle and the serpent. "
    "Ратато́ск бегает по ясеню и передаёт слова орла дракону.\n"
    "ラタトスクは世界樹を駆け上がり、言葉を運ぶ。\n"
    "يركض السنجاب على شجرة العالم ويحمل الكلام.\n"
    "रातातोस्क पेड़ पर ऊपर-नीचे दौड़ता है।\n"
    "Íkorni, er renna skal at aski Yggdrasils. 🐿️🌳\n\n"
)


class Prompt(NamedTuple):
    """What to answer, and how long to talk.

    ``text`` is the whole text of the answer, None for mimir's own words, in answer to ``message``.
    ``events`` (int) is how many frames the answer has, if it can have that many: each piece of a
    ``text`` has at least one character. None means 1100, or with a ``text`` pieces of four.
    """

    message: str = ""
    text: str | None = None
    reasoning: str = ""
    events: int | None = None


class Answer:
    """One answer of a model, in one dialect. ``frames`` (int) is how many it has."""

    fewest_texts = 1  # pieces of mimir's own words

    def __init__(self, dialect: str, number: int, model: str, prompt: Prompt) -> None:
        self.number = number
        self._dialect = dialect
        self._model = model
        self._prompt = prompt
        self._thoughts = math.ceil(len(prompt.reasoning) / _PIECE)
        around = self._frames_around()
        self._texts = self._count_texts(around + self._thoughts)
        self.frames = around + self._thoughts + self._texts

    def numbered_frames(self, after: int = 0) -> Iterator[tuple[int, Frame]]:
        """Yield each frame with its number, the first of which is 1.

        Only a turn can be resumed; for other answers ``after`` is 0.
        """
        encoder = self.new_encoder()
        yield from enumerate(chain(encoder.start(), self._frames_from(0, encoder)), 1)

    def new_encoder(self) -> Encoder:
        """An encoder that has written nothing yet."""
        return ENCODERS[self._dialect](self.number, self._model)

    def _frames_around(self) -> int:
        """The number of frames that are not a piece of the answer."""
        encoder = self.new_encoder()
        thought = encoder.reasoning("…") if self._thoughts else []
        frames = [*encoder.start(), *thought, *encoder.text("…"), *encoder.done()]
        return len(frames) - bool(thought) - 1

    def _count_texts(self, besides: int) -> int:
        """The number of pieces of text that, with ``besides`` other frames, make as many frames as
        were asked for.
        """
        text, events = self._prompt.text, self._prompt.events
        if text is None:
            return max(self.fewest_texts, (events or DEFAULT_EVENTS) - besides)
        if events is None:
            return math.ceil(len(text) / _PIECE)
        return min(len(text), max(1, events - besides))

    def _frames_from(self, piece: int, encoder: Encoder) -> Iterator[Frame]:
        """The frames from a piece of the answer on, to its end."""
        for index in range(piece, self._thoughts):
            yield from encoder.reasoning(_slice(self._prompt.reasoning, index, self._thoughts))
        for index in range(max(0, piece - self._thoughts), self._texts):
            yield from encoder.text(self._text(index))
        yield from encoder.done()

    def _text(self, index: int) -> str:
        prompt = self._prompt
        if prompt.text is not None:
            return _slice(prompt.text, index, self._texts)
        if index == 0:
            return f"You said: {prompt.message}\n\n" if prompt.message else "Listen.\n\n"
        start = (index - 1) * _PIECE % len(_SAYINGS)
        return _SAYINGS[start : start + _PIECE]


class TurnAnswer(Answer):
    """An answer in the turn protocol, which can be resumed after any of its frames."""

    fewest_texts = 0

    def __init__(self, number: int, prompt: Prompt) -> None:
        is_long = prompt.text is None and (prompt.events or DEFAULT_EVENTS) > EMPTY_FRAME
        self._empty_frame = EMPTY_FRAME if is_long else 0
        super().__init__("turn", number, "", prompt)

    def numbered_frames(self, after: int = 0) -> Iterator[tuple[int, Frame]]:
        """Yield each frame after the first ``after`` with its number.

        The terminal one always comes: a client that has it already may not have understood it.
        """
        after = min(after, self.frames - 1)
        encoder = TurnEncoder(self.number, after=after)
        # The empty frame stands between two pieces of text, so that no text is lost with it.
        pieces = after - 1 if 0 < self._empty_frame <= after else after
        frames = self._frames_from(pieces, encoder)
        for seq in range(after + 1, self.frames + 1):
            frame = encoder.empty() if seq == self._empty_frame else next(frames)
            if seq % KEEP_ALIVE_EVERY == 0:
                frame = frame._replace(before=encoder.keep_alive)
            yield seq, frame

    def _frames_around(self) -> int:
        return super()._frames_around() + bool(self._empty_frame)


def _slice(text: str, index: int, pieces: int) -> str:
    """One of the ``pieces`` of a text, all about as long."""
    return text[len(text) * index // pieces : len(text) * (index + 1) // pieces]
