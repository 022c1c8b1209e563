"""The arguments of an adapter's functions, the same for all adapters.

The functions of all adapters check their arguments here, in one order: the request, the id to
resume after, how to reconnect, the options of the stream. The library's own checks of the request
come last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ratatoskr_proto import ReconnectPolicy, SseId
from ratatoskr_proto.dialects import TURN, Dialect

from .._http.request import (
    Headers,
    check_headers,
    check_method,
    encode_body,
    quiet_refusals,
    with_defaults,
)
from .._streams.arguments import check_plain_function
from .._streams.opening import OnWait, Reconnecting

# Headers, or a plain function that returns them for each connection.
GivenHeaders: TypeAlias = Headers | Callable[[], Headers]

_check_headers_quietly = quiet_refusals(check_headers)

_MAX_LAST_EVENT_ID = 8 * 1024  # bytes; servers refuse longer headers, and an id may be megabytes


class Request:
    """One request. Its ``repr()`` shows nothing."""

    __slots__ = ("body", "headers", "method", "url")

    def __init__(
        self, method: str, url: str, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> None:
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body


class Call:
    """A call of a function of an adapter, with its arguments checked. Its ``repr()`` shows nothing.

    ``reconnecting`` is how its stream reconnects, ``event_timeout`` (seconds or None) an option of
    that stream. With ``any_media_type`` a 200 of any type is a stream.
    """

    def __init__(
        self,
        function: str,
        url: str,
        *,
        method: str,
        headers: GivenHeaders | None,
        reconnect: ReconnectPolicy | None,
        on_wait: OnWait | None,
        any_media_type: bool,
        options: Mapping[str, Any],
        known_options: type,
        json: Any = None,
        content: str | bytes | None = None,
        last_event_id: str = "",
        resume_url: str | None = None,
        starts_turn: bool = False,
        dialect: Dialect[Any] = TURN,
    ) -> None:
        """Raises TypeError or ValueError for invalid arguments.

        ``options`` are those of the stream, of which ``known_options`` (a TypedDict) has the names.
        With ``starts_turn`` the request is sent only once, but its turn can be resumed.
        """
        self._method = method
        self._url = url
        self._body, self._body_headers = encode_body(json, content)
        self._headers = headers
        self._fixed: list[tuple[bytes, bytes]] | None = None
        if callable(headers) and not isinstance(headers, Mapping):
            check_plain_function("headers", headers)
        else:
            self._fixed = check_headers(headers)
        self._last_event_id = last_event_id
        _last_event_id_header(last_event_id)
        is_get = check_method(method).upper() == b"GET"
        _check_reconnect(reconnect, on_wait, resume_url, is_get or starts_turn)
        self._resume_url: str | None = None  # where to resume with another request, a GET
        if reconnect is not None and (starts_turn or resume_url is not None):
            self._resume_url = url if resume_url is None else resume_url
        self.reconnecting = Reconnecting(reconnect, on_wait, needs_id=not is_get)
        if not isinstance(any_media_type, bool):
            raise TypeError(f"any_media_type must be True or False, not {any_media_type!r}")
        self.any_media_type = any_media_type
        if reconnect is not None and isinstance(dialect, Dialect) and not dialect.numbered:
            raise ValueError("reconnect needs ids to resume after, which only the dialect TURN has")
        if reconnect is not None and options.get("flush_unfinished"):
            raise ValueError(
                "flush_unfinished cannot be used with reconnect, which would resume after half an "
                "event"
            )
        self.event_timeout: float | None = options.get("event_timeout")
        check_options(function, options, known_options)

    def requests(self) -> list[Request]:
        """One request of each kind that may be sent, to be checked before any is sent.

        Headers that a function will return are left out, since they are not known yet.
        """
        fixed = self._fixed or []
        requests = [self._request(fixed, None)]
        if self._resume_url is not None:
            requests.append(self._request(fixed, ""))
        return requests

    def next_request(self, last_event_id: str | None) -> Request | None:
        """Return the request of the next connection: the first one for None, else one that resumes
        after this event. Return None if no request can carry the id.

        Raises any exception of the function for the headers, and of the check of its result.
        """
        try:
            _last_event_id_header(last_event_id or "")
        except ValueError:  # it is an id of the server
            return None
        return self._request(self._headers_now(), last_event_id)

    def _headers_now(self) -> list[tuple[bytes, bytes]]:
        if self._fixed is not None:
            return self._fixed
        assert callable(self._headers)
        return _check_headers_quietly(self._headers())

    def _request(self, headers: list[tuple[bytes, bytes]], last_event_id: str | None) -> Request:
        after = self._last_event_id if last_event_id is None else last_event_id
        if header := _last_event_id_header(after):
            headers = [pair for pair in headers if pair[0] != b"last-event-id"] + header
        if last_event_id is None or self._resume_url is None:
            every = with_defaults(headers, self._body_headers)
            return Request(self._method, self._url, every, self._body)
        kept = [pair for pair in headers if not pair[0].startswith(b"content-")]
        return Request("GET", self._resume_url, kept, b"")


def check_options(function: str, options: Mapping[str, Any], known_options: type) -> None:
    """Raise TypeError, as Python would, for an option that a function does not have."""
    for name in options.keys() - known_options.__annotations__.keys():
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def resume_point(last_sse_id: SseId | str) -> SseId:
    """Return the id to resume after. Raises TypeError or ValueError if it is not an id."""
    if isinstance(last_sse_id, (SseId, str)):
        return SseId.parse(str(last_sse_id))
    raise TypeError(
        f"last_sse_id must be an SseId or its text, such as '93:1077', "
        f"not {type(last_sse_id).__name__}"
    )


def _last_event_id_header(last_event_id: str) -> list[tuple[bytes, bytes]]:
    """The header with which a server resumes after an event; no header for the empty id.

    Raises TypeError or ValueError for an id that no header can carry.
    """
    if last_event_id == "":
        return []
    header = check_headers([("last-event-id", last_event_id)])
    if len(header[0][1]) > _MAX_LAST_EVENT_ID:
        raise ValueError("last_event_id must not be longer than 8 KiB in UTF-8")
    return header


def _check_reconnect(
    reconnect: ReconnectPolicy | None,
    on_wait: OnWait | None,
    resume_url: str | None,
    can_resume: bool,
) -> None:
    if reconnect is not None and not isinstance(reconnect, ReconnectPolicy):
        raise TypeError(
            f"reconnect must be a ReconnectPolicy or None, not {type(reconnect).__name__}"
        )
    if on_wait is not None:
        check_plain_function("on_wait", on_wait)
    if reconnect is None and resume_url is not None:
        raise ValueError("resume_url is used with reconnect only; give a ReconnectPolicy too")
    if reconnect is not None and not can_resume and resume_url is None:
        raise ValueError(
            "with reconnect the request is sent again, so its method must be GET; leave reconnect "
            "out, or use stream_turn or the resume_url of stream_events, which resume with a GET"
        )
