"""Whether the head of a response begins an event stream, and what is kept of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .body import can_undo
from .request import redirect_target

MAX_ERROR_BODY = 4096  # bytes read of the body of a response that is no event stream
ERROR_BODY_SECONDS = 5.0  # in which they must have come


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return headers as a read-only mapping, names in lower case, values of one name joined."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name = raw_name.decode("ascii", "replace").lower()
        value = raw_value.decode("utf-8", "replace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return MappingProxyType(headers)


def refusal(status: int, headers: Mapping[str, str], url: str) -> str | None:
    """Return the reason for which a response is no event stream, None if it is one.

    ``url`` is that of the request. The standard, section 9.2 "Processing model": the status is 200
    and the media type text/event-stream, whatever its parameters.
    """
    if 300 <= status < 400 and "location" in headers:
        return f"redirect to {redirect_target(url, headers['location'])}"
    if status != 200:
        return "status"
    media_type = headers.get("content-type", "").partition(";")[0].strip(" \t").lower()
    if media_type != "text/event-stream":
        return "content-type"
    if not can_undo(headers.get("content-encoding", "")):
        return "content-encoding"
    return None
