"""What the app reads and shows of a turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import Any, Protocol

from ratatoskr_proto import Event

from .._shown.visible import visible
from .scrollback import FLOWING, Kind


class StreamedTurn(Protocol):
    """A ``TurnStream``, or anything else with its ``async with`` and ``async for``."""

    async def __aenter__(self) -> Any: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any: ...

    def __aiter__(self) -> AsyncIterator[Event]: ...


def coalesced(pieces: Iterable[tuple[Kind, str]]) -> Iterator[tuple[Kind, str]]:
    """The pieces, escaped for the terminal, and adjacent pieces of text joined into one."""
    for kind, group in groupby(pieces, key=itemgetter(0)):
        if kind in FLOWING:
            yield kind, visible("".join([text for _, text in group]))
        else:
            for _, text in group:
                yield kind, visible(text).replace("\n", "\\n")
