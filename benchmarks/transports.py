"""Whole streams over loopback: each adapter, and httpx-sse with the same client.

Everything over httpx uses one client. The figure is again CPU time of this process; the time on the
wall is noted beside it. The server is a process of its own on 127.0.0.1: ``/one/N`` answers with N
text events and a ``done``, one event in each HTTP chunk and each write; ``/big/N`` with the same in
chunks and writes of 64 KiB. Its connections stay open.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import multiprocessing
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from .layers import TypedEvent
from .measuring import Cell, Spread
from .workloads import KIB

PATHS = {"one": "one event a write", "big": "64 KiB a write"}
# What each of ours is measured against: it does the same work.
BASES = {
    "stream_events, httpx": "httpx-sse",
    "stream_turn, httpx": "httpx-sse + json.loads",
    "stream_turn, anyio": "httpx-sse + json.loads",
    "stream_turn, trio": "httpx-sse + json.loads",
    "stream_turn_sync, httpx": "httpx-sse + json.loads, sync",
}
FLOOR = "httpx alone"

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BIG = 64 * KIB


@functools.lru_cache
def writes(kind: str, number: int) -> list[bytes]:
    """The body with this number of text events, in the pieces that go out in one write each."""
    text = json.dumps(
        {"type": "text", "text": "The squirrel runs up and down the ash and back. " * 2}
    )
    bodies = [text] * number + ['{"type":"done"}']
    frames = [f"id: 1:{seq}\ndata: {body}\n\n".encode() for seq, body in enumerate(bodies, 1)]
    if kind == "big":
        body = b"".join(frames)
        frames = [body[start : start + BIG] for start in range(0, len(body), BIG)]
    return [b"%x\r\n%s\r\n" % (len(data), data) for data in frames]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    await reader.readexactly(int(line.partition(b":")[2]))
            _, kind, number = head.split()[1].decode().split("/")
            for data in (HEAD, *writes(kind, int(number)), b"0\r\n\r\n"):
                writer.write(data)
                await writer.drain()
    writer.close()


async def serve(port: Connection) -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def run_server(port: Connection) -> None:
    asyncio.run(serve(port))


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Run the server; gives its URL."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=run_server, args=[theirs], daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()


class Bench:
    """Readers by name: each takes a URL and returns the number of events it has read.

    Those of asyncio run on one loop, with one client.
    """

    def __init__(self) -> None:
        import httpx

        self.runner = asyncio.Runner()
        self.client = httpx.AsyncClient(timeout=60.0, trust_env=False)
        self.sync_client = httpx.Client(timeout=60.0, trust_env=False)

    def close(self) -> None:
        self.runner.run(self.client.aclose())
        self.sync_client.close()
        self.runner.close()

    def readers(self) -> dict[str, Callable[[str], int]]:
        """Raises ImportError if a library of an adapter is missing."""
        import httpx_sse
        import trio

        import ratatoskr_transports.anyio as over_anyio
        import ratatoskr_transports.httpx as over_httpx
        import ratatoskr_transports.trio as over_trio

        client, sync_client = self.client, self.sync_client

        def on_asyncio(read: Callable[[str], Awaitable[int]]) -> Callable[[str], int]:
            async def run(url: str) -> int:  # Runner.run takes a coroutine, no other awaitable
                return await read(url)

            return lambda url: self.runner.run(run(url))

        async def raw(url: str) -> int:
            lines = 0
            async with client.stream("POST", url, json={}) as response:
                async for data in response.aiter_raw():
                    lines += data.count(b"\n")
            return lines // 3  # an event of this server is three lines

        async def peer_events(url: str) -> int:
            async with httpx_sse.aconnect_sse(client, "POST", url, json={}) as source:
                return await read_events(source.aiter_sse())

        async def peer_turn(url: str) -> int:
            number = 0
            async with httpx_sse.aconnect_sse(client, "POST", url, json={}) as source:
                async for sse in source.aiter_sse():
                    _read_typed(sse)
                    number += 1
            return number

        def peer_turn_sync(url: str) -> int:
            number = 0
            with httpx_sse.connect_sse(sync_client, "POST", url, json={}) as source:
                for number, sse in enumerate(source.iter_sse(), 1):  # noqa: B007
                    _read_typed(sse)
            return number

        def our_turn_sync(url: str) -> int:
            number = 0
            with over_httpx.stream_turn_sync(sync_client, url, json={}) as turn:
                for number, event in enumerate(turn, 1):  # noqa: B007
                    _id, _type, _body = event.sse_id, event.type, event.body
            return number

        async def our_events(url: str) -> int:
            async with over_httpx.stream_events(client, url, method="POST", json={}) as events:
                return await read_events(events)

        async def our_turn(url: str) -> int:
            return await read_turn(over_httpx.stream_turn(client, url, json={}))

        async def anyio_turn(url: str) -> int:
            return await read_turn(over_anyio.stream_turn(url, json={}))

        async def trio_turn(url: str) -> int:
            return await read_turn(over_trio.stream_turn(url, json={}))

        return {
            FLOOR: on_asyncio(raw),
            "httpx-sse": on_asyncio(peer_events),
            "stream_events, httpx": on_asyncio(our_events),
            "httpx-sse + json.loads": on_asyncio(peer_turn),
            "stream_turn, httpx": on_asyncio(our_turn),
            "stream_turn, anyio": on_asyncio(anyio_turn),
            "stream_turn, trio": lambda url: trio.run(trio_turn, url),
            "httpx-sse + json.loads, sync": peer_turn_sync,
            "stream_turn_sync, httpx": our_turn_sync,
        }


def _read_typed(sse: Any) -> None:
    body = json.loads(sse.data)
    event = TypedEvent(body["type"], sse.id, body)
    _id, _type, _body = event.id, event.type, event.body


async def read_events(events: AsyncIterator[Any]) -> int:
    number = 0
    async for event in events:
        _event, _data, _id = event.event, event.data, event.id
        number += 1
    return number


async def read_turn(stream: Any) -> int:
    number = 0
    async with stream as turn:
        async for event in turn:
            _id, _type, _body = event.sse_id, event.type, event.body
            number += 1
    return number


def _timed(
    read: Callable[[str], int], url: str, events: int, walls: list[float]
) -> Callable[[], None]:
    """A reader of a cell, which notes its time on the wall too."""

    def run() -> None:
        start = time.perf_counter()
        number = read(url)
        walls.append(time.perf_counter() - start)
        if number != events:
            raise RuntimeError(f"{number} events instead of {events}")

    return run


class TransportCell(Cell):
    """A cell that also knows the times on the wall, the first of which is of the warm-up."""

    walls: dict[str, list[float]]

    def events_a_second(self, reader: str) -> float | None:
        walls = self.walls[reader][1:]
        return self.events / Spread.of(walls).median if walls else None

    def as_json(self, base: str) -> dict[str, Any]:
        cell = super().as_json(base)
        for name, row in cell["readers"].items():
            rate = self.events_a_second(name)
            if rate is not None:
                row["events_a_second"] = round(rate)
            against = self.ratio(BASES[name], name) if name in BASES else None
            if against is not None:
                row["as_fast_as"] = {BASES[name]: against.as_json()}
        return cell


@contextlib.contextmanager
def transport_cells(number: int) -> Iterator[list[TransportCell]]:
    """The cells, for as long as their server runs."""
    with serving() as url:
        bench = Bench()
        try:
            cells = []
            for path, label in PATHS.items():
                cell = TransportCell({"path": label}, number + 1, 0, {})
                cell.walls = {}
                for name, read in bench.readers().items():
                    walls = cell.walls.setdefault(name, [])
                    whole = f"{url}/{path}/{number}"
                    cell.readers[name] = _timed(read, whole, number + 1, walls)
                cells.append(cell)
            yield cells
        finally:
            bench.close()
