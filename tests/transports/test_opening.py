"""Opening over a connection of our own: an exception that is not a fault of the connection comes
through unchanged.
"""

import ssl

import anyio
import pytest
from support.adapters import every_adapter
from support.fault_servers import ALL, GOOD_CHUNKED
from support.raw_server import serving

from ratatoskr_proto import SseConnectionDropped
from ratatoskr_transports._adapters.h11 import H11Transport

URL = "http://127.0.0.1/turns"


class Bug(Exception):
    """An exception that no library raises for a connection."""


class Connection:
    """Plays a connection that gives these chunks, and raises what it is told to."""

    def __init__(self, *chunks, in_send=None):
        self.chunks = list(chunks)
        self.in_send = in_send
        self.closed = 0

    async def connect(self, host, port, tls, seconds):
        return self

    async def send(self, data, seconds):
        if self.in_send is not None:
            raise self.in_send

    async def receive(self, seconds):
        chunk = self.chunks.pop(0) if self.chunks else b""
        if isinstance(chunk, Exception):
            raise chunk
        return chunk

    async def aclose(self):
        self.closed += 1


def read(connect, **options):
    stream = H11Transport(connect, anyio).stream_turn(URL, **options)

    async def main():
        async with stream:
            return [getattr(item, "text", item.type) async for item in stream]

    return stream, lambda: anyio.run(main)


async def connect_with_bug(host, port, tls, seconds):
    raise Bug


def test_connection_that_is_played_gives_a_turn():
    connection = Connection(GOOD_CHUNKED)
    assert read(connection.connect)[1]() == ALL
    assert connection.closed


def test_bug_in_connecting_comes_through():
    with pytest.raises(Bug):
        read(connect_with_bug)[1]()


@pytest.mark.parametrize(
    "connection",
    [Connection(in_send=Bug()), Connection(Bug()), Connection(GOOD_CHUNKED[:200], Bug())],
    ids=["in send", "before the head", "after the head"],
)
def test_bug_in_a_connection_comes_through_and_the_stream_is_broken_and_closed(connection):
    stream, run = read(connection.connect)
    with pytest.raises(Bug):
        run()
    assert connection.closed == 1
    with pytest.raises(SseConnectionDropped, match="closed"):
        anyio.run(stream.__anext__)


def test_request_that_cannot_be_sent_may_have_been_answered_all_the_same():
    connection = Connection(GOOD_CHUNKED, in_send=BrokenPipeError())
    assert read(connection.connect)[1]() == ALL


@pytest.mark.parametrize("context", [True, "context", 1])
def test_ssl_context_that_is_none_is_a_type_error(context):
    with pytest.raises(TypeError, match="ssl_context must be an SSLContext or None, not"):
        H11Transport(connect_with_bug, anyio).stream_turn(URL, ssl_context=context)


@every_adapter
def test_context_of_a_server_is_a_fault_of_tls_and_the_connection_is_closed(adapter):
    """Python warns of a connection that is not closed, and a warning is an error here."""
    for_servers = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with serving(lambda peer: peer.wait_for_close()) as server:
        url = server.url.replace("http", "https")
        outcome = adapter.run_turn(url, verify=for_servers)
    assert outcome.error.reason.word == "tls"
