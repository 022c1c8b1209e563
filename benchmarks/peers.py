"""Other decoders, each through an adapter that does the least that a user of it would have to do.

An adapter takes the chunks of a body and gives the library's own events. Where a library reads a
response of its HTTP client, it gets a stand-in that hands out the chunks, so nothing of HTTP is
measured. Modules are imported when an adapter is loaded, so one that is missing costs only itself.

All of them have an event with ``event``, ``data`` and ``id``, so all are read by the same loop.
"""

from __future__ import annotations

import codecs
import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ratatoskr_proto import EventStreamDecoder

OURS = "ratatoskr"
Chunks = Sequence[bytes]
# An event, so that events of different libraries can be compared: its type, data and last id.
Plain = tuple[str, str, str]


class Decoder(Protocol):
    """A decoder of whole streams. Each call begins a new one."""

    def read(self, chunks: Chunks) -> None:
        """Loop over the events and read three attributes of each. This is what is measured."""

    def events(self, chunks: Chunks) -> Iterator[Any]:
        """The events as the library makes them."""


@dataclass(frozen=True)
class Iterated:
    """A library that takes all chunks and gives an iterator of events."""

    open: Callable[[Chunks], Iterable[Any]]

    def read(self, chunks: Chunks) -> None:
        for event in self.open(chunks):
            _event, _data, _id = event.event, event.data, event.id

    def events(self, chunks: Chunks) -> Iterator[Any]:
        return iter(self.open(chunks))


@dataclass(frozen=True)
class Fed:
    """A library that takes chunk by chunk; ``make`` gives a new decoder's method for that."""

    make: Callable[[], Callable[[bytes], Iterable[Any]]]

    def read(self, chunks: Chunks) -> None:
        receive = self.make()
        for chunk in chunks:
            for event in receive(chunk):
                _event, _data, _id = event.event, event.data, event.id

    def events(self, chunks: Chunks) -> Iterator[Any]:
        receive = self.make()
        for chunk in chunks:
            yield from receive(chunk)


class ResponseStandIn:
    """What the readers over httpx and httpx2 need of a response: its type and its text."""

    headers = {"content-type": "text/event-stream"}  # noqa: RUF012  # nobody changes it
    request = None

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks

    def iter_text(self) -> Iterator[str]:
        """As ``iter_text`` of both does it: with an incremental decoder and replacement."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        for chunk in self.chunks:
            yield decode(chunk)


def _stand_in(chunks: Chunks) -> Any:
    return ResponseStandIn(chunks)


def load_ours() -> Decoder:
    """``receive_data``, chunk by chunk."""
    return Fed(lambda: EventStreamDecoder().receive_data)


def load_httpx_sse() -> Decoder:
    """``EventSource(response).iter_sse()`` over a stand-in for the response."""
    from httpx_sse import EventSource

    return Iterated(lambda chunks: EventSource(_stand_in(chunks)).iter_sse())


def load_httpx2() -> Decoder:
    """``EventSource(response)`` over a stand-in for the response, with its limit of 1 MiB."""
    from httpx2 import EventSource

    return Iterated(lambda chunks: EventSource(_stand_in(chunks)))


def load_launchdarkly() -> Decoder:
    """The reader below its client, without the connection, the retries and the queue above it.

    A user cannot have it that cheap: it is private. Comments are filtered out, as the client does,
    here without a step in Python.
    """
    from ld_eventsource.actions import Event
    from ld_eventsource.reader import _BufferedLineReader, _SSEReader

    is_event = Event.__instancecheck__
    lines_from = _BufferedLineReader.lines_from
    return Iterated(
        lambda chunks: filter(is_event, _SSEReader(lines_from(chunks)).events_and_comments())
    )


def load_axio() -> Decoder:
    """``Decoder().decode``, chunk by chunk."""
    import axio_sse

    return Fed(lambda: axio_sse.Decoder().decode)


def load_sseclient() -> Decoder:
    """``SSEClient(chunks).events()``: it takes any iterator of bytes."""
    from sseclient import SSEClient

    return Iterated(lambda chunks: SSEClient(iter(chunks)).events())


def load_assel() -> Decoder:
    """``Parser().receive_bytes``, chunk by chunk."""
    import assel

    return Fed(lambda: assel.Parser().receive_bytes)


def load_openai() -> Decoder:
    """``SSEDecoder().iter_bytes``, the decoder below the SDK's stream, without its models."""
    from openai._streaming import SSEDecoder

    return Iterated(lambda chunks: SSEDecoder().iter_bytes(iter(chunks)))


def load_anthropic() -> Decoder:
    """``SSEDecoder().iter_bytes``, the decoder below the SDK's stream, without its models."""
    from anthropic._streaming import SSEDecoder

    return Iterated(lambda chunks: SSEDecoder().iter_bytes(iter(chunks)))


@dataclass(frozen=True)
class Peer:
    """A library to measure against, by the name that it is installed by.

    ``id_attribute`` is the one of its events that comes closest to the stream's last event id.
    """

    name: str
    load: Callable[[], Decoder]
    id_attribute: str = "id"

    def version(self) -> str:
        return importlib.metadata.version(self.name)


PEERS = {
    peer.name: peer
    for peer in (
        Peer("httpx-sse", load_httpx_sse),
        Peer("httpx2", load_httpx2),
        Peer("launchdarkly-eventsource", load_launchdarkly, "last_event_id"),
        Peer("axio-sse", load_axio),
        Peer("sseclient-py", load_sseclient),
        Peer("assel", load_assel),
        Peer("openai", load_openai),
        Peer("anthropic", load_anthropic),
    )
}


def plain(event: Any, id_attribute: str = "id") -> Plain:
    """An event for comparison. What a library leaves out becomes what the standard says it is."""
    return event.event or "message", event.data, getattr(event, id_attribute) or ""


def plain_events(decoder: Decoder, chunks: Chunks, id_attribute: str = "id") -> list[Plain]:
    return [plain(event, id_attribute) for event in decoder.events(chunks)]
