"""Finds the smallest input: a small delta debugger, so that it finds the same everywhere."""

from __future__ import annotations

from collections.abc import Callable

_MAX_TRIES = 1000  # for the few inputs of some thousand bytes; small ones need some hundred


def shrink(data: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """Return a smaller input that fails too, and of which no byte can be left out."""
    tries = _MAX_TRIES

    def still_fails(candidate: bytes) -> bool:
        nonlocal tries
        tries -= 1
        return tries > 0 and fails(candidate)

    for line_end in (b"\r\n", b"\r"):
        plain = data.replace(line_end, b"\n")
        if plain != data and still_fails(plain):
            data = plain
    size = len(data)
    while size:
        before = data
        position = 0
        while position < len(data):
            candidate = data[:position] + data[position + size :]
            if still_fails(candidate):
                data = candidate
            else:
                position += 1 if size < 8 else size
        # Leaving out one byte may have made it possible to leave out others.
        if size > 1 or data == before:
            size //= 2
    return data
