"""Responses of httpx as sources of streams, and sending the requests for them."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from ratatoskr_proto import SseConnectFailed

from .._http.body import Inflater
from .._http.head import ERROR_BODY_SECONDS, MAX_ERROR_BODY, read_headers, refusal
from .._http.reasons import failure_of
from .._http.request import Request
from .._streams.sources import Opened, Refused, Source, SyncSource

_DRAIN_BYTES = 64 * 1024
_DRAIN_SECONDS = 0.1
_CANNOT_BE_SENT = Refused(SseConnectFailed(None, "", "protocol"))


def opened_over(response: Any, source: Any) -> Opened[Any]:
    """What a response gives to a stream."""
    return Opened(source, response.status_code, read_headers(response.headers.raw))


class _ErrorBody:
    """The start of the body of a response that is no event stream."""

    def __init__(self, opened: Opened[Any]) -> None:
        self._inflater = Inflater(opened.headers.get("content-encoding", ""))
        self._start = b""
        self._end = time.monotonic() + ERROR_BODY_SECONDS

    def wants_more_after(self, data: bytes) -> bool:
        """Take bytes; say whether more of them are of use."""
        self._start += self._inflater.start_of(data, MAX_ERROR_BODY)
        in_time = time.monotonic() < self._end
        return bool(data) and in_time and len(self._start) < MAX_ERROR_BODY

    def text(self) -> str:
        return self._start[:MAX_ERROR_BODY].decode("utf-8", "replace")


class _Requests:
    """The client's request, and how to make the next one, which opens the stream again. Its
    ``repr()`` shows nothing of them.

    ``build(client, request)`` makes a request of the client, or raises ValueError.
    """

    def __init__(
        self, client: Any, build: Callable[[Any, Request], Any], request: Request, resuming: Request
    ) -> None:
        self._client = client
        self._build = build
        self._request = build(client, request)
        if resuming is not request:
            build(client, resuming)  # raises now for what could not be asked for later
        self._resuming = resuming

    def _go_behind(self, last_event_id: str) -> bool:
        """Make the next request; return whether there can be one. There cannot with an id that no
        header can carry, nor if the client has been given a cookie that cannot be sent.
        """
        try:
            self._request = self._build(self._client, self._resuming.behind(last_event_id))
        except ValueError:
            return False
        return True


class Opener(_Requests):
    """Sends a request and reads the head, when it is called."""

    async def again(self, last_event_id: str) -> Opened[Source] | Refused:
        return await self() if self._go_behind(last_event_id) else _CANNOT_BE_SENT

    async def __call__(self) -> Opened[Source] | Refused:
        connected: list[Any] = []

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                connected.append(info["return_value"])

        self._request.extensions["trace"] = trace
        try:
            response = await self._client.send(self._request, stream=True)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            return Refused(failure)
        except BaseException:
            # httpcore forgets a connection on which a TLS handshake is cancelled.
            with anyio.CancelScope(shield=True):
                for stream in connected:
                    await stream.aclose()
            raise
        source = ResponseSource(response)
        opened = opened_over(response, source)
        reason = refusal(opened.status, opened.headers, str(response.url))
        if reason is None:
            return opened
        body = _ErrorBody(opened)
        try:
            with anyio.move_on_after(ERROR_BODY_SECONDS), contextlib.suppress(Exception):
                while body.wants_more_after(await source.receive()):
                    pass
        finally:
            await source.aclose()
        failure = SseConnectFailed(opened.status, body.text(), reason)
        return Refused(failure, opened.headers.get("retry-after", ""))


class SyncOpener(_Requests):
    """As ``Opener``, for sync clients."""

    def again(self, last_event_id: str) -> Opened[SyncSource] | Refused:
        return self() if self._go_behind(last_event_id) else _CANNOT_BE_SENT

    def __call__(self) -> Opened[SyncSource] | Refused:
        try:
            response = self._client.send(self._request, stream=True)
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            return Refused(failure)
        source = SyncResponseSource(response)
        opened = opened_over(response, source)
        reason = refusal(opened.status, opened.headers, str(response.url))
        if reason is None:
            return opened
        body = _ErrorBody(opened)
        try:
            with contextlib.suppress(Exception):
                while body.wants_more_after(source.receive()):
                    pass
        finally:
            source.close()
        failure = SseConnectFailed(opened.status, body.text(), reason)
        return Refused(failure, opened.headers.get("retry-after", ""))


class ResponseSource:
    """The raw body of a response; its content coding is undone by us, and within bounds."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._chunks = response.aiter_raw()
        self._reading = False

    async def receive(self) -> bytes:
        """Return the next bytes of the body."""
        self._reading = True
        try:
            return bytes(await anext(self._chunks, b""))  # no chunk is empty
        finally:
            self._reading = False

    async def drain(self) -> None:
        """Read the end of the body, if it comes at once, so that the connection can be reused."""
        left = _DRAIN_BYTES
        with anyio.move_on_after(_DRAIN_SECONDS), contextlib.suppress(Exception):
            while left > 0 and (data := await self.receive()):
                left -= len(data)

    async def aclose(self) -> None:
        """Close the response at once."""
        if not self._reading:  # else another task is in it, and ends it when the response closes
            await self._chunks.aclose()
        await self._response.aclose()


class SyncResponseSource:
    """As ``ResponseSource``, for sync clients."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self._chunks = response.iter_raw()
        self._reading = False
        self._closed = False

    def receive(self) -> bytes:
        """Return the next bytes of the body."""
        self._reading = True
        try:
            return bytes(next(self._chunks, b""))  # no chunk is empty
        finally:
            self._reading = False
            if self._closed:
                self._response.close()

    def close(self) -> None:
        """Close the response at once."""
        self._closed = True
        stream = self._response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if self._reading and stream else None
        if connection is None:
            self._response.close()
        else:
            # Another thread is in it. This wakes that up, and it closes the response then.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
