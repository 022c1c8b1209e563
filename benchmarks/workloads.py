"""The streams that are read, and the ways to cut them into chunks.

All of them but model chunks and files are turns of docs/turn-protocol.md, so that one stream serves
both layers. Model chunks are answers of the dialect ``openai-chat`` as they are, and turns once
they have ids and types. Each event differs from the one before, as on a real stream.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KIB = 1024
WORDS = (
    "The squirrel Ratatoskr runs up and down the ash tree Yggdrasil and carries the words of the "
    "eagle above to the dragon that gnaws at the roots below, and back again, all day long. "
)
MIXED_WORDS = (
    "Íkorni sá heitir Ratatoskr, er renn upp ok niðr eptir askinum Yggdrasils 🐿️ und trägt Worte "
    "zwischen Adler und Drache; リスは木を上り下りし、言葉を運ぶ。 Белка бежит по ясеню 🌳 всегда. "
)


@dataclass(frozen=True)
class Workload:
    """A stream. Each of ``frames`` is what a server would flush at once, nearly always one event.

    ``turn_frames`` say the same as a turn, for the layer of typed events; empty if they cannot.
    """

    name: str
    frames: tuple[bytes, ...]
    turn_frames: tuple[bytes, ...]


def _texts(words: str, size: int) -> Iterator[str]:
    """Pieces of ``size`` characters without end, each beginning a little further on."""
    words *= size // len(words) + 2
    span, start = len(words) - size, 0
    while True:
        yield words[start : start + size]
        start = (start + 7) % span


def _until(size: int, frames: Iterable[bytes], last: bytes) -> tuple[bytes, ...]:
    """Frames of about ``size`` bytes together, at least one, and then the last."""
    taken: list[bytes] = []
    for frame in frames:
        taken.append(frame)
        size -= len(frame)
        if size <= 0:
            break
    return (*taken, last)


def _frame(seq: int, data: str) -> bytes:
    return f"id: 42:{seq}\ndata: {data}\n\n".encode()


def _done(seq: int = 10**9) -> bytes:
    return _frame(seq, '{"type":"done"}')


def _text_turn(name: str, size: int, words: str, characters: int) -> Workload:
    bodies = ({"type": "text", "text": text} for text in _texts(words, characters))
    frames = _until(
        size,
        (
            _frame(seq, json.dumps(body, ensure_ascii=False, separators=(",", ":")))
            for seq, body in enumerate(bodies, 1)
        ),
        _done(),
    )
    return Workload(name, frames, frames)


def tokens(size: int) -> Workload:
    """Text events of a turn, each with an id and 60 bytes of text."""
    return _text_turn("tokens", size, WORDS, 60)


def _model_body(text: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-9xK2mQ7vT4bR1nL8sW3yZ6cD5eF0g",
        "object": "chat.completion.chunk",
        "created": 1767225600,
        "model": "large-model-2026-01-01",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }


def model_chunks(size: int) -> Workload:
    """What model APIs stream: some 250 bytes with a few characters of text, no id, ``[DONE]`` last.

    As a turn, which needs an id and a type, each body also has ``"type": "text"`` and the text.
    """
    return _model_stream("model chunks", size, b"")


def named_chunks(size: int) -> Workload:
    """The same with a line ``event:``, as many of these APIs send it."""
    return _model_stream("model chunks with event:", size, b"event: chunk\n")


def _model_stream(name: str, size: int, event: bytes) -> Workload:
    bodies = [{**_model_body(text), "text": text} for text in _first(400, _texts(WORDS, 24))]
    plain = [
        event + b"data: " + json.dumps(_without_text(body)).encode() + b"\n\n" for body in bodies
    ]
    typed = [json.dumps({"type": "text", **body}, separators=(",", ":")) for body in bodies]
    number = max(1, size // len(plain[0]))
    turn = (event + _frame(index + 1, typed[index % 400]) for index in range(number))
    return Workload(
        name,
        (*(plain[index % 400] for index in range(number)), b"data: [DONE]\n\n"),
        (*turn, _done()),
    )


def _first(number: int, texts: Iterator[str]) -> list[str]:
    return [next(texts) for _ in range(number)]


def _without_text(body: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != "text"}


def crlf(size: int) -> Workload:
    """The tokens with CRLF as the line end, and a keep-alive after every fifth."""
    frames: list[bytes] = []
    for number, frame in enumerate(tokens(size).frames, 1):
        frames.append(frame.replace(b"\n", b"\r\n"))
        if number % 5 == 0:
            frames.append(b": keep-alive\r\n\r\n")
    return Workload("crlf", tuple(frames), tuple(frames))


def data_lines(size: int) -> Workload:
    """Events with JSON on 22 data lines, as a pretty-printer writes it."""

    def frames() -> Iterator[bytes]:
        for seq, text in enumerate(_texts(WORDS, 40), 1):
            body = {"type": "text", "text": text, "words": text.split()[:1] * 16}
            lines = json.dumps(body, indent=1).split("\n")
            yield _frame(seq, "\ndata: ".join(lines))

    taken = _until(size, frames(), _done())
    return Workload("data lines", taken, taken)


def large(size: int) -> Workload:
    """Events of 64 KiB on one line; four times the bytes asked for, since they cost little."""
    return _text_turn("64 KiB events", 4 * size, WORDS, 64 * KIB)


def mixed(size: int) -> Workload:
    """Text of many scripts, two and three bytes a character for the most part."""
    return _text_turn("mixed text", size, MIXED_WORDS, 60)


WORKLOADS: dict[str, Callable[[int], Workload]] = {
    "tokens": tokens,
    "model": model_chunks,
    "named": named_chunks,
    "crlf": crlf,
    "lines": data_lines,
    "large": large,
    "mixed": mixed,
}


def frames_of(path: Path) -> tuple[bytes, ...]:
    """Return the events of a recorded stream, as bytes. Raises ValueError if there are none.

    The file holds the stream itself, or is a recording by ``--record``: see docs/command-line.md.
    """
    data = path.read_bytes()
    if data.startswith(b'{"ratatoskr_recording"'):
        try:
            entries = [json.loads(line) for line in data.splitlines()]
            data = b"".join(base64.b64decode(each["data"]) for each in entries if "data" in each)
        except (ValueError, TypeError):
            raise ValueError(f"{path.name} is a recording with a line that is damaged") from None
    frames = re.findall(rb".+?(?:\r\n\r\n|\n\n|\r\r)", data, re.DOTALL)
    if not frames:
        raise ValueError(f"{path.name} holds no whole event")
    return tuple(frames)


def recorded(name: str, frames: tuple[bytes, ...], size: int) -> Workload:
    """A recorded stream, repeated until it has ``size`` bytes."""
    times = max(1, size // sum(map(len, frames)))
    return Workload(name, frames * times, frames)


def _cut(frames: tuple[bytes, ...], size: int) -> list[bytes]:
    data = b"".join(frames)
    return [data[start : start + size] for start in range(0, len(data), size)]


@dataclass(frozen=True)
class Chunking:
    """A way to cut a stream: ``size`` bytes a chunk, 0 for the frames as they are.

    ``amount`` says how much of a stream is enough, since small chunks cost more a byte.
    """

    name: str
    size: int
    amount: float

    def cut(self, frames: tuple[bytes, ...]) -> list[bytes]:
        return _cut(frames, self.size) if self.size else list(frames)


CHUNKINGS = {
    "one": Chunking("one event", 0, 1.0),
    "1": Chunking("1 B", 1, 0.1),
    "16": Chunking("16 B", 16, 0.25),
    "1k": Chunking("1 KiB", KIB, 1.0),
    "64k": Chunking("64 KiB", 64 * KIB, 1.0),
}
