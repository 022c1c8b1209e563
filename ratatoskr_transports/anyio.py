"""Streams over anyio, on asyncio and on trio: ``pip install 'ratatoskr-sse[anyio]'``.

from ratatoskr_transports.anyio import stream_turn

async with stream_turn(url, json={"message": "Hello"}) as turn:
    async for event in turn:
        ...
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Coroutine
from typing import Any, Unpack

import anyio
import anyio.abc

from ratatoskr_proto import SseId

from ._adapters.h11 import BodySource, H11Transport
from ._streams.loops import check_seconds
from ._streams.streams import TurnOptions, TurnStream

__all__ = ["reconnect_turn", "stream_events", "stream_turn", "wrap"]


class _Connection:
    """An anyio stream, as ``_opening.Connection`` has it."""

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self._stream = stream

    async def receive(self, seconds: float | None) -> bytes:
        with anyio.fail_after(seconds):
            try:
                return await self._stream.receive()
            except anyio.EndOfStream:
                return b""

    async def send(self, data: bytes, seconds: float | None) -> None:
        with anyio.fail_after(seconds):
            await self._stream.send(data)

    async def aclose(self) -> None:
        await anyio.aclose_forcefully(self._stream)

    async def run_while(
        self,
        background: Callable[[], Coroutine[Any, Any, None]],
        main: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(background)
            await main()
            tasks.cancel_scope.cancel()


async def _connect(
    host: str, port: int, tls: ssl.SSLContext | None, seconds: float | None
) -> _Connection:
    with anyio.fail_after(seconds):
        if tls is None:
            return _Connection(await anyio.connect_tcp(host, port))
        # A peer that ends the connection without a goodbye is the rule in HTTP, and waiting for
        # one when we end it could last for ever.
        return _Connection(
            await anyio.connect_tcp(host, port, ssl_context=tls, tls_standard_compatible=False)
        )


_transport = H11Transport(_connect, anyio)
stream_turn = _transport.stream_turn
reconnect_turn = _transport.reconnect_turn
stream_events = _transport.stream_events


def wrap(
    stream: anyio.abc.ByteStream,
    *,
    resume_from: SseId | None = None,
    read_timeout: float | None = 60.0,
    **options: Unpack[TurnOptions],
) -> TurnStream:
    """Read a turn from a stream that is open already and carries nothing but the body.

    ``read_timeout`` is that of ``stream_turn``; the ``options`` are those of ``TurnStream``. Raises
    TypeError or ValueError for arguments that are not such.
    """
    if not isinstance(stream, anyio.abc.ByteReceiveStream):
        raise TypeError(f"wrap() takes an anyio ByteStream, not {type(stream).__name__}")
    source = BodySource(_Connection(stream), check_seconds("read_timeout", read_timeout))
    return TurnStream(source, resume_from=resume_from, **options)
