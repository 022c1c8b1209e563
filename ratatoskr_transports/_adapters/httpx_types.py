"""The types that the functions for httpx and httpx2 take: clients, URLs and responses.

Neither library is imported for them. To a type checker, a union with one that is not installed
would be ``Any``, so the types here name the attributes that are used of either.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import Any, Protocol


class Response(Protocol):
    """A ``Response`` of httpx or httpx2."""

    @property
    def status_code(self) -> int: ...
    @property
    def is_stream_consumed(self) -> bool: ...
    @property
    def extensions(self) -> Any: ...


class Url(Protocol):
    """A ``URL`` of httpx or httpx2."""

    @property
    def userinfo(self) -> bytes: ...


class AsyncClient(Protocol):
    """An ``AsyncClient`` of httpx or httpx2."""

    @property
    def headers(self) -> Any: ...
    def build_request(
        self, method: str, url: str, *, content: bytes | None = ..., headers: Any = ...
    ) -> Any: ...
    def send(self, request: Any, *, stream: bool = ...) -> Coroutine[Any, Any, Response]: ...


class Client(Protocol):
    """A ``Client`` of httpx or httpx2."""

    @property
    def headers(self) -> Any: ...
    def build_request(
        self, method: str, url: str, *, content: bytes | None = ..., headers: Any = ...
    ) -> Any: ...
    def send(self, request: Any, *, stream: bool = ...) -> Response: ...


def is_a(value: object, name: str) -> bool:
    """Whether a value is an instance of the class of this name in httpx or httpx2."""
    for each in type(value).__mro__:
        # The library that it comes from is loaded; the other one need not be installed.
        library = sys.modules.get(each.__module__.partition(".")[0])
        if library is not None and library.__name__ in ("httpx", "httpx2"):
            return isinstance(value, getattr(library, name))
    return False


def text_of(url: Any) -> Any:
    """The text of a URL of the library; anything else unchanged."""
    return str(url) if is_a(url, "URL") else url


def check_client(client: object, function: str) -> None:
    """Raise TypeError for an invalid client, such as a sync one for an async function."""
    sync = function.endswith("_sync")
    kind, other_kind = ("Client", "AsyncClient") if sync else ("AsyncClient", "Client")
    if is_a(client, other_kind):
        other = function.removesuffix("_sync") if sync else f"{function}_sync"
        article = "a" if other_kind == "Client" else "an"
        raise TypeError(f"{function}() cannot use {article} {other_kind}; use {other}()")
    if not is_a(client, kind):
        raise TypeError(f"client must be an httpx.{kind}, not {type(client).__name__}")
