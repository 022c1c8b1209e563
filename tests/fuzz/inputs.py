"""How the targets use an input: first choices, a byte each, then the bytes to be read."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from ratatoskr_proto.testing._vectors import vector_streams

T = TypeVar("T")

LONGEST_SEED = 1000  # bytes: short inputs are run far more often


class Choices:
    """Takes choices off an input; when it is used up, each is 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def byte(self) -> int:
        taken = self._data[self._place : self._place + 1]
        self._place += 1
        return taken[0] if taken else 0

    def bytes(self) -> list[int]:
        """Up to seven bytes."""
        return [self.byte() for _ in range(self.byte() % 8)]

    def rest(self) -> bytes:  # type: ignore[valid-type]  # the method above has this name too
        return self._data[self._place :]


def chosen(*choices: int | list[int]) -> bytes:
    """The bytes from which ``Choices`` takes these."""
    parts = [[each] if isinstance(each, int) else [len(each), *each] for each in choices]
    return b"".join(map(bytes, parts))


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """The data in pieces of these sizes, and what is left as one more."""
    cut = []
    for size in sizes:
        cut.append(data[:size])
        data = data[size:]
    return [*cut, data]


def chunkings(data: bytes, sizes: list[int], longest: int = 400) -> Iterator[list[bytes]]:
    """The data whole, in pieces and, unless it is longer than that, byte by byte."""
    yield [data]
    yield pieces(data, sizes)
    if len(data) <= longest:
        yield [data[place : place + 1] for place in range(len(data))]


def receive(take: Callable[[bytearray], list[T]], chunk: bytes) -> list[T]:
    """Hand a chunk over in a buffer that is used for something else right after."""
    buffer = bytearray(chunk)
    items = take(buffer)
    buffer[:] = b"?" * len(buffer)
    return items


def streams() -> list[list[bytes]]:
    """The streams of the vectors, in chunks, except long ones."""
    return [chunks for chunks in vector_streams() if sum(map(len, chunks)) <= LONGEST_SEED]
