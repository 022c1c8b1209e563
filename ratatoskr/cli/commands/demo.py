"""``ratatoskr demo``: a server and its client in one process."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from ratatoskr_proto import Comment, Event, EventStreamDecoder, RatatoskrError, ServerSentEvent

from ..._connector import ANYIO, Connector
from ..._shown.json_lines import JsonLines
from ...demo_server import DEFAULT_EVENTS, PATHS, DemoServer, Script
from ..connect import show_stream
from ..show_turn import TurnPrinter

_PACE = 0.01  # seconds between frames: pleasant to read along


@click.command(short_help="Show a long turn, with no network and no keys.")
@click.option("--fast", is_flag=True, help="Send the frames without pauses.")
@click.option(
    "--events",
    type=click.IntRange(min=1, max=10**9),
    default=DEFAULT_EVENTS,
    show_default=True,
    metavar="N",
    help="How many frames the turn has.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each event as a line of JSON.")
def demo(fast: bool, events: int, as_json: bool) -> int:
    """Stream a long turn from a server on this machine, with no network and no keys.

    The turn has keep-alives, text in several scripts, and as frame 1078 the one that once crashed a
    client: an id and no data. Its last lines say what it survived, and [done].

    \b
    Examples:
      ratatoskr demo
      ratatoskr demo --fast --json | tail -n 1
    """
    return asyncio.run(_demo(Script(events=events, pace=0.0 if fast else _PACE), as_json))


async def _demo(script: Script, as_json: bool) -> int:
    async with DemoServer(script).listening() as base_url:
        return await show_stream(
            Connector(ANYIO),  # which takes half as long to import as httpx
            _SurvivorPrinter(lines=JsonLines() if as_json else None),
            "stream_turn",
            base_url + PATHS["turn"],
            json={"message": "Who are you?"},
        )


class _SurvivorPrinter(TurnPrinter):
    """As ``TurnPrinter``; before the end it also lists what came and was not an event."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._decoder = EventStreamDecoder(comments=True)
        self._empty_frames: list[str] = []
        self._keep_alives = 0

    async def show(self, turn: Any) -> int:
        turn.tap(self._receive_body)
        return await super().show(turn)

    def _receive_body(self, data: bytes) -> None:
        for item in self._decoder.receive_data(data):
            match item:
                case ServerSentEvent(data="", id=id):
                    self._empty_frames.append(id.partition(":")[2])
                case Comment():
                    self._keep_alives += 1

    def _print_ending(self, turn: Any, ending: Event | RatatoskrError) -> None:
        survived = [f"frame {seq}: id and no data, skipped" for seq in self._empty_frames]
        if self._keep_alives:
            survived.append(f"{self._keep_alives} keep-alive{'s' * (self._keep_alives > 1)}")
        if survived:
            self._answer.label("; ".join(survived))
        super()._print_ending(turn, ending)
