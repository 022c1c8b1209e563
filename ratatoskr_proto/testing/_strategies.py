"""Strategies for Hypothesis. All of them shrink to few and short lines."""

from __future__ import annotations

import itertools
import json

from hypothesis import strategies as st

from .. import _arguments
from .._encode import encode_comment, encode_event
from ._pieces import BOM, FRAGMENTS, LINE_ENDS, LINES, ODD_LINES

# What a line can hold: no line ends, and no lone surrogates, which UTF-8 does not have.
_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=8)


def _field(name: str, value: str) -> bytes:
    return f"{name}: {value}".encode()


# As few draws per block as possible, since each takes time.
_data = st.builds(_field, st.just("data"), _text)
_others = st.lists(
    st.sampled_from(LINES) | st.builds(_field, st.sampled_from(["id", "event", "", "a"]), _text),
    max_size=3,
)
_ends = st.sampled_from(
    [
        (line_end, gap)
        for gap in (b"", b"\n", b": keep-alive\n\n", b"id: 7\n\n", b"event: x\n\n")
        for line_end in LINE_ENDS
    ]
)


def _block(data: bytes, others: list[bytes], ends: tuple[bytes, bytes]) -> bytes:
    line_end, gap = ends
    middle = len(others) // 2
    lines = [*others[:middle], data, *others[middle:], b""]
    return b"".join([line + line_end for line in lines]) + gap


_blocks = st.builds(_block, _data, _others, _ends)


def event_streams(*, min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[bytes]:
    """A strategy for streams (bytes) as the standard allows them, in all its spellings.

    ``min_size`` and ``max_size`` (int) bound the number of events that a stream dispatches. Ids,
    types, comments, all line ends, a leading BOM and blocks without an event occur. Raises
    ``hypothesis.errors.InvalidArgument`` for invalid sizes, once a value is drawn.
    """
    blocks = st.lists(_blocks, min_size=min_size, max_size=max_size).map(b"".join)
    return st.builds(bytes.__add__, st.sampled_from([b"", BOM]), blocks)


def _turn(turn: int, texts: list[str], end: bytes | None, quiet: list[bytes]) -> bytes:
    bodies = [json.dumps({"type": "text", "text": text}) for text in texts]
    frames = [encode_event(body, id=f"{turn}:{seq}") for seq, body in enumerate(bodies, 1)]
    if end is not None:
        frames.append(encode_event(end.decode(), id=f"{turn}:{len(frames) + 1}"))
    pairs = itertools.zip_longest(quiet[: len(frames)], frames, fillvalue=b"")
    return b"".join(itertools.chain.from_iterable(pairs))


_DONE = b'{"type": "done"}'
_ERROR = b'{"type": "error", "message": "gave up"}'


def turn_streams(*, min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[bytes]:
    """A strategy for turns (bytes) of docs/turn-protocol.md, as ``TurnDecoder`` reads them.

    ``min_size`` and ``max_size`` (int) bound the number of text events. The ids are
    ``<turn>:<seq>``, with seq from 1 on. Most turns end with a terminal event, done or error; some
    have none, as if the server had gone away. Keep-alives and events with empty data occur between.
    """
    return st.builds(
        _turn,
        st.integers(0, 10**6),
        st.lists(_text, min_size=min_size, max_size=max_size),
        st.sampled_from([_DONE, _DONE, _DONE, _ERROR, None]),
        st.lists(st.sampled_from([b"", encode_comment("keep-alive"), encode_event("")])),
    )


def hostile_bytes(*, min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[bytes]:
    """A strategy for bytes that are likely to trip a parser.

    ``min_size`` and ``max_size`` (int) bound the number of bytes. BOMs, mixed line ends, NULs,
    invalid UTF-8, line ends of Unicode, odd numbers and names, and unfinished lines occur.
    """
    lines = st.sampled_from([*LINES, *ODD_LINES])
    ends = st.sampled_from([*LINE_ENDS, *[line_end * 2 for line_end in LINE_ENDS]])
    pieces = st.builds(bytes.__add__, lines, ends) | st.sampled_from([*FRAGMENTS, *LINE_ENDS])
    return st.one_of(
        # No piece is empty, so as many pieces as bytes wanted are enough.
        st.lists(pieces, min_size=min_size, max_size=max_size).map(
            lambda chosen: b"".join(chosen)[:max_size]
        ),
        st.binary(min_size=min_size, max_size=max_size),
    )


def chunkings(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """A strategy for the ways to cut ``data`` (bytes) into chunks (list of bytes).

    The chunks together are the data. Some are empty, and cuts within a CRLF, a BOM or a character
    are frequent. It shrinks to the data in one chunk. Raises TypeError if ``data`` is not bytes.
    """
    data = _arguments.binary("data", data)
    within = [
        place
        for place in range(1, len(data))
        if data[place - 1 : place + 1] == b"\r\n" or 0x80 <= data[place] < 0xC0
    ]
    places = st.integers(0, len(data))
    if within:
        places |= st.sampled_from(within)
    # Chunks of one size, half of them bytes. In this order they shrink to a longer size.
    sizes = st.sampled_from([*range(len(data), 0, -1), *[1] * len(data)] or [1])
    cuts = st.lists(places, max_size=8) | sizes.map(lambda size: [*range(size, len(data), size)])
    return cuts.map(lambda chosen: _cut(data, chosen))


def _cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = itertools.pairwise([0, *sorted(places), len(data)])
    return [data[start:end] for start, end in bounds]
