"""One row of the table of faults."""

import contextlib
import re
import ssl
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ratatoskr_proto import (
    RatatoskrError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
)

from .fault_servers import (
    ALL,
    SHORT,
    distrusting_context,
    server_context,
    trusting_context,
)
from .raw_server import Peer, serving

BOTH = ("httpx", "httpx2")


class FaultRow(NamedTuple):
    """One row. ``answer``: what the server sends, before it closes, or a handler. ``items`` come
    out, then ``error``.

    On the generations of httpx that ``except_on`` names no items come but ``other_error``, or a
    good answer if that is None.

    ``trusted`` and ``names`` make it TLS: whether the client trusts the certificate, and whom that
    names. ``where`` gives a URL in place of a server. ``options`` go to the adapter.
    """

    name: str
    answer: bytes | Callable[[Peer], None]
    items: list[str]
    error: RatatoskrError | None
    except_on: tuple[str, ...] = ()
    other_error: RatatoskrError | None = None
    trusted: bool = True
    names: str = ""
    where: Callable[[], contextlib.AbstractContextManager[str]] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012

    def __str__(self) -> str:
        return self.name

    @property
    def waits(self) -> bool:
        """Whether it takes as long as a short timeout."""
        return "trickles" in self.name or SHORT in self.options.values()

    def expected(self, adapter: Any) -> tuple[list[str], RatatoskrError | None]:
        """The outcome on this adapter."""
        if adapter.is_httpx and adapter.library.__name__ in self.except_on:
            return ([] if self.other_error else ALL), self.other_error
        return self.items, self.error

    def row(self) -> str:
        """The row of docs/faults.md."""
        cells = [self.name, *shown_error(self.error)]
        if self.except_on:
            other = " ".join(filter(None, shown_error(self.other_error)))
            cells.append(f"{', '.join(self.except_on)}: {other}")
        else:
            cells.append("")
        return "| " + " | ".join(cells) + " |"

    @contextlib.contextmanager
    def serve(self) -> Iterator[str]:
        """Run the server; the URL to ask for."""
        if self.where is not None:
            with self.where() as url:
                yield url
            return

        def handler(peer: Peer) -> None:
            if callable(self.answer):
                self.answer(peer)
            else:
                peer.read_request()
                peer.send(self.answer)

        tls = server_context(self.names) if self.names else None
        with serving(handler, tls) as server:
            yield server.url

    def client_context(self) -> ssl.SSLContext:
        """What the client verifies with."""
        return trusting_context() if self.trusted else distrusting_context()


def shown_error(error: RatatoskrError | None) -> list[str]:
    """The class, the status and the reason of an error."""
    if error is None:
        return ["none", "", ""]
    status = getattr(error, "status", None)
    reason = getattr(error, "reason", "")
    name = f"`{type(error).__name__}`"
    return [name, "" if status is None else str(status), f"`{reason}`" if reason else ""]


def shown(item: Any) -> str:
    """An item in short."""
    text: str = getattr(item, "text", item.type)
    return text


def compared(error: RatatoskrError | None) -> RatatoskrError | None:
    """An error without what may differ: a class in brackets, the port, the length of a body."""
    if isinstance(error, SseConnectFailed):
        body = re.sub("~+", "~", error.body)
        return SseConnectFailed(error.status, body, _compared_reason(error.reason))
    if isinstance(error, SseConnectionDropped):
        return SseConnectionDropped(error.last_sse_id, _compared_reason(error.reason))
    return error


def _compared_reason(reason: str) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", "HERE", re.sub(r" \(\w+\)", "", reason))


def dropped(reason: str, last_seq: int | None = 1) -> SseConnectionDropped:
    return SseConnectionDropped(None if last_seq is None else SseId(42, last_seq), reason)


def failed(reason: str, status: int | None = None, body: str = "") -> SseConnectFailed:
    return SseConnectFailed(status, body, reason)
