"""URLs, headers and bodies of requests, checked before any library sees them.

URLs and headers may hold credentials, so no message repeats a value: it names the header, or the
part of the URL. A traceback shows the arguments of its functions, so public functions that take
such values are decorated with ``quiet_refusals``.
"""

from __future__ import annotations

import base64
import functools
import ipaddress
import json as json_module
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeAlias, TypeVar
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit, urlunsplit

Headers: TypeAlias = Mapping[Any, Any] | Iterable[tuple[str | bytes, str | bytes]]

# These frame the message. We write them, so that no header can contradict it.
RESERVED_HEADERS = frozenset(
    [b"host", b"content-length", b"transfer-encoding", b"connection", b"upgrade", b"te", b"expect"]
)
DEFAULT_HEADERS = (
    (b"accept", b"text/event-stream"),
    (b"accept-encoding", b"identity"),
    (b"cache-control", b"no-cache"),
)

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_AUTHORITY = re.compile(r"(\[[^\[\]]+\]|[^:\[\]]*)(?::([0-9]*))?")
_ASCII_HOST = re.compile(r"[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
_URL_SAFE = "%/:=&?~+!$,;'@()*[]|"
_MAX_REDIRECT_TEXT = 200
_NO_HOST = "the host of the URL is neither a host name nor an IP address"

P = ParamSpec("P")
T = TypeVar("T")


def quiet_refusals(function: Callable[P, T]) -> Callable[P, T]:
    """Let TypeError and ValueError through without the frames that hold the arguments."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError) as error:
            refusal = (
                type(error)(str(error)) if type(error) is TypeError else ValueError(str(error))
            )
        del args, kwargs
        raise refusal

    return wrapper


class Url:
    """The parts of a URL: the host, the port, the target of the request and the credentials."""

    __slots__ = ("authorization", "host", "host_header", "port", "shown", "target", "tls")

    def __init__(self, url: str) -> None:
        """Raises TypeError or ValueError with a sentence that repeats nothing of the URL."""
        _check_characters(url)
        try:
            parts = urlsplit(url)
        except ValueError:
            raise ValueError("the URL cannot be parsed; it is http://host/path") from None
        if parts.scheme not in ("http", "https"):
            raise ValueError("the URL must start with http:// or https://")
        # By hand, since urlsplit() reads unusual hosts differently from version to version.
        userinfo, at, authority = parts.netloc.rpartition("@")
        match = _AUTHORITY.fullmatch(authority)
        if match is None:
            raise ValueError("the host or the port of the URL cannot be parsed")
        name, digits = match.groups()
        if not name:
            raise ValueError("the URL has no host; it is http://host/path")
        self.tls = parts.scheme == "https"
        self.host = _host(name)
        default_port = 443 if self.tls else 80
        self.port = default_port
        if digits:
            self.port = int(digits) if len(digits) <= len("65535") else 0
        if not 0 < self.port < 65536:
            raise ValueError("the port of the URL must be a number from 1 to 65535")
        literal = f"[{self.host}]" if ":" in self.host else self.host
        self.host_header = literal if self.port == default_port else f"{literal}:{self.port}"
        self.authorization: bytes | None = None
        try:
            if at:
                self.authorization = basic_authorization(userinfo)
            path = quote(parts.path, safe=_URL_SAFE) or "/"
            query = f"?{quote(parts.query, safe=_URL_SAFE)}" if parts.query else ""
        except UnicodeEncodeError:
            raise ValueError("the URL must not contain a lone surrogate") from None
        self.target = (path + query).encode("ascii")
        self.shown = f"{parts.scheme}://{self.host_header}{path}"


def basic_authorization(userinfo: str) -> bytes:
    """The value of the ``Authorization`` header that the user and password of a URL stand for."""
    user, _, password = userinfo.partition(":")
    pair = unquote_to_bytes(user) + b":" + unquote_to_bytes(password)
    return b"Basic " + base64.b64encode(pair)


def check_url(url: str) -> None:
    """Raise TypeError or ValueError for an invalid URL. It may be relative to the base URL of a
    client.
    """
    _check_characters(url)
    if url.partition(":")[0].lower() in ("http", "https"):
        Url(url)


def _check_characters(url: str) -> None:
    """Refuse the characters that parsers are known to read in different ways."""
    if not isinstance(url, str):
        raise TypeError(f"the URL must be a str, not {type(url).__name__}")
    if any(character in " \\" or unicodedata.category(character) == "Cc" for character in url):
        raise ValueError("the URL must not contain a control character, a space or a backslash")


def _host(name: str) -> str:
    if name.startswith("["):
        try:
            if "%" in name:  # a zone is only known on the user's own machine
                raise ValueError
            return ipaddress.IPv6Address(name[1:-1]).compressed
        except ValueError:
            raise ValueError(_NO_HOST) from None
    if not name.isascii():
        import idna

        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except UnicodeError:
            raise ValueError(_NO_HOST) from None
    if not _ASCII_HOST.fullmatch(name) or len(name.removesuffix(".")) > 253:
        raise ValueError(_NO_HOST)
    return name.lower()


def check_headers(headers: Headers | None, *, reserved: bool = True) -> list[tuple[bytes, bytes]]:
    """Return headers as bytes, names in lower case and values in UTF-8.

    With ``reserved``, headers that frame the message are refused too. Raises TypeError or
    ValueError with a message that names the header and never repeats a value.
    """
    if headers is None:
        return []
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    try:
        every: list[Any] = [(name, value) for name, value in pairs]
    except (TypeError, ValueError):
        raise TypeError("headers must be a mapping, or pairs of a name and a value") from None
    return [_check_header(name, value, reserved) for name, value in every]


def _check_header(name: str | bytes, value: str | bytes, reserved: bool) -> tuple[bytes, bytes]:
    if not isinstance(name, (str, bytes)):
        raise TypeError(f"the name of a header must be a str or bytes, not {type(name).__name__}")
    raw_name = name.encode("utf-8", "replace") if isinstance(name, str) else name
    if not _TOKEN.fullmatch(raw_name):
        raise ValueError("the name of a header must be one word, such as X-Request-Id")
    raw_name = raw_name.lower()
    shown = raw_name.decode("ascii")
    if reserved and raw_name in RESERVED_HEADERS:
        raise ValueError(f"the header {shown} cannot be given: it frames the message")
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"the value of {shown} must be a str or bytes, not {type(value).__name__}")
    try:
        raw_value = value.encode() if isinstance(value, str) else bytes(value)
    except UnicodeEncodeError:
        raise ValueError(f"the value of {shown} must not contain a lone surrogate") from None
    if _CONTROL.search(raw_value):
        raise ValueError(f"the value of {shown} must not contain CR, LF, NUL or other controls")
    return raw_name, raw_value.strip(b" \t")


def check_method(method: str) -> bytes:
    """Return a method as bytes. Raises TypeError or ValueError."""
    if not isinstance(method, str):
        raise TypeError(f"the method must be a str, not {type(method).__name__}")
    raw = method.encode("utf-8", "replace")
    if not _TOKEN.fullmatch(raw) or raw.upper() in (b"CONNECT", b"HEAD"):
        raise ValueError("the method must be one word, such as POST, whose answer has a body")
    return raw


def with_defaults(
    headers: list[tuple[bytes, bytes]], defaults: Iterable[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """Return the headers, and each default whose name is not among them."""
    given = {name for name, _ in headers}
    return [*((name, value) for name, value in defaults if name not in given), *headers]


def encode_body(json: Any, content: str | bytes | None) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Return the body of a request and the headers that it brings.

    ``json`` is any JSON value but None; ``content`` is the body itself, a str in UTF-8. Raises
    TypeError if both are given, and TypeError or ValueError for a value that cannot be written.
    """
    if json is not None and content is not None:
        raise TypeError("give json or content, not both")
    if json is not None:
        try:
            text = json_module.dumps(json, ensure_ascii=False, allow_nan=False)
            return text.encode(), [(b"content-type", b"application/json")]
        except RecursionError:
            raise ValueError("json is nested too deep, or contains itself") from None
        except UnicodeEncodeError:
            raise ValueError("json must not contain a lone surrogate") from None
    if content is None:
        return b"", []
    if isinstance(content, str):
        try:
            return content.encode(), []
        except UnicodeEncodeError:
            raise ValueError("content must not contain a lone surrogate") from None
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"content must be a str or bytes, not {type(content).__name__}")
    return bytes(content), []


def redirect_target(url: str, location: str) -> str:
    """The target of a redirect, fit to be shown: resolved against ``url``, without userinfo, query
    and fragment, and with unusual characters in percent-encoding.
    """
    try:
        parts = urlsplit(urljoin(url, location))
        bare = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "somewhere that cannot be read"
    return quote(bare, safe=_URL_SAFE, errors="replace")[:_MAX_REDIRECT_TEXT]
