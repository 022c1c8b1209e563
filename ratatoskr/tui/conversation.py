"""The turns with one server: how they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ratatoskr_proto import RatatoskrError, ReconnectPolicy, SseId

from .._connector import Connector
from .._shown.json_lines import loads
from .._shown.visible import printable
from .turns import StreamedTurn

_MAX_NAME = 60


def server_name(url: str) -> str:
    """The host and the port of a URL, nothing secret."""
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return printable(host[:_MAX_NAME])


class Conversation:
    """Opens the turns of the server at ``url``, which may be set later.

    ``options`` are those of the adapter's functions that are the same for every turn.
    """

    def __init__(
        self,
        url: str | None,
        connector: Connector,
        *,
        options: Mapping[str, Any],
        on_wait: Callable[[RatatoskrError, float], object],
    ) -> None:
        self.url = url
        self._connector = connector
        self._options = {**options, "on_wait": on_wait, "loads": loads}

    @property
    def server(self) -> str:
        """The name of the server."""
        return server_name(self.url or "")

    def open(self, target: str | SseId, reconnect: ReconnectPolicy | None) -> StreamedTurn:
        """Make the turn that answers a message (str), or that resumes after an id (SseId), not
        entered yet. Raises TypeError or ValueError if it cannot be asked for.
        """
        if self.url is None:
            raise ValueError("the demo server is not up")
        options = {**self._options, "reconnect": reconnect}
        turn: StreamedTurn
        if isinstance(target, SseId):
            turn = self._connector.open("reconnect_turn", self.url, target, **options)
        else:
            body = {"message": target}
            turn = self._connector.open("stream_turn", self.url, json=body, **options)
        return turn

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connector.aclose()
