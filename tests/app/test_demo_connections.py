"""Connections to the demo server: used again, broken, reset and many at once."""

import contextlib
import logging.handlers
import queue
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from support.demo import (
    TIMEOUT,
    connected,
    demo_serving,
    start_turn,
)

from ratatoskr.demo_server import DemoServer


@pytest.fixture(scope="module")
def url():
    with demo_serving() as url:
        yield url


@contextlib.contextmanager
def raw_connection(url):
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), TIMEOUT) as connection:
        yield connection


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /turns HTTP/1.1\r\n\r\n",  # without a host
        b"POST /turns HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnope\r\n",
        b"POST /turns HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
    ],
    ids=lambda request_bytes: repr(request_bytes[:20]),
)
def test_bytes_that_are_not_http_are_400_and_the_server_goes_on(url, request_bytes):
    with raw_connection(url) as connection:
        connection.sendall(request_bytes)
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")
    start_turn(url, "/turns?events=1")


def test_a_connection_is_used_again_whatever_the_response_was(url):
    requests = [
        ("POST", "/turns?events=2", 200),
        ("POST", "/turns?html", 200),
        ("POST", "/turns?status=503", 503),
        ("POST", "/turns?status=204", 204),
        ("GET", "/turns?events=2", 200),
        ("GET", "/turns?at=0", 400),
        ("PUT", "/turns", 405),
        ("HEAD", "/turns", 405),
        ("GET", "/nope", 404),
        ("POST", "/turns?no-done&events=2", 200),
    ]
    with connected(url) as connection:
        connection.connect()
        first = connection.sock
        for method, target, status in requests:
            connection.request(method, target, b"{}")
            response = connection.getresponse()
            response.read()
            assert (response.status, connection.sock) == (status, first)


def test_requests_may_be_sent_before_the_answers_come(url):
    request = b"POST /turns?events=1 HTTP/1.1\r\nHost: x\r\n"
    with raw_connection(url) as connection:
        connection.sendall(request + b"\r\n" + request + b"Connection: close\r\n\r\n")
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert received.count(b"HTTP/1.1 200") == received.count(b'"done"') == 2


def test_http_1_0_is_answered_up_to_the_close(url):
    with raw_connection(url) as connection:
        connection.sendall(b"POST /turns?events=1 HTTP/1.0\r\n\r\n")
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert received.endswith(b'{"type": "done", "frames": 1}\n\n')


@pytest.mark.parametrize("received", [0, 1, 1000])
def test_a_client_that_leaves_disturbs_no_other(url, received):
    with raw_connection(url) as connection:
        connection.sendall(b"POST /turns?events=100000 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert len(connection.recv(received)) <= received
    start_turn(url, "/turns?events=1")


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST /tur", b"POST /turns HTTP/1.1\r\nHost: x\r\n", b"GET /" + b"x" * 200_000],
    ids=lambda sent: repr(sent[:20]),
)
def test_a_client_that_leaves_while_it_asks_disturbs_no_other(url, sent):
    with raw_connection(url) as connection:
        connection.sendall(sent)
    start_turn(url, "/turns?events=1")


def test_a_client_that_resets_while_it_is_being_reset_disturbs_no_other(url):
    for _ in range(3):
        with socket.socket() as client:
            # So small a buffer that bytes are still on their way when the server wants to reset.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.settimeout(TIMEOUT)
            client.connect((urlsplit(url).hostname, urlsplit(url).port))
            client.sendall(b"POST /turns?reset&at=100 HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(1) == b"H"
            start_turn(url, "/turns?events=300")  # meanwhile the server has come to the reset
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    start_turn(url, "/turns?events=1")


def test_a_connection_that_fails_is_logged_and_the_others_go_on(url, monkeypatch):
    def broken(*args):
        raise ZeroDivisionError

    records = queue.SimpleQueue()
    logger = logging.getLogger("ratatoskr.demo_server")
    with monkeypatch.context() as patch, raw_connection(url) as connection:
        patch.setattr(logger, "handlers", [logging.handlers.QueueHandler(records)])
        patch.setattr(logger, "propagate", False)
        patch.setattr(DemoServer, "_understand", broken)
        connection.sendall(b"POST /turns HTTP/1.1\r\nHost: x\r\n\r\n")
        record = records.get(timeout=TIMEOUT)
    assert record.getMessage().startswith("one connection failed\nTraceback")
    start_turn(url, "/turns?events=1")


def test_many_clients_are_served_at_once():
    everyone_is_there = threading.Barrier(20, timeout=TIMEOUT)

    def read(url):
        with connected(url) as connection:
            connection.request("POST", "/turns?events=200&stall", b"{}")
            response = connection.getresponse()
            first = response.readline()
            everyone_is_there.wait()
            return first

    with demo_serving() as url, ThreadPoolExecutor(20) as pool:
        firsts = set(pool.map(read, [url] * 20))
    assert firsts == {b"id: %d:1\n" % turn for turn in range(93, 113)}
