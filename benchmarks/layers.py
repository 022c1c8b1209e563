"""The cells of the two layers: the wire alone, and bytes to typed events.

Typed events are measured against two others over the same payloads. The *floor* is ``json.loads``
alone, called for each payload that was cut out beforehand: less than that nobody needs who reads
JSON. The other side is what a program over another decoder does: ``json.loads``, then an object of
a frozen dataclass with the type, the id and the body.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ratatoskr_proto import EventStreamDecoder, ServerSentEvent, TurnDecoder, TurnState

from .measuring import SLOW, Cell, describe, time_limit
from .peers import OURS, READ_OURS, Chunks, Reader, plain_events
from .workloads import Chunking, Workload

FLOOR = "json.loads alone"
OTHER_EVENTS = "other events"
LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True)
class TypedEvent:
    """What a program over another decoder makes of an event."""

    type: str
    id: str
    body: dict[str, Any]


def wire_cell(workload: Workload, chunking: Chunking, peers: Mapping[str, Reader]) -> Cell:
    """Ours and the peers. A peer that gives other events than ours is measured, with a note."""
    chunks = chunking.cut(workload.frames)
    expected = plain_events(READ_OURS, chunks)
    cell = Cell(
        {"workload": workload.name, "chunking": chunking.name},
        len(expected),
        sum(map(len, chunks)),
        {OURS: lambda: READ_OURS.read(chunks)},
    )
    for name, peer in peers.items():
        cell.readers[name] = lambda peer=peer: peer.read(chunks)  # type: ignore[misc]
        try:
            with time_limit(SLOW):
                events = plain_events(peer, chunks)
        except Exception as error:
            cell.notes[name] = describe(error)
            continue
        if events != expected:
            cell.notes[name] = f"{OTHER_EVENTS}: {len(events)} instead of {len(expected)}"
            if len(events) == len(expected):
                cell.notes[name] = f"{OTHER_EVENTS} of the same number"
    return cell


def read_ours_typed(chunks: Chunks) -> None:
    receive: Callable[[bytes], Iterable[Any]] = TurnDecoder().receive_data
    for chunk in chunks:
        for event in receive(chunk):
            _id, _type, _body = event.sse_id, event.type, event.body


def read_floor(payloads: list[str]) -> None:
    loads = json.loads
    for payload in payloads:
        loads(payload)


def read_peer_typed(peer: Reader, chunks: Chunks) -> None:
    """A frame without data is skipped: some decoders make one of a keep-alive."""
    loads = json.loads
    for sse in peer.events(chunks):
        if not sse.data:
            continue
        body = loads(sse.data)
        event = TypedEvent(body["type"], sse.id, body)
        _id, _type, _body = event.id, event.type, event.body


def typed_cell(workload: Workload, chunking: Chunking, peers: Mapping[str, Reader]) -> Cell | None:
    """Ours, the floor, and peers with the rest of the work; None if the stream is no turn."""
    chunks = chunking.cut(workload.turn_frames)
    wire, turn = EventStreamDecoder(LIMIT), TurnDecoder()
    payloads: list[str] = []
    number = 0
    for chunk in chunks:
        number += len(turn.receive_data(chunk))
        for item in wire.receive_data(chunk):
            if isinstance(item, ServerSentEvent):
                payloads.append(item.data)
    if turn.state is TurnState.FAILED or number != len(payloads):
        return None
    cell = Cell(
        {"workload": workload.name, "chunking": chunking.name},
        number,
        sum(map(len, chunks)),
        {OURS: lambda: read_ours_typed(chunks), FLOOR: lambda: read_floor(payloads)},
    )
    for name, peer in peers.items():
        cell.readers[f"{name} + json.loads"] = (
            lambda peer=peer: read_peer_typed(peer, chunks)  # type: ignore[misc]
        )
    return cell
