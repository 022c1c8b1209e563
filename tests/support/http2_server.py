"""A server for HTTP/2 over TLS on loopback, which sends the frames that a test wants.

    with serving_http2(handler) as server:
        ... server.url ...

``handler(peer)`` runs for each stream, once its request has come whole.
"""

import contextlib
from collections.abc import Callable, Iterator

import h2.config
import h2.connection
import h2.events

from .fault_servers import http2_context
from .raw_server import Peer, RawServer, serving

HEAD = [(":status", "200"), ("content-type", "text/event-stream")]


class Http2Peer:
    """The server's end of one stream."""

    def __init__(self, peer: Peer, state: h2.connection.H2Connection, stream: int) -> None:
        self.peer = peer
        self.state = state
        self.stream = stream

    def head(self, headers: list[tuple[str, str]] = HEAD, end: bool = False) -> None:
        self.state.send_headers(self.stream, headers, end_stream=end)
        self.flush()

    def data(self, data: bytes, end: bool = False) -> None:
        self.state.send_data(self.stream, data, end_stream=end)
        self.flush()

    def reset_stream(self, code: int) -> None:
        self.state.reset_stream(self.stream, code)
        self.flush()

    def go_away(self, code: int, last_stream: int | None = None) -> None:
        self.state.close_connection(code, last_stream_id=last_stream)
        self.flush()

    def raw(self, frame: bytes) -> None:
        """Send bytes that h2 would not send."""
        self.peer.send(frame)

    def flush(self) -> None:
        self.peer.send(self.state.data_to_send())


@contextlib.contextmanager
def serving_http2(handler: Callable[[Http2Peer], object]) -> Iterator[RawServer]:
    """Run a server on a free port of 127.0.0.1."""

    def serve(peer: Peer) -> None:
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        state = h2.connection.H2Connection(config)
        state.initiate_connection()
        peer.send(state.data_to_send())
        handled = False
        while not handled and (data := peer.receive_some()):
            for event in state.receive_data(data):
                # A request with a body that is never read counts once its head has come.
                if isinstance(event, h2.events.RequestReceived) and event.stream_id is not None:
                    handled = True
                    handler(Http2Peer(peer, state, event.stream_id))
            with contextlib.suppress(OSError):
                peer.send(state.data_to_send())
        peer.end()

    with serving(serve, http2_context()) as server:
        yield server
