"""A server that brings its first client to a place of the exchange, and waits there."""

import threading

from support.frames import chunk, done, text
from support.raw_server import CHUNKED, LAST_CHUNK, TIMEOUT

FIRST = text(1, "a", turn=7)
DONE = done(2, turn=7)
ERROR = b"HTTP/1.1 500 No\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\nsorry"


def connecting(peer):
    """The client has connected and waits for TLS, of which this server knows nothing."""


def sending(peer):
    peer.read_head()  # and no more, so that the client cannot get rid of the rest


def awaiting_head(peer):
    peer.read_request()


def reading_error_body(peer):
    peer.read_request()
    peer.send(ERROR)


def reading(peer):
    peer.read_request()
    peer.send(CHUNKED, chunk(FIRST))


def draining(peer):
    peer.read_request()
    peer.send(CHUNKED, chunk(FIRST + DONE))


PLACES = [connecting, sending, awaiting_head, reading_error_body, reading, draining]


class Stage:
    """A server that brings its first client to a place, and serves the next one well."""

    def __init__(self, place):
        self.place = place
        self.cancelled = threading.Event()
        self.gone = threading.Event()

    def __call__(self, peer):
        if peer.server.connections > 1:
            peer.read_request()
            peer.send(CHUNKED, chunk(DONE), LAST_CHUNK)
            return
        self.place(peer)
        peer.server.signal.set()
        assert self.cancelled.wait(TIMEOUT)
        peer.wait_for_close()
        self.gone.set()
