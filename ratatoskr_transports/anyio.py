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
from ratatoskr_proto.dialects import TURN, Dialect

from ._adapters.calls import check_options
from ._adapters.connections import BareSource
from ._adapters.h11 import H11Transport
from ._streams.arguments import check_seconds
from ._streams.streams import EventOptions, EventStream, TurnOptions, TurnStream
from ._typing import DialectEvent, OwnEvent

__all__ = ["reconnect_turn", "stream_events", "stream_turn", "wrap", "wrap_events"]


class _Connection:
    """An anyio stream as a ``Connection`` of ``_adapters.connections``."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def receive(self, seconds: float | None) -> bytes:
        with anyio.fail_after(seconds):
            try:
                return bytes(await self._stream.receive())
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
        # Most HTTP peers end the connection without ``close_notify``, and waiting for one when we
        # end it could last for ever.
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
    dialect: Dialect[DialectEvent] = TURN,  # type: ignore[assignment]
    read_timeout: float | None = 60.0,
    **options: Unpack[TurnOptions[OwnEvent]],
) -> TurnStream[DialectEvent | OwnEvent]:
    """Read a turn from a stream that is open already and carries nothing but the body.

    ``read_timeout`` is that of ``stream_turn``; the ``options`` are those of ``TurnStream``. Raises
    TypeError or ValueError for invalid arguments.
    """
    check_options("wrap", options, TurnOptions)
    source = _bare_source("wrap", stream, read_timeout)
    return TurnStream(source, resume_from=resume_from, dialect=dialect, **options)


def wrap_events(
    stream: anyio.abc.ByteStream,
    *,
    last_event_id: str = "",
    read_timeout: float | None = 60.0,
    **options: Unpack[EventOptions],
) -> EventStream:
    """As ``wrap``, for any event stream; the ``options`` are those of ``EventStream``."""
    check_options("wrap_events", options, EventOptions)
    source = _bare_source("wrap_events", stream, read_timeout)
    return EventStream(source, last_event_id=last_event_id, **options)


def _bare_source(function: str, stream: Any, read_timeout: float | None) -> BareSource:
    if not isinstance(stream, anyio.abc.ByteReceiveStream):
        raise TypeError(f"{function}() takes an anyio ByteStream, not {type(stream).__name__}")
    return BareSource(_Connection(stream), check_seconds("read_timeout", read_timeout))
