"""The raw view of any event stream, without a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from ratatoskr_proto import RatatoskrError, ReconnectPolicy

from .._connector import Connector
from .._shown.labels import ending_label
from .conversation import server_name
from .files import save_transcript
from .frames import FrameLog
from .frames_view import FramesView
from .key_bar import KeyBar
from .keys import HELP, PAGE_DOWN, PAGE_UP, RESUME, SAVE
from .pace import DRAWINGS_A_SECOND, DrawingPace
from .screens import EVENTS_HELP, HelpScreen, MainScreen
from .status import TurnStatus
from .status_line import StatusLine
from .style import CSS


class EventsApp(App[None], inherit_bindings=False):
    """Lists the frames of one stream as they come."""

    TITLE = "Ratatoskr"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (78, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (14, "-tall")]  # noqa: RUF012
    CSS = CSS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Close", key_display="Esc"),
        RESUME,
        HELP,
        Binding("ctrl+c,ctrl+q", "quit", "Quit", key_display="^C"),
        SAVE,
        Binding("ctrl+end,end", "follow", "Follow", key_display="End"),
        PAGE_UP,
        PAGE_DOWN,
        Binding("ctrl+home,home", "scroll('home')", show=False),
        Binding("up", "scroll('up')", show=False),
        Binding("down", "scroll('down')", show=False),
        Binding("left", "scroll('left')", show=False),
        Binding("right", "scroll('right')", show=False),
    ]

    def __init__(
        self,
        url: str,
        *,
        connector: Connector,
        options: Mapping[str, Any],
        reconnect: ReconnectPolicy | None = None,
    ) -> None:
        """Show the stream at ``url``; ``options`` are those of the adapter's ``stream_events``."""
        super().__init__()
        self.animation_level = "none"
        self._url = url
        self._connector = connector
        self._status = TurnStatus()
        self._options = {**options, "reconnect": reconnect, "on_wait": self._status.wait}
        self._frames = FrameLog()
        self._frames_view = FramesView(self._frames)
        self._status_line = StatusLine(self._status)
        self._is_open = False
        self._pace = DrawingPace()

    def get_default_screen(self) -> MainScreen:
        return MainScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield self._frames_view
        yield self._status_line
        yield KeyBar()

    def on_mount(self) -> None:
        self.set_interval(1 / DRAWINGS_A_SECOND, self._tick)
        self._stream_worker()

    async def on_unmount(self) -> None:
        await self._connector.aclose()

    @work(exclusive=True, exit_on_error=False, description="one stream")
    async def _stream_worker(self) -> None:
        """Read the stream to its end, and say how it ended. It never raises."""
        self._status.start(None)
        self._is_open = True
        self.screen.refresh_bindings()
        try:
            line = await self._read()
        except asyncio.CancelledError:
            self._end("[cancelled]")
            raise
        except RatatoskrError as error:
            line = ending_label(error)
        except (TypeError, ValueError) as error:  # before anything was sent
            line = f"[not_sent] {error}"
        except Exception as error:
            line = f"[bug] {type(error).__name__}"
        self._end(line)

    async def _read(self) -> str:
        events = self._connector.open(
            "stream_events", self._url, last_event_id=self._frames.last_id, **self._options
        )

        def receive(data: bytes) -> None:
            self._status.bytes_came()
            self._frames.receive(data, events.reconnects)

        events.tap(receive)
        async with events:
            async for _ in events:
                self._status.count(None)
        return "[end of stream]"

    def _end(self, line: str) -> None:
        self._is_open = False
        self._status.end()
        self._frames.note(line)
        if self.is_running:
            self._show_pending()
            self.screen.refresh_bindings()

    def _tick(self) -> None:
        if self._pace.start_drawing():
            self._show_pending()
            self.call_after_refresh(self._pace.done)

    def _show_pending(self) -> None:
        state = "streaming" if self._is_open else "closed"
        self._status_line.show(state, names=[server_name(self._url)])
        self._frames_view.show_new()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        usable = {"cancel": self._is_open, "resume": not self._is_open}
        return True if usable.get(action, True) else None

    def action_cancel(self) -> None:
        self.workers.cancel_all()

    def action_resume(self) -> None:
        self._frames.reconnect()
        self._stream_worker()

    def action_save(self) -> None:
        rows = "".join([f"{frame.text}\n" for frame in self._frames.frames])
        try:
            self._status_line.note(f"saved {save_transcript(rows, None)}")
        except OSError as error:
            self._status_line.note(f"not saved: {error.strerror}")

    def action_help(self) -> None:
        self.push_screen(HelpScreen(EVENTS_HELP))

    def action_follow(self) -> None:
        self._frames_view.list.follow()

    def action_scroll(self, how: str) -> None:
        getattr(self._frames_view.list, f"scroll_{how}")(animate=False)
