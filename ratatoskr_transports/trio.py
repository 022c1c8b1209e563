"""Streams over trio: ``pip install 'ratatoskr-sse[trio]'``.

from ratatoskr_transports.trio import stream_turn

async with stream_turn(url, json={"message": "Hello"}) as turn:
    async for event in turn:
        ...
"""

from __future__ import annotations

import contextlib
import math
import ssl
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Unpack

import trio
import trio.abc

from ratatoskr_proto import SseId
from ratatoskr_proto.dialects import TURN, Dialect

from ._adapters.calls import check_options
from ._adapters.connections import BareSource
from ._adapters.h11 import H11Transport
from ._streams.arguments import check_seconds
from ._streams.streams import EventOptions, EventStream, TurnOptions, TurnStream
from ._typing import DialectEvent, OwnEvent

__all__ = ["reconnect_turn", "stream_events", "stream_turn", "wrap", "wrap_events"]

_READ_BYTES = 65536


@contextlib.contextmanager
def _fail_after(seconds: float | None) -> Iterator[None]:
    """``trio.fail_after``, with None for ever and the TimeoutError of the standard library."""
    with trio.move_on_after(math.inf if seconds is None else seconds) as scope:
        yield
    if scope.cancelled_caught:
        raise TimeoutError


class _Connection:
    """A trio stream as a ``Connection`` of ``_adapters.connections``."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def receive(self, seconds: float | None) -> bytes:
        with _fail_after(seconds):
            return bytes(await self._stream.receive_some(_READ_BYTES))

    async def send(self, data: bytes, seconds: float | None) -> None:
        with _fail_after(seconds):
            await self._stream.send_all(data)

    async def aclose(self) -> None:
        await trio.aclose_forcefully(self._stream)

    async def run_while(
        self,
        background: Callable[[], Coroutine[Any, Any, None]],
        main: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(background)
            await main()
            nursery.cancel_scope.cancel()


async def _connect(
    host: str, port: int, tls: ssl.SSLContext | None, seconds: float | None
) -> _Connection:
    with _fail_after(seconds):
        stream = await trio.open_tcp_stream(host, port)
        if tls is None:
            return _Connection(stream)
        # Most HTTP peers end the connection without ``close_notify``, and waiting for one when we
        # end it could last for ever.
        try:
            encrypted = trio.SSLStream(stream, tls, server_hostname=host, https_compatible=True)
            await encrypted.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        return _Connection(encrypted)


_transport = H11Transport(_connect, trio)
stream_turn = _transport.stream_turn
reconnect_turn = _transport.reconnect_turn
stream_events = _transport.stream_events


def wrap(
    stream: trio.abc.Stream,
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
    stream: trio.abc.Stream,
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
    if not isinstance(stream, trio.abc.ReceiveStream):
        raise TypeError(f"{function}() takes a trio Stream, not {type(stream).__name__}")
    return BareSource(_Connection(stream), check_seconds("read_timeout", read_timeout))
