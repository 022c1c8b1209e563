"""The servers of the table of faults: bytes, handlers and TLS contexts."""

import contextlib
import functools
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator

import trustme

from .frames import chunk, done, text
from .raw_server import CHUNKED, HEAD, LAST_CHUNK, Peer, serving

SHORT = 0.2  # seconds: a timeout that is meant to pass
MUCH = b"x" * (16 * 1024 * 1024)  # a request that no socket buffer holds


HI = text(1, "Hi")
THERE = text(2, "there")
DONE = done(3)
UNFINISHED = b'id: 42:2\ndata: {"type":"te'
GOOD = HI + THERE + DONE
ALL = ["Hi", "there", "done"]
BROKEN_OFF = CHUNKED + chunk(HI)


GOOD_CHUNKED = CHUNKED + chunk(GOOD) + LAST_CHUNK
HERE = "127.0.0.1"


@functools.cache
def _authority() -> trustme.CA:
    return trustme.CA()


@functools.cache
def server_context(name: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    _authority().issue_cert(name).configure_cert(context)
    return context


@functools.cache
def http2_context() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    _authority().issue_cert(HERE).configure_cert(context)
    context.set_alpn_protocols(["h2"])
    return context


@functools.cache
def trusting_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _authority().configure_trust(context)
    return context


@functools.cache
def distrusting_context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def answer(status: str, body: bytes = b"", *headers: str, length: bool = True) -> bytes:
    """A whole response, or the start of one."""
    lines = [f"HTTP/1.1 {status}", *headers]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def typed(media_type: str, body: bytes = GOOD) -> bytes:
    return answer("200 OK", body, f"Content-Type: {media_type}")


def then_silence(data: bytes) -> Callable[[Peer], None]:
    def handler(peer: Peer) -> None:
        peer.read_request()
        peer.send(data)
        peer.wait_for_close()

    return handler


def then_reset(data: bytes) -> Callable[[Peer], None]:
    def handler(peer: Peer) -> None:
        peer.read_request()
        peer.send(data)
        peer.reset()

    return handler


def keep_alives_for_ever(peer: Peer) -> None:
    peer.read_request()
    peer.send(BROKEN_OFF)
    while not peer.server.signal.wait(SHORT / 10):
        peer.send(chunk(b": still here\n\n"))


def one_byte_per_packet(peer: Peer) -> None:
    peer.read_request()
    data = CHUNKED + chunk(GOOD) + LAST_CHUNK
    peer.send(*(data[place : place + 1] for place in range(len(data))))


def many_headers(number: int, size: int) -> bytes:
    lines = b"".join(b"X-Header-%d: %s\r\n" % (each, b"x" * size) for each in range(number))
    return HEAD + lines + b"Connection: close\r\n\r\n" + GOOD


def large_error_body(peer: Peer) -> None:
    peer.read_request()
    peer.send(answer("500 Oops", b"", "Content-Length: 1048576", length=False))
    peer.send_until_refused(b"~" * 65536, 16)


def trickling_error_body(peer: Peer) -> None:
    peer.read_request()
    peer.send(answer("500 Oops", b"", length=False))
    for _ in range(500):
        if peer.server.signal.wait(0.01):
            return
        peer.send(b"~")
    peer.send(b"the client waited for all of it")


def answers_and_does_not_read(peer: Peer) -> None:
    peer.read_head()
    peer.send(answer("413 Too Large", b"too much"))
    peer.wait_for_the_end()


def streams_and_does_not_read(peer: Peer) -> None:
    peer.read_head()
    peer.send(GOOD_CHUNKED)
    peer.wait_for_the_end()


def reads_only_the_head(peer: Peer) -> None:
    peer.read_head()
    peer.wait_for_the_end()


def resets_after_the_head(peer: Peer) -> None:
    peer.read_head()
    peer.reset()


def closes_without_a_word(peer: Peer) -> None:
    peer.read_request()


def coded(coding: str, *pieces: bytes, cut: int | None = None, extra: bytes = b"") -> bytes:
    """A chunked answer in a content coding, its body cut short or with bytes after it."""
    body = b"".join(pieces)[:cut] + extra
    head = CHUNKED.replace(b"\r\n\r\n", f"\r\nContent-Encoding: {coding}\r\n\r\n".encode())
    return head + chunk(body) + LAST_CHUNK


def deflated(wbits: int, *frames: bytes) -> list[bytes]:
    """The frames in a zlib format, each readable as soon as its piece is there."""
    deflate = zlib.compressobj(wbits=wbits)
    pieces = [deflate.compress(each) + deflate.flush(zlib.Z_SYNC_FLUSH) for each in frames]
    return [*pieces, deflate.flush()]


GZIP, ZLIB, RAW = 31, 15, -15


def redirecting(status: int, location: str) -> bytes:
    return answer(
        f"{status} Elsewhere", b"over there", f"Location: {location}", "Connection: close"
    )


@contextlib.contextmanager
def nobody_listening() -> Iterator[str]:
    with socket.socket() as taken:  # by us, so that no other server gets the port meanwhile
        taken.bind((HERE, 0))
        yield f"http://{HERE}:{taken.getsockname()[1]}/turns"


@contextlib.contextmanager
def nobody_listening_at_a_name() -> Iterator[str]:
    with nobody_listening() as url:
        yield url.replace(HERE, "localhost")


@contextlib.contextmanager
def full_backlog() -> Iterator[str]:
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/turns"


@contextlib.contextmanager
def no_such_name() -> Iterator[str]:
    yield "http://nobody.invalid/turns"


@contextlib.contextmanager
def unreachable() -> Iterator[str]:
    yield "http://255.255.255.255/turns"


@contextlib.contextmanager
def plain_server(handler: Callable[[Peer], None]) -> Iterator[str]:
    """A server that speaks no TLS, with a URL that says it does."""
    with serving(handler) as server:
        yield server.url.replace("http:", "https:")


def silent_in_handshake(peer: Peer) -> None:
    peer.wait_for_close()


def closes_in_handshake(peer: Peer) -> None:
    peer.receive_some()


def resets_in_handshake(peer: Peer) -> None:
    peer.receive_some()
    peer.reset()


def resets_at_once(peer: Peer) -> None:
    peer.reset()


def speaks_no_tls(peer: Peer) -> None:
    peer.receive_some()
    peer.send(answer("400 Bad Request", b"plain HTTP here"))


def breaks_tls_after(data: bytes) -> Callable[[Peer], None]:
    def handler(peer: Peer) -> None:
        peer.read_request()
        peer.send(data)
        peer.send_past_tls(b"\x17\x03\x03\x00\x20" + b"x" * 32)
        peer.wait_for_close()

    return handler
