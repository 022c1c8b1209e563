"""Opening turns over httpx, as the terminal app does it."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from ratatoskr_proto import ReconnectPolicy, SseId
from ratatoskr_transports.httpx import reconnect_turn, stream_turn

from .._shown.json_lines import loads
from .widgets import Turn

_TIMEOUT = httpx.Timeout(connect=10, read=60, write=60, pool=10)


class TurnOpener:
    """Opens turns with one client, which is made for the first of them."""

    def __init__(self, headers: Sequence[tuple[str, str]], trust_env: bool) -> None:
        """``headers`` are sent with each request; ``trust_env`` is that of the client."""
        self._headers = list(headers)
        self._trust_env = trust_env
        self._client: httpx.AsyncClient | None = None

    def open(self, url: str, target: str | SseId, reconnect: ReconnectPolicy | None) -> Turn:
        """Make the turn that answers a message, or that goes on behind an id, not entered yet.

        Raises TypeError or ValueError if it cannot be asked for.
        """
        if self._client is None:
            try:
                self._client = httpx.AsyncClient(timeout=_TIMEOUT, trust_env=self._trust_env)
            except (ValueError, ImportError, httpx.InvalidURL):
                raise ValueError("the environment names a proxy that cannot be used") from None
        if isinstance(target, SseId):
            return reconnect_turn(
                self._client, url, target, headers=self._headers, loads=loads, reconnect=reconnect
            )
        return stream_turn(
            self._client,
            url,
            json={"message": target},
            headers=self._headers,
            loads=loads,
            reconnect=reconnect,
        )

    async def aclose(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.aclose()
