"""The server of the benchmarks: a process of its own on 127.0.0.1 that sends turns.

    with serving() as url:
        ... url + "/one/1000" ...

``/one/N`` answers with N text events and a ``done``, one event in each HTTP chunk and each write;
``/big/N`` with the same in chunks and writes of 64 KiB. ``/crowd/N/M`` answers with N events, one a
write, as soon as M requests have come, to all of them by turns. Its connections stay open.
"""

import asyncio
import contextlib
import functools
import json
import multiprocessing
import resource
from collections.abc import Iterator
from multiprocessing.connection import Connection

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
BIG = 64 * 1024
TOKEN = "The squirrel runs up and down the ash and carries the words. "[:60]


def raise_file_limit() -> None:
    """Let this process open as many files, and so connections, as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def events(turn: int, number: int) -> Iterator[bytes]:
    """The frames of a turn with so many text events."""
    text = json.dumps({"type": "text", "text": TOKEN})
    for seq in range(1, number + 1):
        yield f"id: {turn}:{seq}\ndata: {text}\n\n".encode()
    yield f'id: {turn}:{number + 1}\ndata: {{"type":"done"}}\n\n'.encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@functools.lru_cache
def writes(kind: str, number: int) -> list[bytes]:
    """What goes out in one write each."""
    frames = list(events(1, number))
    if kind == "big":
        body = b"".join(frames)
        frames = [body[start : start + BIG] for start in range(0, len(body), BIG)]
    return [chunk(data) for data in frames]


class Server:
    """Answers requests."""

    def __init__(self) -> None:
        self.waiting = 0
        self.all_here = asyncio.Event()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        await reader.readexactly(int(line.partition(b":")[2]))
                _, kind, *numbers = head.split()[1].decode().split("/")
                writer.write(HEAD)
                if kind == "crowd":
                    await self.answer_by_turns(writer, *map(int, numbers))
                else:
                    for data in writes(kind, int(numbers[0])):
                        writer.write(data)
                        await writer.drain()
                    writer.write(LAST_CHUNK)
                    await writer.drain()
        writer.close()

    async def answer_by_turns(self, writer: asyncio.StreamWriter, number: int, others: int) -> None:
        self.waiting += 1
        turn = self.waiting
        if self.waiting == others:
            self.all_here.set()
        await self.all_here.wait()
        for data in events(turn, number):
            writer.write(chunk(data))
            await writer.drain()
            await asyncio.sleep(0)  # now the next stream
        writer.write(LAST_CHUNK)
        await writer.drain()


async def _serve(port: Connection) -> None:
    server = await asyncio.start_server(Server().handle, "127.0.0.1", 0, backlog=4096)
    port.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _run(port: Connection) -> None:
    raise_file_limit()
    asyncio.run(_serve(port))


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Run the server; gives its URL."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=[theirs], daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join()
