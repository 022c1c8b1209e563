"""Whether the head of a response starts an event stream, and what is kept of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .body import can_undo
from .request import redirect_target

MAX_ERROR_BODY = 4096  # bytes that are read of the body of a refusal
ERROR_BODY_SECONDS = 5.0  # how long they are waited for

# A comma in a quoted string does not end a value. A quote without its end lasts to the end.
_VALUES = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?\Z))+', re.DOTALL)
_MIME_TYPE = re.compile(
    r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t\r\n]*(?:;|\Z)"
)


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return headers as a read-only mapping, names in lower case, values of one name joined."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name = raw_name.decode("ascii", "replace").lower()
        value = raw_value.decode("utf-8", "replace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return MappingProxyType(headers)


def refusal(
    status: int, headers: Mapping[str, str], url: str, *, any_media_type: bool = False
) -> str | None:
    """Return the reason why a response is not an event stream, None if it is one.

    ``url`` is that of the request. The standard, section 9.2 "Processing model": the status is 200
    and the media type text/event-stream, whatever its parameters. ``any_media_type`` takes a 200 of
    any type.
    """
    if 300 <= status < 400 and "location" in headers:
        return f"redirect to {redirect_target(url, headers['location'])}"
    if status != 200:
        return "status"
    if not any_media_type and media_type(headers.get("content-type", "")) != "text/event-stream":
        return "content-type"
    if not can_undo(headers.get("content-encoding", "")):
        return "content-encoding"
    return None


def media_type(content_type: str) -> str:
    """Return the media type that the values of ``Content-Type`` stand for, in lower case and
    without its parameters; ``""`` if there is none.

    Fetch, "extract a MIME type": all headers count as one list, and of that the last valid value
    does. A server that adds the header twice, or a list of types, is common.
    """
    found = ""
    for value in _VALUES.findall(content_type):
        match = _MIME_TYPE.match(value.strip(" \t\r\n"))
        if match is not None and match[1] != "*/*":
            found = match[1].lower()
    return found
