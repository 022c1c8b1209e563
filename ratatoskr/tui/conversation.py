"""The turns with one server: how each is asked for, and what was said before."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ratatoskr_proto import Done, Event, RatatoskrError, ReconnectPolicy, SseConnectFailed, SseId
from ratatoskr_proto.dialects import TURN, Dialect

from .._connector import Connector
from .._requests import Said, request_body
from .._shown.json_lines import loads
from .._shown.visible import printable
from .turns import StreamedTurn

DEFAULT_HISTORY = 100_000  # characters
_MAX_NAME = 60
_MODEL_IN_PATH = re.compile("/models/([^/:]+)")


def server_name(url: str) -> str:
    """The host and the port of a URL, nothing secret."""
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return printable(host[:_MAX_NAME])


class Conversation:
    """Opens the turns of the server at ``url``, which may be set later.

    A server of turns remembers what was said. In another dialect, messages and answers that were
    complete go along with each request, the newest that are no longer than ``history`` characters
    in all; ``keys`` are added to the body of each.
    """

    def __init__(
        self,
        url: str | None,
        connector: Connector,
        *,
        dialect: Dialect[Any] = TURN,
        keys: Mapping[str, Any] | None = None,
        history: int = DEFAULT_HISTORY,
        options: Mapping[str, Any],
        on_wait: Callable[[RatatoskrError, float], object],
    ) -> None:
        """``options`` are those of the adapter's functions that are the same for every turn."""
        self.url = url
        self.dialect = dialect
        self._connector = connector
        self._keys = dict(keys or {})
        self._history = history
        self._options = {**options, "on_wait": on_wait}
        self._said: list[Said] = []
        self._message = ""  # the one that is being answered

    @property
    def names(self) -> list[str]:
        """The names of the server, of a dialect other than that of turns, and of the model."""
        names = [server_name(self.url or "")]
        if self.dialect is not TURN:
            names.append(self.dialect.name)
            in_path = _MODEL_IN_PATH.search(self.url or "")
            model = self._keys.get("model") or (in_path and in_path[1])
            names.append(printable(str(model or "")[:_MAX_NAME]))
        return [name for name in names if name]

    def open(self, target: str | SseId, reconnect: ReconnectPolicy | None) -> StreamedTurn:
        """Make the turn that answers a message (str), or that resumes after an id (SseId), not
        entered yet. Raises TypeError or ValueError if it cannot be asked for.
        """
        if self.url is None:
            raise ValueError("the demo server is not up")
        turn: StreamedTurn
        if isinstance(target, SseId):
            options = {**self._options, "loads": loads, "reconnect": reconnect}
            turn = self._connector.open("reconnect_turn", self.url, target, **options)
            return turn
        said = [*self._newest(self._history - len(target)), Said("user", target)]
        body = request_body(self.dialect.name, said, self._keys)
        options = {**self._options, "loads": loads}
        if self.dialect is TURN:
            options["reconnect"] = reconnect
        else:
            options["dialect"] = self.dialect
        turn = self._connector.open("stream_turn", self.url, json=body, **options)
        self._message = target
        return turn

    def ended(self, ending: Event | RatatoskrError | None, answer: str) -> None:
        """Remember the message that was answered, and the answer if it is complete.

        ``ending`` is what ended the turn, None if it was cancelled. A message that never got
        through is forgotten.
        """
        if self._message and not isinstance(ending, SseConnectFailed):
            self._said.append(Said("user", self._message))
            if isinstance(ending, Done) and answer:
                self._said.append(Said("assistant", answer))
        self._message = ""

    def forget_last(self) -> None:
        """Forget the last message, which is to be asked again, if it has no answer."""
        if self._said and self._said[-1].role == "user":
            self._said.pop()

    def _newest(self, characters: int) -> list[Said]:
        """The newest messages and answers that fit, starting with a message."""
        kept = 0
        start = len(self._said)
        for number in range(len(self._said) - 1, -1, -1):
            kept += len(self._said[number].text)
            if kept > characters:
                break
            if self._said[number].role == "user":
                start = number
        del self._said[:start]
        return self._said

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connector.aclose()
