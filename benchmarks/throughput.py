"""How many events a second come through, beside httpx-sse, and where the time goes.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --breakdown

Needs extra ``bench``. Everything runs against one server on loopback, in a process of its own, and
everything over httpx uses one client. Tokens have 60 bytes. ``one`` is one event in each write and
HTTP chunk, ``big`` is writes of 64 KiB.

The rounds are interleaved, so that a busy machine hits all alike. The rate is the median, and so is
the ratio; the microseconds are the least CPU time that an event took in any round, and "by CPU" is
the ratio of those. On a busy machine trust that one.

``--breakdown`` profiles each reader and tells whose code the time was spent in. A profiler makes
small functions look dearer than they are, so take the shares for what they are.
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import statistics
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

import httpx
import httpx_sse
import trio
from loopback_server import serving

import ratatoskr_transports.anyio
import ratatoskr_transports.httpx
import ratatoskr_transports.trio

# Reads a stream to its end and returns the number of its events.
Reader = Callable[[httpx.AsyncClient, str], Awaitable[int]]


@dataclass(frozen=True)
class TypedEvent:
    """What a program over httpx-sse would make of an event."""

    type: str
    id: str
    body: dict


async def raw_bytes(client: httpx.AsyncClient, url: str) -> int:
    """The floor: httpx alone. An event of this server is three lines."""
    lines = 0
    async with client.stream("POST", url, json={}) as response:
        async for data in response.aiter_raw():
            lines += data.count(b"\n")
    return lines // 3


async def peer_events(client: httpx.AsyncClient, url: str) -> int:
    number = 0
    async with httpx_sse.aconnect_sse(client, "POST", url, json={}) as source:
        async for _ in source.aiter_sse():
            number += 1
    return number


async def peer_turn(client: httpx.AsyncClient, url: str) -> int:
    number = 0
    async with httpx_sse.aconnect_sse(client, "POST", url, json={}) as source:
        async for sse in source.aiter_sse():
            body = json.loads(sse.data)
            TypedEvent(body["type"], sse.id, body)
            number += 1
    return number


async def count(stream: object) -> int:
    number = 0
    async with stream as items:
        async for _ in items:
            number += 1
    return number


async def our_events(client: httpx.AsyncClient, url: str) -> int:
    return await count(
        ratatoskr_transports.httpx.stream_events(client, url, method="POST", json={})
    )


async def our_turn(client: httpx.AsyncClient, url: str) -> int:
    return await count(ratatoskr_transports.httpx.stream_turn(client, url, json={}))


async def anyio_turn(client: httpx.AsyncClient, url: str) -> int:
    return await count(ratatoskr_transports.anyio.stream_turn(url, json={}))


async def trio_turn(client: httpx.AsyncClient, url: str) -> int:
    return await count(ratatoskr_transports.trio.stream_turn(url, json={}))


READERS: dict[str, Reader] = {
    "httpx alone": raw_bytes,
    "httpx-sse": peer_events,
    "stream_events, httpx": our_events,
    "httpx-sse + json": peer_turn,
    "stream_turn, httpx": our_turn,
    "stream_turn, anyio": anyio_turn,
    "stream_turn, trio": trio_turn,
}
# Whom each of ours is measured against: it does the same work.
PEERS = {
    "stream_events, httpx": "httpx-sse",
    "stream_turn, httpx": "httpx-sse + json",
    "stream_turn, anyio": "httpx-sse + json",
    "stream_turn, trio": "httpx-sse + json",
}


class Times(NamedTuple):
    """Seconds of the clock on the wall, and of this process on a CPU."""

    wall: float
    cpu: float


class Bench:
    """Runs readers on one asyncio loop with one client; those of trio on a loop of their own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.runner = asyncio.Runner()
        self.client = httpx.AsyncClient(timeout=60.0, trust_env=False)

    def close(self) -> None:
        self.runner.run(self.client.aclose())
        self.runner.close()

    def read(self, name: str, path: str, number: int) -> None:
        reader, url = READERS[name], f"{self.url}/{path}/{number}"
        if reader is trio_turn:
            events = trio.run(reader, self.client, url)
        else:
            events = self.runner.run(reader(self.client, url))
        assert events == number + 1, (name, events)

    def times(self, name: str, path: str, number: int) -> Times:
        wall, cpu = time.perf_counter(), time.process_time()
        self.read(name, path, number)
        return Times(time.perf_counter() - wall, time.process_time() - cpu)


def compare(bench: Bench, path: str, number: int, rounds: int) -> None:
    times: dict[str, list[Times]] = {name: [] for name in READERS}
    for round_number in range(rounds + 1):
        for name in READERS:
            measured = bench.times(name, path, number)
            if round_number:  # the first one warms up
                times[name].append(measured)
    print(f"\n{path}: {number} events, {rounds} rounds")
    for name, ours in times.items():
        rate = number / statistics.median(each.wall for each in ours)
        line = f"  {name:22}{rate:10,.0f} events/s{least_cpu(ours) / number * 1e6:7.1f} us"
        if name in PEERS:
            peers = times[PEERS[name]]
            ratios = (peer.wall / own.wall for peer, own in zip(peers, ours, strict=True))
            line += f"{statistics.median(ratios):6.2f} times {PEERS[name]}"
            line += f", {least_cpu(peers) / least_cpu(ours):.2f} by CPU"
        print(line)


def least_cpu(times: list[Times]) -> float:
    """What the work takes when nothing else is in its way."""
    return min(each.cpu for each in times)


LAYERS = {
    "ratatoskr_proto": "decoder",
    "ratatoskr_transports": "transport",
    "h11": "h11",
    "httpcore": "httpcore",
    "httpx": "httpx",
    "httpx_sse": "httpx-sse",
    "anyio": "anyio",
    "trio": "trio",
    "asyncio": "asyncio",
    "json": "json",
}


def layer_of(file: str, function: str) -> str:
    """Whose code a function is, by the folder of its file."""
    parts = file.replace("\\", "/").split("/")
    for part in reversed(parts):
        if part in LAYERS:
            return LAYERS[part]
    if file == "~":
        return f"built in: {function}" if "select" in function or "poll" in function else "built in"
    return "other"


def break_down(bench: Bench, path: str, number: int) -> None:
    for name in READERS:
        bench.read(name, path, 100)
        profile = cProfile.Profile()
        profile.runcall(bench.read, name, path, number)
        spent: Counter[str] = Counter()
        for (file, _, function), row in pstats.Stats(profile).stats.items():
            own, callers = row[2], row[4]
            if file != "~" or "poll" in function or "select" in function:
                spent[layer_of(file, function)] += own
                continue
            # What is built in counts for who called it.
            for (caller_file, _, caller), caller_row in callers.items():
                spent[layer_of(caller_file, caller)] += caller_row[2]
        total = sum(spent.values())
        shares = ", ".join(f"{layer} {own / total:.0%}" for layer, own in spent.most_common(7))
        print(f"  {path}, {name}: {shares}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--breakdown", action="store_true")
    options = parser.parse_args()
    with serving() as url:
        bench = Bench(url)
        for path in ("one", "big"):
            if options.breakdown:
                break_down(bench, path, options.events)
            else:
                compare(bench, path, options.events, options.rounds)
        bench.close()


if __name__ == "__main__":
    main()
