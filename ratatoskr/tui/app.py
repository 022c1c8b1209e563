"""The terminal app: a conversation with a chat server, whose turns are streamed.

What the server says is data: it is shown escaped, and never read as markup. However a turn ends,
the app goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import gc
import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static
from textual.worker import Worker, WorkerError

from ratatoskr_proto import (
    Done,
    Event,
    RatatoskrError,
    ReconnectPolicy,
    SseConnectionDropped,
    SseId,
    Text,
)

from .._connector import Connector
from .._shown.json_lines import loads
from .._shown.labels import ending_label, event_label
from .._shown.visible import visible
from ..demo_server import PATHS, DemoServer, Script
from .scrollback import Kind
from .status import TurnStatus
from .transcript import Transcript
from .widgets import (
    MAX_MARKDOWN,
    HelpScreen,
    KeysFooter,
    MessageInput,
    StreamedTurn,
    coalesced,
    rendered,
    save_transcript,
)

_DRAWINGS_A_SECOND = 20
_MAX_BUSY = 0.002  # seconds for which events may keep the keys waiting
_DEMO_PACE = 0.01
_OWN_SERVER = "A demo server of the app's own answers. F1 shows the keys."


class AppState(enum.Enum):
    """What the app is doing."""

    IDLE = "idle"
    STREAMING = "streaming"


_HINTS = {
    AppState.IDLE: "Type a message; Enter sends it",
    AppState.STREAMING: "Esc cancels; the next message can be typed meanwhile",
}


class RatatoskrApp(App[None], inherit_bindings=False):
    """Talks to one server."""

    TITLE = "Ratatoskr"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (78, "-wide"), (92, "-wider")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (14, "-tall")]  # noqa: RUF012
    CSS = """
    Screen { layout: vertical; }
    Transcript, #answer { height: 1fr; padding: 0 1; }
    #answer { scrollbar-size-vertical: 1; }
    #status { height: 1; padding: 0 1; background: $panel; color: $text-muted; }
    #status { text-wrap: nowrap; text-overflow: ellipsis; }
    .-short Input { border: none; height: 1; padding: 0 1; }
    .-narrow.-tall Footer { layout: grid; grid-rows: 1; height: 4; }
    .-wide FooterKey.-if-room { display: none; }
    .-narrow FooterKey .footer-key--key { padding: 0; }
    .-narrow FooterKey .footer-key--description { padding: 0 0 0 1; }
    HelpScreen VerticalScroll { height: 1fr; padding: 1 2; scrollbar-size-vertical: 1; }
    .-narrow HelpScreen VerticalScroll { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", key_display="Enter"),
        Binding("escape", "cancel", "Cancel", key_display="Esc"),
        Binding("ctrl+r", "resume", "Resume", key_display="^R"),
        Binding("ctrl+s", "save", "Save", key_display="^S"),
        Binding("f3", "markdown", "Markdown", key_display="F3"),
        Binding("f1,question_mark", "help", "Help", key_display="F1"),
        Binding("f4", "reconnect", "Reconnect", key_display="F4"),
        Binding("ctrl+c,ctrl+q", "quit", "Quit", key_display="^C", priority=True),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("pagedown", "scroll('page_down')", show=False),
        Binding("ctrl+home", "scroll('home')", show=False),
        Binding("ctrl+end", "scroll('end')", show=False),
    ]

    def __init__(
        self,
        url: str | None = None,
        *,
        headers: Sequence[tuple[str, str]] = (),
        reconnect: bool = False,
        policy: ReconnectPolicy | None = None,
        open_turn: Callable[[str | SseId], StreamedTurn] | None = None,
    ) -> None:
        """Talk to the turns at ``url``, sending ``headers`` (pairs of name and value) with each
        request; without a URL, to a demo server of its own. With ``reconnect``, which a key turns
        on and off, a turn whose connection is lost is resumed over another one, by ``policy``
        (default: ``ReconnectPolicy()``).

        With ``open_turn`` none of these is used: it makes the turn that answers a message (str), or
        that resumes after an id (SseId), not entered yet. If it raises, the message is not sent.
        """
        super().__init__()
        self.animation_level = "none"
        self.state = AppState.IDLE
        self._url = url
        self._reconnect = reconnect
        self._policy = policy or ReconnectPolicy()
        self._own_server = url is None and open_turn is None
        self._open = self._open_with_connector if open_turn is None else open_turn
        # No proxy leads to the app's own server.
        self._connector = Connector(headers=headers, trust_env=not self._own_server)
        self._server_is_up = asyncio.Event()
        self._server: Worker[None] | None = None
        self._turn: StreamedTurn | None = None  # the one that is running
        self._worker: Worker[None] | None = None
        self._status = TurnStatus()
        self._resume_from: SseId | None = None  # from where the next one may be
        self._answer: list[str] = []  # the text of the last turn, as far as it is wanted
        self._answer_chars = 0
        self._columns = 80
        self._pending: list[tuple[Kind, str]] = []
        self._transcript = Transcript(id="transcript")
        self._markdown = Static(markup=False)
        self._answer_view = VerticalScroll(self._markdown, id="answer")
        self._input = MessageInput(id="message")
        self._status_line = Static(id="status", markup=False)

    def compose(self) -> ComposeResult:
        yield self._transcript
        yield self._answer_view
        yield self._input
        yield self._status_line
        yield KeysFooter(show_command_palette=False)

    async def on_mount(self) -> None:
        self._answer_view.display = False
        self._input.focus()
        self._ticks = self.set_interval(1 / _DRAWINGS_A_SECOND, self._show_pending, pause=True)
        if self._own_server:
            self._server = self._serve_worker()
            await self._server_is_up.wait()
        self._enter(AppState.IDLE)
        if not self.is_headless:
            # To go through all that was imported would keep a key waiting for a tenth of a second.
            self.call_after_refresh(gc.freeze)

    async def on_unmount(self) -> None:
        if not self.is_headless:
            gc.unfreeze()
        if self._server is not None:
            self._server.cancel()
            with contextlib.suppress(WorkerError):
                await self._server.wait()
        await self._connector.aclose()

    def on_resize(self, event: events.Resize) -> None:
        self._columns = event.size.width
        self._show_pending()

    @work(group="server", exit_on_error=False, description="the demo server")
    async def _serve_worker(self) -> None:
        try:
            async with DemoServer(Script(pace=_DEMO_PACE)).listening() as base_url:
                self._url = base_url + PATHS["turn"]
                self._write(
                    Kind.EVENT, "A demo server of the app's own answers. F1 shows the keys."
                )
                self._server_is_up.set()
                await asyncio.Event().wait()
        except OSError as error:
            self._write(Kind.ERROR, f"[no_server] {error.strerror}")
        finally:
            self._url = None
            self._server_is_up.set()

    # One turn.

    @work(exclusive=True, group="turn", exit_on_error=False, description="one turn")
    async def _stream_turn_worker(self, turn: StreamedTurn) -> None:
        """Read a turn that was not entered yet, show it, and say how it ended. It never raises."""
        self._begin(turn)
        try:
            ending = await self._read(turn)
        except asyncio.CancelledError:
            self._finish(turn, Kind.END, "[cancelled]")
            raise
        except RatatoskrError as error:
            ending = error
        except Exception as error:
            self._finish(turn, Kind.ERROR, f"[bug] {type(error).__name__}")
            return
        try:
            line = ending_label(ending)
        except TypeError:  # an error or a terminal event of somebody else's
            line = f"[bug] {type(ending).__name__}"
        good = isinstance(ending, Done)
        self._finish(turn, Kind.END if good else Kind.ERROR, line, ending)

    def _begin(self, turn: StreamedTurn) -> None:
        if turn is not self._turn:
            if self._turn is not None:
                self._finish(self._turn, Kind.END, "[cancelled]")
            self._turn = turn
            self._resume_from = None
            self._status.begin(getattr(turn, "last_sse_id", None))
            self._enter(AppState.STREAMING)

    async def _read(self, turn: StreamedTurn) -> Event | RatatoskrError:
        """Show the events of a turn, and return what ended it."""
        if hasattr(turn, "tap"):
            turn.tap(self._status.hear)
        ending: Event | None = None
        rested = time.monotonic()
        async with turn:
            async for event in turn:
                if turn is not self._turn:
                    continue
                self._status.count(event.sse_id)
                if isinstance(event, Text):
                    self._write(Kind.TEXT, event.text)
                    self._keep(event.text)
                elif event.terminal:
                    ending = event
                else:
                    self._write(Kind.EVENT, event_label(event))
                if time.monotonic() - rested > _MAX_BUSY:
                    await asyncio.sleep(0)
                    rested = time.monotonic()
        return ending or SseConnectionDropped(self._status.last_id, "end of stream")

    def _keep(self, text: str) -> None:
        """Keep what the Markdown view will show."""
        if self._answer_chars <= MAX_MARKDOWN:
            self._answer.append(text)
            self._answer_chars += len(text)

    def _finish(
        self,
        turn: StreamedTurn,
        kind: Kind,
        line: str,
        ending: Event | RatatoskrError | None = None,
    ) -> None:
        """Go back to idle, unless another turn runs."""
        if turn is not self._turn:
            return
        self._turn = None
        self._resume_from = self._status.resume_point(ending)
        self._status.end()
        if self.is_running:
            self._write(kind, line)
            self._enter(AppState.IDLE)

    def _enter(self, state: AppState) -> None:
        self.state = state
        self._input.placeholder = _HINTS[state]
        if state is AppState.STREAMING:
            self._ticks.resume()
        else:
            self._ticks.pause()
        self._show_pending()
        for screen in self.screen_stack:
            screen.refresh_bindings()

    def _open_with_connector(self, target: str | SseId) -> StreamedTurn:
        if self._url is None:
            raise ValueError("the demo server is not up")
        policy = self._policy if self._reconnect else None
        options = {"reconnect": policy, "on_wait": self._status.wait, "loads": loads}
        turn: StreamedTurn
        if isinstance(target, SseId):
            turn = self._connector.open("reconnect_turn", self._url, target, **options)
        else:
            message = {"message": target}
            turn = self._connector.open("stream_turn", self._url, json=message, **options)
        return turn

    def _start(self, target: str | SseId) -> bool:
        """Start or resume a turn; return whether it could be asked for."""
        try:
            turn = self._open(target)
        except (TypeError, ValueError) as error:
            self._write(Kind.ERROR, f"[not_sent] {error}")
        except Exception as error:
            self._write(Kind.ERROR, f"[bug] {type(error).__name__}")
        else:
            if not isinstance(target, SseId):
                self._answer.clear()
                self._answer_chars = 0
            self._begin(turn)
            self._worker = self._stream_turn_worker(turn)
            return True
        self._show_pending()
        return False

    # What is shown.

    def _write(self, kind: Kind, text: str) -> None:
        """Have text shown with the next drawing."""
        self._pending.append((kind, text))

    def _show_pending(self) -> None:
        if self._pending:
            pending, self._pending = self._pending, []
            self._transcript.add(coalesced(pending))
        line = self._status.line(self.state.value, self._columns - 2, self._reconnect)
        self._status_line.update(line)

    def _read_answer(self, reading: bool) -> None:
        self._answer_view.display = reading
        self._transcript.display = not reading

    # The keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        idle = self.state is AppState.IDLE
        usable = {
            "send": idle,
            "cancel": not idle,
            "resume": self._resume_from is not None,
            "markdown": idle and bool(self._answer),
            "reconnect": self._open == self._open_with_connector,
        }
        return True if usable.get(action, True) else None

    def action_send(self) -> None:
        message = self._input.value.strip()
        if message:
            self._read_answer(False)
            self._write(Kind.USER, f"> {message}")
            self._transcript.follow()
            if self._start(message):
                self._input.clear()

    def action_cancel(self) -> None:
        if self._turn is not None:
            self._finish(self._turn, Kind.END, "[cancelled]")
        self.workers.cancel_group(self, "turn")

    def action_resume(self) -> None:
        if self._resume_from is not None:
            self._read_answer(False)
            self._write(Kind.EVENT, f"[resume] last_sse_id={self._resume_from}")
            self._start(self._resume_from)

    def action_save(self) -> None:
        self._show_pending()
        try:
            path = save_transcript(self._transcript.text, self._status.last_id)
        except OSError as error:
            self._write(Kind.ERROR, f"[not_saved] {error.strerror}")
        else:
            self._write(Kind.END, f"[saved] {path}")
        self._read_answer(False)
        self._show_pending()

    def action_markdown(self) -> None:
        if self._answer_view.display:
            self._read_answer(False)
            return
        self._markdown.update(rendered(visible("".join(self._answer))))
        self._read_answer(True)
        self._answer_view.scroll_home(animate=False)

    def action_reconnect(self) -> None:
        self._reconnect = not self._reconnect
        when = "" if self.state is AppState.IDLE else " from the next turn"
        self._write(Kind.EVENT, f"[reconnect] {'on' if self._reconnect else 'off'}{when}")
        self._read_answer(False)
        self._show_pending()

    def action_help(self) -> None:
        self.push_screen(HelpScreen())

    def action_scroll(self, how: str) -> None:
        view = self._answer_view if self._answer_view.display else self._transcript
        if how == "end" and view is self._transcript:
            self._transcript.follow()
        else:
            getattr(view, f"scroll_{how}")(animate=False)
