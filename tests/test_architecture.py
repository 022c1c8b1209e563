"""ARCHITECTURE.md follows one frame, and the frame really goes that way."""

import re
import sys
from pathlib import Path

from support.raw_server import TO_CLOSE, serving
from support.terminal_app import drive, screen, send, until

from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr_proto import EventStreamDecoder

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
FIRST, SECOND = re.search(r"^(id: .*?) *\| *(\S.*)$", PAGE, re.MULTILINE).groups()


def entered_while_the_frame_is_shown():
    """Run the page's frame through the app; return the functions that were entered, as pairs of
    their file and their qualified name."""
    entered = set()

    def note(frame, event, _):
        if event == "call":
            code = frame.f_code
            entered.add((code.co_filename, code.co_qualname))

    def in_turn_layer():
        return any(name == "TurnDecoder.receive_data" for _, name in [*entered])

    def answer(peer):
        peer.read_request()
        peer.send(TO_CLOSE, unescaped(FIRST))
        peer.server.wait_for_signal()
        peer.send(unescaped(SECOND))
        peer.wait_for_close()

    async def scenario(pilot):
        sys.setprofile(note)
        try:
            await send(pilot, "Hello")
            await until(pilot, in_turn_layer)
            assert " Hi" not in screen(pilot.app)
            server.signal.set()
            await until(pilot, lambda: " Hi" in screen(pilot.app))
        finally:
            sys.setprofile(None)
        assert pilot.app.state is AppState.STREAMING

    with serving(answer) as server:
        drive(RatatoskrApp(server.url), scenario)
    return entered


def unescaped(text):
    return text.replace("\\n", "\n").encode()


def test_the_frame_goes_the_way_the_page_tells():
    entered = entered_while_the_frame_is_shown()
    rows = re.findall(r"^\| \d+ \|.*\| (.*) \| (.*) \|$", PAGE, re.MULTILINE)
    assert len(rows) > 10
    for files, names in rows:
        if files == "`ratatoskr_proto/_wire.py`" and EventStreamDecoder.implementation == "c":
            continue  # no profile sees what is called in C
        paths = [str(ROOT / file) for file in re.findall(r"`(.*?)`", files)]
        there = [f".{name}." for path, name in entered if path in paths]
        for name in re.findall(r"`(.*?)`", names):
            assert any(f".{name}." in each for each in there), f"{name} of {files} is not entered"


def test_files_that_the_page_names_are_there():
    for file in re.findall(r"`([\w/]+\.py)`", PAGE):
        assert (ROOT / file).exists(), file
