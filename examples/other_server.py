"""Reads any event stream, without turns: each event on a line, until the stream ends.

python examples/other_server.py https://stream.example/news [LAST_EVENT_ID]
"""

import asyncio
import sys

import httpx

from ratatoskr_proto import RatatoskrError, ServerSentEvent
from ratatoskr_transports.httpx import stream_events

# An event may be long in coming, so only what makes the connection is in a hurry.
TIMEOUT = httpx.Timeout(connect=10, read=None, write=60, pool=10)


async def main(url: str, last_event_id: str = "") -> bool:
    async with httpx.AsyncClient(timeout=TIMEOUT) as client:
        stream = stream_events(client, url, last_event_id=last_event_id)
        ended = "end of stream"
        try:
            async with stream:
                async for item in stream:
                    if isinstance(item, ServerSentEvent):  # no comments were asked for
                        # repr() shows all that could command a terminal as escapes.
                        print(f"{item.id!r} {item.event!r} {item.data!r}", flush=True)
        except RatatoskrError as error:
            ended = repr(error)
    print(f"[{ended}] resume from {stream.last_event_id!r}")
    return ended == "end of stream"


if __name__ == "__main__":
    sys.exit(not asyncio.run(main(*sys.argv[1:])))
