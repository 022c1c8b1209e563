"""The cells of the two layers: the wire alone, and bytes to typed events.

Typed events are measured against the *floor*: ``json.loads`` alone, called for each payload, which
were cut out beforehand. Nobody who reads JSON needs less. Beside them stand ours with
``orjson.loads``, and what a program over another decoder does: ``json.loads``, then an object of a
frozen dataclass with the type, the id and the body.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ratatoskr_proto import (
    EventStreamDecoder,
    RatatoskrError,
    ServerSentEvent,
    TurnDecoder,
    TurnState,
)
from ratatoskr_proto.dialects import OPENAI_CHAT, TURN, Dialect

from .measuring import SLOW, Cell, describe, time_limit
from .peers import OURS, READ_OURS, Chunks, Reader, plain_events
from .workloads import Chunking, Workload

FLOOR = "json.loads alone"
OURS_WITH_ORJSON = f"{OURS}, orjson.loads"
Loads = dict[str, Callable[[str], Any]]
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


def read_ours_typed(make: Callable[[], TurnDecoder[Any]], chunks: Chunks) -> None:
    receive = make().receive_data
    for chunk in chunks:
        for item in receive(chunk):
            if isinstance(item, RatatoskrError):
                raise item
            _id, _type, _body = item.sse_id, item.type, item.body


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


def typed_cells(
    workload: Workload, chunking: Chunking, peers: Mapping[str, Reader], loads: Loads
) -> list[Cell]:
    """The cells of each dialect that the stream is in: ours, the floor, and for turns the peers."""
    turn = _typed_cell(workload.name, TURN, workload.turn_frames, chunking, loads)
    chat = _typed_cell(f"{workload.name}, OpenAI", OPENAI_CHAT, workload.frames, chunking, loads)
    if turn is not None:
        chunks = chunking.cut(workload.turn_frames)
        for name, peer in peers.items():
            turn.readers[f"{name} + json.loads"] = partial(read_peer_typed, peer, chunks)
    return [cell for cell in (turn, chat) if cell is not None]


def _typed_cell(
    name: str,
    dialect: Dialect[Any],
    frames: tuple[bytes, ...],
    chunking: Chunking,
    loads: Loads,
) -> Cell | None:
    """None if the frames are not an answer in the dialect."""
    chunks = chunking.cut(frames)
    items = EventStreamDecoder(LIMIT).receive_data(b"".join(chunks))
    payloads = [item.data for item in items if isinstance(item, ServerSentEvent) and item.data]
    decoder = TurnDecoder(dialect=dialect)
    number = sum(len(decoder.receive_data(chunk)) for chunk in chunks)
    if decoder.state is not TurnState.DONE or number != len(payloads):
        return None
    payloads = [payload for payload in payloads if payload not in dialect.end_marks]
    cell = Cell(
        {"workload": name, "chunking": chunking.name},
        number,
        sum(map(len, chunks)),
        {FLOOR: lambda: read_floor(payloads)},
    )
    for reader, chosen in loads.items():
        make = partial(TurnDecoder, dialect=dialect, loads=chosen)
        cell.readers[reader] = partial(read_ours_typed, make, chunks)
    return cell


def all_loads() -> Loads:
    """What ours is measured with, by the name of the reader."""
    readers: Loads = {OURS: json.loads}
    with contextlib.suppress(ImportError):
        import orjson

        readers[OURS_WITH_ORJSON] = orjson.loads
    return readers
