"""Turns that are dropped again and again, over every adapter: is anything lost or doubled?

    python -m benchmarks.soak
    python -m benchmarks.soak --turns 20 --events 5000 --seed 7

The demo server resets each connection after some frames, another number for each turn, and every
turn has to come to its end all the same. Each event is compared with what the server sent. Prints a
row for each adapter; a turn that is not whole is an AssertionError that says where.
"""

import argparse
import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import trio
from anyio.from_thread import start_blocking_portal

import ratatoskr_transports.anyio
import ratatoskr_transports.httpx
import ratatoskr_transports.trio
from ratatoskr._demo.mimir import Turn
from ratatoskr.demo_server import DemoServer
from ratatoskr_proto import ReconnectPolicy, SseId, TurnState

AT_ONCE = 20
MESSAGE = "What news of the serpent?"
POLICY = ReconnectPolicy(floor=0.001, ceiling=0.1, jitter=1.0)


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Run the demo server in a thread of its own; gives the URL of its turns."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(DemoServer().listening()) as url,
    ):
        yield url


def sent(number: int, frames: int) -> Iterator[tuple[SseId, Any]]:
    """The id and the JSON of each event of a turn, read from its frames without a decoder."""
    for seq, chunk in Turn(number, MESSAGE, frames).chunks():
        data = chunk.decode().rpartition("\ndata:")[2]
        if data.strip():
            yield SseId(number, seq), json.loads(data)


async def check(stream: Any, frames: int) -> tuple[int, int]:
    """Read a turn and compare it with what was sent; return how many events it had, and how often
    it was connected again.
    """
    came = []
    async with stream as turn:
        async for event in turn:
            came.append((event.sse_id, event.body))
    number = turn.turn_id
    for place, (ours, theirs) in enumerate(zip(came, sent(number, frames), strict=True), 1):
        if ours != theirs:
            raise AssertionError(f"event {place} of turn {number} is {ours}, and not {theirs}")
    assert turn.state is TurnState.DONE
    return len(came), turn.reconnects


async def read_all(
    open_turn: Callable[..., Any], group: Any, url: str, options: argparse.Namespace
) -> list[tuple[int, int]]:
    """Read all turns, some of them at once."""
    chance = random.Random(options.seed)
    left = [chance.randint(*options.drop_every) for _ in range(options.turns)]
    results = []

    async def read_some() -> None:
        while left:
            at = f"{url}?events={options.events}&drop-every={left.pop()}"
            stream = open_turn(at, json={"message": MESSAGE}, reconnect=POLICY)
            results.append(await check(stream, options.events))

    async with group as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(read_some)
    return results


async def over_httpx(url: str, options: argparse.Namespace) -> list[tuple[int, int]]:
    timeout = httpx.Timeout(connect=10, read=60, write=60, pool=10)
    async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:

        def open_turn(*args: Any, **kwargs: Any) -> Any:
            return ratatoskr_transports.httpx.stream_turn(client, *args, **kwargs)

        return await read_all(open_turn, anyio.create_task_group(), url, options)


async def over_anyio(url: str, options: argparse.Namespace) -> list[tuple[int, int]]:
    open_turn = ratatoskr_transports.anyio.stream_turn
    return await read_all(open_turn, anyio.create_task_group(), url, options)


async def over_trio(url: str, options: argparse.Namespace) -> list[tuple[int, int]]:
    open_turn = ratatoskr_transports.trio.stream_turn
    return await read_all(open_turn, trio.open_nursery(), url, options)


RUNS = {
    "httpx": (anyio.run, over_httpx),
    "anyio": (anyio.run, over_anyio),
    "trio": (trio.run, over_trio),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--events", type=int, default=500, help="of each turn")
    parser.add_argument(
        "--drop-every",
        type=int,
        nargs=2,
        default=(5, 60),
        metavar=("FEWEST", "MOST"),
        help="frames, a number in between by chance",
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{'adapter':8}{'turns':>8}{'events':>10}{'reconnects':>12}{'seconds':>9}")
    for adapter, (run, main_function) in RUNS.items():
        with serving() as url:
            started = time.perf_counter()
            results = run(main_function, url, options)
            seconds = time.perf_counter() - started
        events = sum(events for events, _ in results)
        reconnects = sum(reconnects for _, reconnects in results)
        print(f"{adapter:8}{len(results):8,}{events:10,}{reconnects:12,}{seconds:9.1f}")
    print("Every turn is whole: each event came once, in order, as it was sent.")


if __name__ == "__main__":
    main()
