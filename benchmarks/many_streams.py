"""Many streams at once on one event loop: do all come to their end, and what do they cost?

    python -m benchmarks.many_streams --library anyio
    python -m benchmarks.many_streams --library trio --streams 1000 --events 1000

All streams are open before the server sends the first event, and it sends one event a write to
each of them by turns. Prints the seconds from the first request to the last event, and by how much
the memory of this process was larger than before, at most, a stream.
"""

import argparse
import resource
import time

import anyio
import trio

import ratatoskr_transports.anyio
import ratatoskr_transports.trio
from ratatoskr_proto import TurnState

from .loopback_server import raise_file_limit, serving

TIMEOUT = 600.0


async def read(library: str, url: str) -> int:
    """Read a turn, check it, and return how many events it had."""
    adapter = getattr(ratatoskr_transports, library)
    seq = 0
    async with adapter.stream_turn(
        url, json={}, connect_timeout=TIMEOUT, read_timeout=TIMEOUT
    ) as turn:
        async for event in turn:
            seq += 1
            if event.sse_id != (turn.turn_id, seq):
                raise AssertionError(f"{event.sse_id} came as event {seq} of turn {turn.turn_id}")
        assert turn.state is TurnState.DONE
    return seq


async def read_all(library: str, url: str, streams: int) -> list[int]:
    numbers: list[int] = []

    async def read_one() -> None:
        numbers.append(await read(library, url))

    if library == "trio":
        async with trio.open_nursery() as nursery:
            for _ in range(streams):
                nursery.start_soon(read_one)
    else:
        async with anyio.create_task_group() as tasks:
            for _ in range(streams):
                tasks.start_soon(read_one)
    return numbers


def max_rss() -> int:
    """The most memory that this process has had so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", choices=["anyio", "trio"], required=True)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--events", type=int, default=1000)
    options = parser.parse_args()
    raise_file_limit()
    run = trio.run if options.library == "trio" else anyio.run
    with serving() as url:
        # What is loaded and made once is no cost of a stream.
        assert run(read_all, options.library, f"{url}/one/10", 1) == [11]
        before = max_rss()
        started = time.perf_counter()
        cpu = time.process_time()
        path = f"/crowd/{options.events}/{options.streams}"
        numbers = run(read_all, options.library, url + path, options.streams)
        seconds = time.perf_counter() - started
        cpu = time.process_time() - cpu
        growth = max_rss() - before
    assert numbers == [options.events + 1] * options.streams
    print(
        f"{options.library}: {options.streams} streams of {options.events} events, all complete "
        f"and in order\n{seconds:.1f} s, {cpu:.1f} s of them CPU time, "
        f"{sum(numbers) / seconds:,.0f} events/s, {growth / options.streams:.1f} KiB a stream"
    )


if __name__ == "__main__":
    main()
