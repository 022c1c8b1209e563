"""Driving the terminal app: turns that a test scripts, waiting, and the text of the screen."""

import asyncio
import contextlib
import re
import time
from unittest.mock import patch

from textual._compositor import Compositor

from ratatoskr.tui import AppState, RatatoskrApp
from ratatoskr_proto import Done, SseId, Text

TIMEOUT = 30.0  # seconds, less than the watchdog, after which a test that hangs fails


def text(said, seq=1, turn=93):
    return Text(said, sse_id=SseId(turn, seq), body={"type": "text", "text": said})


def done(seq=2, turn=93):
    return Done(sse_id=SseId(turn, seq), body={"type": "done"})


class FakeTurn:
    """A turn that gives events, raises exceptions, waits for ``asyncio.Event``, in that order."""

    def __init__(self, *script, opening=None, last_sse_id=None):
        self._script = iter(script)
        self._opening = opening
        self.last_sse_id = last_sse_id
        self.left = False

    async def __aenter__(self):
        if self._opening is not None:
            raise self._opening
        return self

    async def __aexit__(self, *_):
        self.left = True

    def __aiter__(self):
        return self

    async def __anext__(self):
        for each in self._script:
            if isinstance(each, asyncio.Event):
                await each.wait()
            elif isinstance(each, BaseException):
                raise each
            else:
                return each
        raise StopAsyncIteration


async def settle(app):
    """Let the app run until it only waits, having done what it had put off until the next drawing.

    Textual finds that out by looking at the clock of the CPU every fiftieth of a second, and two or
    three times for each key. An app that never rests fails the test.
    """
    end = time.monotonic() + TIMEOUT
    for _ in range(2):
        await asyncio.sleep(0)
        while asyncio.get_running_loop()._ready:
            assert time.monotonic() < end, "the app never rests"
            await asyncio.sleep(0)
        if app.screen_stack:
            app.screen._on_timer_update()  # as pilot.pause() does


def draw_nothing(compositor, *_, **__):
    """Take a change of the screen as drawn. Textual draws each and, where there is no terminal,
    throws it away; ``screen`` draws when a test looks.
    """
    compositor._dirty_regions.clear()


def drive(app, scenario, size=(80, 24)):
    """Run ``await scenario(pilot)`` with the app."""

    async def main():
        with (
            patch("textual.app.wait_for_idle", lambda *_: settle(app)),
            patch("textual.pilot.wait_for_idle", lambda *_: settle(app)),
            patch.object(Compositor, "render_update", draw_nothing),
        ):
            async with app.run_test(size=size) as pilot:
                await scenario(pilot)
                if app.screen_stack:
                    screen(app)  # what the test did not look at can be drawn, too

    asyncio.run(main())


async def until(pilot, condition):
    """Let the app run until the condition holds."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "\n".join(screen(pilot.app))
        await asyncio.sleep(0.005)  # lets the app run; pilot.pause() does so at far more cost
    await pilot.pause()


async def seen(pilot, rows):
    """Let the app run until its screen has these rows."""
    with contextlib.suppress(AssertionError):
        await until(pilot, lambda: screen(pilot.app) == rows)
    assert screen(pilot.app) == rows


async def idle_again(pilot):
    """Let the app run until no turn is running."""
    await until(pilot, lambda: pilot.app.state is AppState.IDLE)


async def resize(pilot, width, height):
    """Give the terminal another size. The app takes it a moment later, by a timer."""
    await pilot.resize_terminal(width, height)
    await until(pilot, lambda: pilot.app.screen._compositor.size == (width, height))


def answering(*turns, **options):
    """An app to which each message, and each resumption, gets the next of these turns; an exception
    is raised instead. Its ``asked`` lists what was asked for.
    """
    left = iter(turns)

    def open_turn(target):
        app.asked.append(target)
        turn = next(left)
        if isinstance(turn, Exception):
            raise turn
        return turn

    app = RatatoskrApp(open_turn=open_turn, **options)
    app.asked = []
    return app


async def send(pilot, message):
    """Type a message and send it."""
    pilot.app.query_one("#message").text = message
    await pilot.press("enter")


def screen(app):
    """The rows of the screen, without what changes from run to run."""
    strips = app.screen._compositor.render_strips()
    rows = ["".join(segment.text for segment in strip).rstrip() for strip in strips]
    return [re.sub(r"\d+/s", "N/s", re.sub(r"silent \d+\.\d", "silent N", row)) for row in rows]


def is_enabled(app, action):
    """Whether a key does this, and does something now."""
    return any(
        each.enabled
        for each in app.screen.active_bindings.values()
        if each.binding.action in (action, f"app.{action}")
    )


def shown(app):
    """Everything in the transcript."""
    return app.query_one("#transcript").text
