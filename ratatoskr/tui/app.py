"""The terminal app: a conversation with a chat server, whose turns are streamed.

What the server says is data: it is shown escaped, and never read as markup. However a turn ends,
the app continues.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from textual import events, work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.worker import Worker, WorkerError

from ratatoskr_proto import Done, Event, RatatoskrError, ReconnectPolicy, SseConnectFailed, SseId
from ratatoskr_proto.dialects import TURN, Dialect

from .._connector import Connector
from .._shown.labels import ending_label
from .._shown.visible import visible
from ..demo_server import PATHS, DemoServer, Script
from .conversation import DEFAULT_HISTORY, Conversation
from .files import RecordingNames, save_transcript
from .frames import FrameLog
from .key_bar import KeyBar
from .keys import KEYS
from .message_input import MessageInput
from .pace import DRAWINGS_A_SECOND, DrawingPace
from .panes import Panes
from .reader import TurnReader
from .screens import HelpScreen, MainScreen, UnsavedScreen
from .scrollback import Kind
from .state import HINTS, AppState
from .status import TurnStatus
from .status_line import StatusLine
from .style import CSS
from .turns import StreamedTurn

_DEMO_PACE = 0.01
_OWN_SERVER = "A demo server of the app's own answers. F1 shows the keys."
_CUT = "[cut] This answer is not complete. Ctrl-R asks for it again."


class RatatoskrApp(App[None], inherit_bindings=False):
    """Talks to one server."""

    TITLE = "Ratatoskr"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (78, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (14, "-tall")]  # noqa: RUF012
    CSS = CSS
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(
        self,
        url: str | None = None,
        *,
        headers: Sequence[tuple[str, str]] = (),
        connector: Connector | None = None,
        options: Mapping[str, Any] | None = None,
        reconnect: bool = False,
        policy: ReconnectPolicy | None = None,
        record: str | None = None,
        dialect: Dialect[Any] = TURN,
        keys: Mapping[str, Any] | None = None,
        history: int = DEFAULT_HISTORY,
        open_turn: Callable[[str | SseId], StreamedTurn] | None = None,
    ) -> None:
        """Talk to the turns at ``url``, sending ``headers`` (pairs of name and value) with each
        request; without a URL, to a demo server of its own. With ``reconnect``, which a key turns
        on and off, a turn whose connection is lost is resumed over another one, by ``policy``
        (default: ``ReconnectPolicy()``). ``connector`` replaces the one that sends ``headers``, and
        ``options`` go to the adapter with every turn. ``record`` names the file into which the
        first turn is recorded; later ones get a number. ``dialect``, ``keys`` and ``history`` are
        those of a ``Conversation``.

        With ``open_turn`` only ``record`` and ``dialect`` are used: it makes the turn that answers
        a message (str), or that resumes after an id (SseId), not entered yet. If it raises, the
        message is not sent.
        """
        super().__init__()
        self.animation_level = "none"
        self.state = AppState.IDLE
        self._reconnect = reconnect
        self._policy = policy or ReconnectPolicy()
        self._own_server = url is None and open_turn is None
        self._status = TurnStatus()
        if connector is None or self._own_server:
            # No proxy leads to the app's own server.
            connector = Connector(headers=headers, trust_env=not self._own_server)
        self._conversation = Conversation(
            url,
            connector,
            dialect=dialect,
            keys=keys,
            history=history,
            options=options or {},
            on_wait=self._status.wait,
        )
        self._open = open_turn or self._open_with_conversation
        self._server_is_up = asyncio.Event()
        self._server: Worker[None] | None = None
        self._turn: StreamedTurn | None = None  # the one that is running
        self._worker: Worker[None] | None = None
        self._message = ""  # the last one that was sent
        self._resume_from: SseId | None = None
        self._can_ask_again = False
        self._saved = True
        self._pace = DrawingPace()
        self._recording = record is not None
        self._recordings = RecordingNames(record)
        self._status_line = StatusLine(self._status)
        frames = FrameLog()
        self._panes = Panes(frames, self._status_line.note)
        self._reader = TurnReader(self._panes.write, self._status, frames, dialect=dialect)
        self._input = MessageInput(id="message")

    def get_default_screen(self) -> MainScreen:
        return MainScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield self._panes
        yield self._input
        yield self._status_line
        yield KeyBar()

    async def on_mount(self) -> None:
        self._input.focus()
        self._ticks = self.set_interval(1 / DRAWINGS_A_SECOND, self._tick, pause=True)
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
        await self._conversation.aclose()

    @work(group="server", exit_on_error=False, description="the demo server")
    async def _serve_worker(self) -> None:
        try:
            async with DemoServer(Script(pace=_DEMO_PACE)).listening() as base_url:
                self._conversation.url = base_url + PATHS[self._conversation.dialect.name]
                self._panes.write(Kind.EVENT, _OWN_SERVER)
                self._server_is_up.set()
                await asyncio.Event().wait()
        except OSError as error:
            self._panes.write(Kind.ERROR, f"[no_server] {error.strerror}")
        finally:
            self._conversation.url = None
            self._server_is_up.set()

    # One turn.

    @work(exclusive=True, group="turn", exit_on_error=False, description="one turn")
    async def _stream_turn_worker(self, turn: StreamedTurn) -> None:
        """Read a turn that was not entered yet, show it, and say how it ended. It never raises."""
        self._begin(turn)
        try:
            record_to = self._recordings.next() if self._recording else None
            ending = await self._reader.read(turn, record_to)
        except asyncio.CancelledError:
            self._cancelled(turn)
            raise
        except Exception as error:
            self._finish(turn, Kind.ERROR, f"[bug] {type(error).__name__}")
            return
        try:
            line = ending_label(ending)
        except TypeError:  # an error or a terminal event of the caller's own
            line = f"[bug] {type(ending).__name__}"
        kind = Kind.END if isinstance(ending, Done) else Kind.ERROR
        self._finish(turn, kind, line, ending)

    def _begin(self, turn: StreamedTurn, *, new_answer: bool = True) -> None:
        if turn is not self._turn:
            self._cancelled(self._turn)
            self._turn = turn
            self._resume_from = None
            self._can_ask_again = False
            self._saved = False
            self._status.start(getattr(turn, "last_sse_id", None))
            self._reader.follow(turn, new_answer=new_answer)
            self._enter(AppState.STREAMING)

    def _cancelled(self, turn: StreamedTurn | None) -> None:
        """End a turn that is not read any more."""
        last_id = self._status.last_id
        line = "[cancelled]" if last_id is None else f"[cancelled] last_sse_id={last_id}"
        self._finish(turn, Kind.END, line)

    def _finish(
        self,
        turn: StreamedTurn | None,
        kind: Kind,
        line: str,
        ending: Event | RatatoskrError | None = None,
    ) -> None:
        """Go back to idle, unless another turn runs. ``ending`` is None for one that was cancelled,
        or whose end is a bug.
        """
        if turn is None or turn is not self._turn:
            return
        self._turn = None
        self._conversation.ended(ending, self._reader.answer)
        is_cut = not isinstance(ending, Done)
        if self._conversation.dialect is TURN:
            self._resume_from = self._status.resume_point(ending)
        else:
            self._can_ask_again = is_cut
        self._status.end()
        if self.is_running:
            self._panes.write(kind, line)
            came = self._reader.answer or not isinstance(ending, SseConnectFailed | None)
            if self._can_ask_again and came:
                self._panes.write(Kind.ERROR, _CUT)
            if hint := self._reader.hint(ending):
                self._panes.write(Kind.EVENT, hint)
            self._enter(AppState.IDLE)

    def _enter(self, state: AppState) -> None:
        self.state = state
        self._input.placeholder = HINTS[state]
        if state is AppState.STREAMING:
            self._ticks.resume()
        else:
            self._ticks.pause()
        self._show_pending()
        for screen in self.screen_stack:
            screen.refresh_bindings()

    def _open_with_conversation(self, target: str | SseId) -> StreamedTurn:
        return self._conversation.open(target, self._policy if self._reconnect else None)

    def _start(self, target: str | SseId) -> bool:
        """Start or resume a turn; return whether it could be asked for."""
        try:
            turn = self._open(target)
        except (TypeError, ValueError) as error:
            self._panes.write(Kind.ERROR, f"[not_sent] {error}")
        except Exception as error:
            self._panes.write(Kind.ERROR, f"[bug] {type(error).__name__}")
        else:
            if isinstance(target, str):
                self._message = target
            self._begin(turn, new_answer=isinstance(target, str))
            self._worker = self._stream_turn_worker(turn)
            return True
        self._show_pending()
        return False

    # What is shown.

    def _tick(self) -> None:
        if self._pace.start_drawing():
            self._show_pending()
            self.call_after_refresh(self._pace.done)

    def _show_pending(self) -> None:
        self._panes.show_pending()
        self._status_line.show(
            self.state.value, reconnect=self._reconnect, names=self._conversation.names
        )

    def _tell(self, kind: Kind, line: str) -> None:
        """Add a line to the transcript, and show it now."""
        self._panes.write(kind, line)
        self._panes.show_transcript()
        self._show_pending()

    # The keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        idle = self.state is AppState.IDLE
        usable = {
            "send": idle,
            "cancel": not idle or self._panes.is_searching,
            "resume": self._resume_from is not None or self._can_ask_again,
            "markdown": idle and bool(self._reader.answer),
            "reconnect": self._open == self._open_with_conversation
            and self._conversation.dialect is TURN,
            "find": self.focused is self._panes.transcript,
        }
        return True if usable.get(action, True) else None

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self._status_line.note("")
        await super().on_event(event)

    def action_send(self) -> None:
        message = self._input.text.strip()
        if message:
            self._panes.show_transcript()
            for number, line in enumerate(message.split("\n")):
                self._panes.write(Kind.USER, f"{'  ' if number else '> '}{line}")
            self._panes.transcript.follow()
            if self._start(message):
                self._input.remember(message)

    def action_cancel(self) -> None:
        if self._panes.is_searching:
            self._panes.close_search()
            self._input.focus()
            return
        self._cancelled(self._turn)
        self.workers.cancel_group(self, "turn")

    def action_stop(self) -> None:
        if self.state is AppState.STREAMING:
            self.action_cancel()
        elif self._saved:
            self.exit()
        else:
            self.push_screen(UnsavedScreen(), self._leave)

    def _leave(self, choice: str | None) -> None:
        if choice == "save":
            self.action_save()
        if choice == "quit" or (choice == "save" and self._saved):
            self.exit()

    def action_resume(self) -> None:
        if self._resume_from is not None:
            self._panes.write(Kind.EVENT, f"[resume] last_sse_id={self._resume_from}")
            target: str | SseId = self._resume_from
        else:
            self._panes.write(Kind.EVENT, "[again]")
            self._conversation.forget_last()
            target = self._message
        self._panes.show_transcript()
        self._start(target)

    def action_save(self) -> None:
        self._show_pending()
        try:
            path = save_transcript(self._panes.transcript.text, self._status.last_id)
        except OSError as error:
            self._tell(Kind.ERROR, f"[not_saved] {error.strerror}")
        else:
            self._tell(Kind.END, f"[saved] {path}")
            self._saved = True

    def action_copy(self) -> None:
        text = self.screen.get_selected_text() or visible(self._reader.answer)
        self.copy_to_clipboard(text)
        self._status_line.note(
            f"copied {len(text):,} characters" if text else "there is nothing to copy yet"
        )

    def action_markdown(self) -> None:
        self._panes.toggle_answer(self._reader.answer)

    def action_frames(self) -> None:
        self._panes.toggle_frames()

    def action_fold(self) -> None:
        self._panes.transcript.toggle_fold()

    def action_times(self) -> None:
        self._panes.transcript.toggle_times()

    def action_reconnect(self) -> None:
        self._reconnect = not self._reconnect
        self._tell(Kind.EVENT, f"[reconnect] {self._from_when(self._reconnect)}")

    def action_record(self) -> None:
        self._recording = not self._recording
        self._tell(Kind.EVENT, f"[record] {self._from_when(self._recording)}")

    def _from_when(self, on: bool) -> str:
        when = "" if self.state is AppState.IDLE else " from the next turn"
        return f"{'on' if on else 'off'}{when}"

    def action_search(self) -> None:
        self._panes.open_search()

    def action_find(self, backwards: bool) -> None:
        self._panes.find_again(backwards=backwards)

    def action_help(self) -> None:
        self.push_screen(HelpScreen())

    def action_scroll(self, how: str) -> None:
        self._panes.scroll(how)
