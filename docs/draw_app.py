"""Draws the terminal app into docs/tui.svg, and its raw view into docs/tui-frames.svg.

python docs/draw_app.py
"""

import asyncio
import re
from pathlib import Path

import httpx

from ratatoskr.demo_server import PATHS, DemoServer, Script
from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr_proto import SseId
from ratatoskr_transports import TurnStream
from ratatoskr_transports.httpx import stream_turn

FOLDER = Path(__file__).parent
SIZE = (80, 22)
QUERIES = ["?events=60", "?pace=0.02", "?empty&keepalive&at=4&events=14"]


async def draw() -> None:
    """A turn that is done, and one that streams, as text and as frames."""
    queries = iter(QUERIES)
    async with DemoServer(Script()).listening() as base_url, httpx.AsyncClient() as client:
        url = base_url + PATHS["turn"]

        def open_turn(target: str | SseId) -> TurnStream:
            return stream_turn(client, url + next(queries), json={"message": target})

        app = RatatoskrApp(url, open_turn=open_turn)
        async with app.run_test(size=SIZE) as pilot:
            await pilot.press(*"Who are you?", "enter")
            while app.state is AppState.STREAMING:
                await pilot.pause()
            await pilot.press(*"Tell me more", "enter")
            await pilot.pause(0.7)
            write_picture(app, "tui.svg")
            await pilot.press("escape", *"And the frames?", "enter")
            while app.state is AppState.STREAMING:
                await pilot.pause()
            await pilot.press("f5")
            await pilot.pause(0.2)
            write_picture(app, "tui-frames.svg")


def write_picture(app: RatatoskrApp, name: str) -> None:
    """Write the screen as it is now."""
    picture = app.export_screenshot(title="ratatoskr tui", simplify=True)
    # Rich names a font on another server; a page loads nothing from elsewhere.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    (FOLDER / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(draw())
