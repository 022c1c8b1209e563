"""Other decoders, through their adapters in examples/decoders, and ours.

An adapter does the least that a user of the library would have to do. Where a library reads a
response of its HTTP client, it gets a stand-in that hands out the chunks, so nothing of HTTP is
measured. All of them have events with ``event``, ``data`` and an id, so one loop reads them all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ratatoskr_proto import EventStreamDecoder

sys.path.append(str(Path(__file__).parents[1] / "examples" / "decoders"))

from libraries import LIBRARIES, Library, NotInstalled
from whole_stream import WholeStream

OURS = "ratatoskr"
PEERS = {library.name: library for library in LIBRARIES}
Chunks = Sequence[bytes]
# An event, so that events of different libraries can be compared: its type, data and last id.
Plain = tuple[str, str, str]


class Reader(Protocol):
    """Reads whole streams with one library. Each call begins a new stream."""

    @property
    def id_attribute(self) -> str:
        """The attribute of an event that is the last event id of the stream."""

    def read(self, chunks: Chunks) -> None:
        """Loop over the events and read three attributes of each. This is what is measured."""

    def events(self, chunks: Chunks) -> Iterator[Any]:
        """The events as the library makes them."""


@dataclass(frozen=True)
class Iterated:
    """A library that takes all chunks and gives an iterator of events."""

    open: Callable[[Chunks], Iterable[Any]]
    id_attribute: str = "id"

    def read(self, chunks: Chunks) -> None:
        for event in self.open(chunks):
            _event, _data, _id = event.event, event.data, event.id

    def events(self, chunks: Chunks) -> Iterator[Any]:
        return iter(self.open(chunks))


@dataclass(frozen=True)
class Fed:
    """A library that takes chunk by chunk; ``make`` gives a new decoder's method for that."""

    make: Callable[[], Callable[[bytes], Iterable[Any]]]
    id_attribute: str = "id"

    def read(self, chunks: Chunks) -> None:
        receive = self.make()
        for chunk in chunks:
            for event in receive(chunk):
                _event, _data, _id = event.event, event.data, event.id

    def events(self, chunks: Chunks) -> Iterator[Any]:
        receive = self.make()
        for chunk in chunks:
            yield from receive(chunk)


READ_OURS = Fed(lambda: EventStreamDecoder().receive_data)


def reader_of(library: Library) -> Reader:
    """Load the adapter of a library. Raises NotInstalled if the library is missing."""
    factory: Any = library.load()
    if not issubclass(factory, WholeStream):
        return Fed(lambda: factory().feed)

    def open_stream(chunks: Chunks) -> Iterator[Any]:
        adapter = factory()
        adapter.chunks = chunks
        events: Iterator[Any] = adapter.events()
        return events

    return Iterated(open_stream, factory.id_attribute)


def load_peers(names: Iterable[str]) -> tuple[dict[str, Reader], dict[str, str]]:
    """Return the peers that can be measured, and why the others cannot."""
    loaded: dict[str, Reader] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            loaded[name] = reader_of(PEERS[name])
        except NotInstalled as error:
            missing[name] = str(error)
        except Exception as error:  # of another library, whatever it may be
            missing[name] = f"{type(error).__name__}: {error}"[:120]
    return loaded, missing


def plain_events(reader: Reader, chunks: Chunks) -> list[Plain]:
    """Events for comparison. What a library leaves out is what the standard says it is."""
    return [
        (event.event or "message", event.data, getattr(event, reader.id_attribute) or "")
        for event in reader.events(chunks)
    ]
