"""Clients of httpx and httpx2: their requests, and their responses as sources of streams."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

import anyio

from ratatoskr_proto import SseConnectFailed

from .._http.body import Inflater
from .._http.head import ERROR_BODY_SECONDS, MAX_ERROR_BODY, read_headers, refusal
from .._http.reasons import failure_of
from .._http.request import (
    DEFAULT_HEADERS,
    basic_authorization,
    check_headers,
    check_method,
    check_url,
    quiet_refusals,
    with_defaults,
)
from .._streams.cursor import logger, raise_error
from .._streams.labels import error_label
from .._streams.sources import AsyncBody, HttpBody, Refused, SyncBody
from .calls import Call, Request
from .cancellation import to_the_end
from .httpx_types import is_a

_DRAIN_BYTES = 64 * 1024
_DRAIN_SECONDS = 0.1
_CANNOT_BE_SENT = Refused(SseConnectFailed(None, "", "protocol"))

B = TypeVar("B", bound=HttpBody)


def _content_of(response: Any) -> bytes | None:
    """The content of a response that was read already, None if it was not."""
    try:
        content: bytes = response.content
    except RuntimeError:  # ResponseNotRead
        return None
    return content


def async_body_of(response: Any) -> _ReadBody | _ResponseBody:
    """The body of a response of an async client."""
    content = _content_of(response)
    return _ResponseBody(response) if content is None else _ReadBody(response, content)


def sync_body_of(response: Any) -> _SyncReadBody | _SyncResponseBody:
    """The body of a response of a sync client."""
    content = _content_of(response)
    return _SyncResponseBody(response) if content is None else _SyncReadBody(response, content)


def check_response(response: Any, function: str) -> None:
    """Raise TypeError or ValueError for a response that a function for wrapping cannot read."""
    if not is_a(response, "Response"):
        raise TypeError(f"{function}() takes a Response of httpx, not {type(response).__name__}")
    if _content_of(response) is not None:
        return
    if response.is_closed or response.is_stream_consumed:
        raise ValueError("the response was closed before it was read; send it with stream=True")
    sync = function.endswith("_sync")
    if not hasattr(response.stream, "__iter__" if sync else "__aiter__"):
        kind = "an async" if sync else "a sync"
        other = function.removesuffix("_sync") if sync else f"{function}_sync"
        raise TypeError(f"{function}() cannot read the response of {kind} client; use {other}()")


def check_head(body: _OfResponse, any_media_type: bool) -> None:
    """Raise SseConnectFailed, and log it, for a body that is not an event stream."""
    reason = body.refusal(any_media_type)
    if reason is not None:
        error = SseConnectFailed(body.status, "", reason)
        logger.warning(error_label(error))
        raise_error(error)


@quiet_refusals
def _build(client: Any, request: Request) -> Any:
    """Build the client's request. Raises TypeError or ValueError for invalid arguments."""
    check_method(request.method)
    check_url(request.url)
    check_headers(client.headers.raw, reserved=False)
    try:
        built = client.build_request(
            request.method,
            request.url,
            headers=with_defaults(request.headers, DEFAULT_HEADERS),
            content=request.body or None,
        )
        usable = built.url.scheme in ("http", "https") and built.url.host
    except Exception as error:
        raise ValueError(f"the client cannot make this request ({type(error).__name__})") from None
    if not usable:
        raise ValueError("the URL must start with http:// or https://, or the client's base_url")
    if built.url.userinfo:
        # The library would show it in its own log lines.
        authorization = basic_authorization(built.url.userinfo.decode("ascii"))
        if b"authorization" not in [name for name, _ in request.headers]:
            built.headers["Authorization"] = authorization.decode("ascii")
        built.url = built.url.copy_with(userinfo=b"")
    check_headers(built.headers.raw, reserved=False)
    return built


class _HttpxOpener:
    """Sends the requests of a call. Its ``repr()`` shows nothing of them.

    The library's own request shows its URL, so it is kept out of local variables, which tracebacks
    may show.
    """

    def __init__(self, client: Any, call: Call) -> None:
        """Raises TypeError or ValueError for a request that the client cannot make."""
        self._client = client
        self._call = call
        self._request: Any = None
        for request in call.requests():
            _build(client, request)

    def _prepare(self, last_event_id: str | None) -> bool:
        """Build the next request; return whether there can be one. There cannot be one with an id
        that no header can carry, or if the client has been given a cookie that cannot be sent.
        """
        request = self._call.next_request(last_event_id)
        if request is None:
            return False
        try:
            self._request = _build(self._client, request)
        except ValueError:
            if last_event_id is None:
                raise
            return False
        return True

    def _not_sent(self, error: Exception) -> Refused:
        """Return the failure that an exception of sending means; raise it if it is not one of a
        connection.
        """
        failure = failure_of(error)
        if failure is None:
            raise error
        return Refused(failure)


class Opener(_HttpxOpener):
    """For async clients."""

    async def open(self, last_event_id: str | None) -> AsyncBody | Refused:
        """Send a request and read the head of the response."""
        if not self._prepare(last_event_id):
            return _CANNOT_BE_SENT
        sent: Any = None
        with anyio.move_on_after(self._call.event_timeout):
            sent = await self._send()
        if sent is None:
            return Refused(SseConnectFailed(None, "", "read timeout"))
        if isinstance(sent, Refused):
            return sent
        body = async_body_of(sent)
        reason = body.refusal(self._call.any_media_type)
        if reason is None:
            return body
        error_body = _ErrorBody(body)
        try:
            with anyio.move_on_after(ERROR_BODY_SECONDS), contextlib.suppress(Exception):
                while error_body.wants_more_after(await body.receive()):
                    pass
        finally:
            await body.aclose()
        return error_body.refused(reason)

    async def _send(self) -> Any:
        """Return the response, or why there is none."""
        connected: list[Any] = []

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            if event == "connection.connect_tcp.complete":
                connected.append(info["return_value"])

        self._request.extensions["trace"] = trace
        try:
            return await to_the_end(self._client.send(self._request, stream=True))
        except Exception as error:
            return self._not_sent(error)
        except BaseException:
            # httpcore forgets a connection on which a TLS handshake is cancelled.
            with anyio.CancelScope(shield=True):
                for stream in connected:
                    await stream.aclose()
            raise


class SyncOpener(_HttpxOpener):
    """For sync clients."""

    def open(self, last_event_id: str | None) -> SyncBody | Refused:
        """Send a request and read the head of the response."""
        if not self._prepare(last_event_id):
            return _CANNOT_BE_SENT
        try:
            response = self._client.send(self._request, stream=True)
        except Exception as error:
            return self._not_sent(error)
        body = sync_body_of(response)
        reason = body.refusal(self._call.any_media_type)
        if reason is None:
            return body
        # This is where httpcore looks up how long a read may take.
        timeouts = response.request.extensions.get("timeout", {})
        timeouts["read"] = min(timeouts.get("read") or ERROR_BODY_SECONDS, ERROR_BODY_SECONDS)
        error_body = _ErrorBody(body)
        try:
            with contextlib.suppress(Exception):
                while error_body.wants_more_after(body.receive()):
                    pass
        finally:
            body.close()
        return error_body.refused(reason)


class _ErrorBody:
    """The start of the body of a response that is not an event stream."""

    def __init__(self, body: HttpBody) -> None:
        self._status = body.status
        self._headers = body.headers
        self._inflater = Inflater(body.content_encoding)
        self._start = b""
        self._end = time.monotonic() + ERROR_BODY_SECONDS

    def wants_more_after(self, data: bytes) -> bool:
        """Take bytes; return whether more are needed."""
        self._start += self._inflater.start_of(data, MAX_ERROR_BODY)
        in_time = time.monotonic() < self._end
        return bool(data) and in_time and len(self._start) < MAX_ERROR_BODY

    def refused(self, reason: str) -> Refused:
        """The refusal, with as much of the body as has been read."""
        text = self._start[:MAX_ERROR_BODY].decode("utf-8", "replace")
        error = SseConnectFailed(self._status, text, reason)
        return Refused(error, self._headers)


class _OfResponse(HttpBody):
    """The body of a response."""

    def __init__(self, response: Any, content: bytes | None = None) -> None:
        self._response = response
        self._content = content
        self.status = response.status_code
        self.headers = read_headers(response.headers.raw)
        if content is None:
            self.content_encoding = self.headers.get("content-encoding", "")

    def refusal(self, any_media_type: bool) -> str | None:
        """The reason why it is not an event stream, None if it is one."""
        headers = dict(self.headers)
        if self._content is not None:  # httpx has undone whatever coding there was
            headers.pop("content-encoding", None)
        try:
            url = str(self._response.url)
        except RuntimeError:  # a response made by hand has no request
            url = ""
        return refusal(self.status, headers, url, any_media_type=any_media_type)


class _ReadBody(_OfResponse, AsyncBody):
    """The content of a response that was read already, for async code."""

    async def receive(self) -> bytes:
        content, self._content = self._content or b"", b""
        return content

    async def aclose(self) -> None:
        """Do nothing, since the response is closed."""


class _SyncReadBody(_OfResponse, SyncBody):
    """The content of a response that was read already, for sync code."""

    def receive(self) -> bytes:
        content, self._content = self._content or b"", b""
        return content

    def close(self) -> None:
        """Do nothing, since the response is closed."""


class _ResponseBody(_OfResponse, AsyncBody):
    """The raw body of a response of an async client; its coding is undone by us, within bounds."""

    def __init__(self, response: Any) -> None:
        super().__init__(response)
        self._chunks = response.aiter_raw()

    def receive(self) -> Awaitable[bytes]:
        return to_the_end(anext(self._chunks, b""))  # no chunk is empty

    async def receive_within(self, seconds: float) -> bytes:
        # One read may take for ever: the library reads on while no part of the body comes.
        with anyio.fail_after(seconds):
            return await self.receive()

    async def drain(self) -> None:
        left = _DRAIN_BYTES
        with anyio.move_on_after(_DRAIN_SECONDS), contextlib.suppress(Exception):
            while left > 0 and (data := await self.receive()):
                left -= len(data)

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await to_the_end(self._close(), shielded=True)

    async def _close(self) -> None:
        if not self._chunks.ag_running:  # else another task reads, and ends with the response
            await self._chunks.aclose()
        await self._response.aclose()


class _SyncResponseBody(_OfResponse, SyncBody):
    """The raw body of a response of a sync client; its coding is undone by us, within bounds."""

    def __init__(self, response: Any) -> None:
        super().__init__(response)
        self._chunks = response.iter_raw()
        self._reading = False
        self._closed = False

    def receive(self) -> bytes:
        self._reading = True
        try:
            return bytes(next(self._chunks, b""))  # no chunk is empty
        finally:
            self._reading = False
            if self._closed:
                self._response.close()

    def close(self) -> None:
        self._closed = True
        stream = self._response.extensions.get("network_stream")
        connection = stream.get_extra_info("socket") if self._reading and stream else None
        if connection is None:
            self._response.close()
        else:
            # Another thread reads. This wakes it up, and it closes the response then.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
