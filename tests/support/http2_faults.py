"""The rows of the table of faults for HTTP/2, which httpx speaks if its client is told to."""

import contextlib
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from h2.errors import ErrorCodes

from ratatoskr_proto import RatatoskrError

from .fault import dropped, failed, shown_error
from .fault_servers import ALL, GOOD, HI, MUCH, SHORT, UNFINISHED
from .http2_server import Http2Peer, serving_http2
from .raw_server import RawServer


class Http2Fault(NamedTuple):
    """One row: what the server does with a stream, the items that come out, and the error."""

    name: str
    serve: Callable[[Http2Peer], object]
    items: list[str]
    error: RatatoskrError | None
    options: dict[str, Any] = {}  # noqa: RUF012
    # Early releases of Python 3.11 and 3.12 cannot tell a reset of a blocking TLS socket from its
    # end (python/cpython#115627).
    error_of_old_ssl: RatatoskrError | None = None

    def __str__(self) -> str:
        return self.name

    def row(self) -> str:
        """The row of docs/faults.md."""
        cells = [f"HTTP/2: {self.name}", *shown_error(self.error), ""]
        if self.error_of_old_ssl is not None:
            error = " ".join(filter(None, shown_error(self.error_of_old_ssl)))
            cells[-1] = f"sync, early 3.11 and 3.12: {error}"
        return "| " + " | ".join(cells) + " |"

    def expected(self, sync: bool) -> list[tuple[list[str], RatatoskrError | None]]:
        """The items and the error; more than one pair where it depends on the release of Python."""
        outcomes = [(self.items, self.error)]
        if self.error_of_old_ssl is not None and sync and sys.version_info < (3, 13):
            outcomes.append((self.items, self.error_of_old_ssl))
        return outcomes

    @contextlib.contextmanager
    def serving(self) -> Iterator[RawServer]:
        """Run the server."""
        with serving_http2(self.serve) as server:
            yield server


def after_an_event(then: Callable[[Http2Peer], object]) -> Callable[[Http2Peer], None]:
    def handler(peer: Http2Peer) -> None:
        peer.head()
        peer.data(HI)
        # What ends a connection must not overtake what was sent before.
        peer.peer.server.wait_for_signal()
        then(peer)

    return handler


def good(peer: Http2Peer) -> None:
    peer.head()
    peer.data(GOOD, end=True)


def refused_status(peer: Http2Peer) -> None:
    peer.head([(":status", "503"), ("content-type", "text/plain")])
    peer.data(b"later", end=True)


def resets_stream(code: int) -> Callable[[Http2Peer], None]:
    return lambda peer: peer.reset_stream(code)


def goes_away(peer: Http2Peer) -> None:
    peer.go_away(ErrorCodes.NO_ERROR)


def goes_away_without_this_stream(peer: Http2Peer) -> None:
    peer.go_away(ErrorCodes.NO_ERROR, last_stream=0)


def closes(peer: Http2Peer) -> None:
    """When the handler returns, the connection is closed."""


def resets_connection(peer: Http2Peer) -> None:
    peer.peer.reset()


def breaks_http2(peer: Http2Peer) -> None:
    kind_data, no_flags, connection = 0, 0, 0  # DATA belongs to a stream, never to the connection
    peer.raw(struct.pack(">HBBBI", 0, 1, kind_data, no_flags, connection) + b"x")


def falls_silent(peer: Http2Peer) -> None:
    peer.peer.wait_for_close()


_REFUSED, _INTERNAL = ErrorCodes.REFUSED_STREAM, ErrorCodes.INTERNAL_ERROR
HTTP2_FAULTS = [
    Http2Fault("a good answer", good, ALL, None),
    Http2Fault("503", refused_status, [], failed("status", 503, "later")),
    Http2Fault("a refused stream", resets_stream(_REFUSED), [], failed("closed")),
    Http2Fault("RST_STREAM before the head", resets_stream(_INTERNAL), [], failed("closed")),
    Http2Fault(
        "RST_STREAM while the request is going out",
        resets_stream(_INTERNAL),
        [],
        failed("closed"),
        options={"content": MUCH},
    ),
    Http2Fault("GOAWAY before the head", goes_away, [], failed("closed")),
    Http2Fault(
        "GOAWAY that leaves the stream out", goes_away_without_this_stream, [], failed("closed")
    ),
    Http2Fault("a close before the head", closes, [], failed("closed")),
    Http2Fault("a reset before the head", resets_connection, [], failed("closed")),
    Http2Fault("a frame that breaks HTTP/2 before the head", breaks_http2, [], failed("protocol")),
    Http2Fault(
        "silence before the head",
        falls_silent,
        [],
        failed("read timeout"),
        options={"read_timeout": SHORT},
    ),
    Http2Fault(
        "RST_STREAM in mid-turn",
        after_an_event(resets_stream(_INTERNAL)),
        ["Hi"],
        dropped("reset"),
    ),
    Http2Fault("GOAWAY in mid-turn", after_an_event(goes_away), ["Hi"], dropped("reset")),
    Http2Fault("a close in mid-turn", after_an_event(closes), ["Hi"], dropped("cut body")),
    Http2Fault(
        "a close in mid-frame",
        after_an_event(lambda peer: peer.data(UNFINISHED)),
        ["Hi"],
        dropped("cut body; unfinished event lost"),
    ),
    Http2Fault(
        "a reset in mid-turn",
        after_an_event(resets_connection),
        ["Hi"],
        dropped("reset"),
        error_of_old_ssl=dropped("cut body"),
    ),
    Http2Fault(
        "a frame that breaks HTTP/2 in mid-turn",
        after_an_event(breaks_http2),
        ["Hi"],
        dropped("protocol"),
    ),
    Http2Fault(
        "a clean end without terminal event",
        after_an_event(lambda peer: peer.data(b"", end=True)),
        ["Hi"],
        dropped("end of stream"),
    ),
]
