"""The demo server as any client of HTTP sees it."""

import contextlib
import json
import logging.handlers
import queue
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import anyio
import pytest
from support.demo import (
    TIMEOUT,
    answering,
    ask,
    connected,
    demo_serving,
    error_of,
    resume_turn,
    start_turn,
)

from ratatoskr import demo_server
from ratatoskr.demo_server import PATHS, DemoServer, Script
from ratatoskr_proto import EventStreamDecoder


@pytest.fixture(scope="module")
def url():
    with demo_serving() as url:
        yield url


@pytest.fixture
def fresh_url():
    """A server that has served nothing yet."""
    with demo_serving(events=20) as url:
        yield url


def frames(body):
    return EventStreamDecoder().receive_data(body)


def ids(body):
    return [frame.id for frame in frames(body)]


# Turns


def test_a_turn_is_frames_in_order_up_to_done(fresh_url):
    body = start_turn(fresh_url)
    assert ids(body) == [f"93:{seq}" for seq in range(1, 21)]
    assert json.loads(frames(body)[-1].data)["type"] == "done"


def test_a_turn_is_long_and_is_resumed_around_the_frame_that_once_crashed(url):
    body = start_turn(url)
    whole = frames(body)
    assert len(whole) == 1100
    assert body.count(b": keep-alive\n\n") == 22
    assert [frame.id[-5:] for frame in whole if frame.data == ""] == [":1078"]
    turn_number = whole[0].id.partition(":")[0]
    for seq in (1076, 1077, 1078, 1079, 1099):
        assert frames(resume_turn(url, f"{turn_number}:{seq}")) == whole[seq:]


@pytest.mark.parametrize("events", [1, 2, 10, 50, 1078])
def test_a_turn_of_any_length_ends_in_done(url, events):
    last = frames(start_turn(url, f"/turns?events={events}"))[-1]
    assert last.id.endswith(f":{events}")
    assert json.loads(last.data) == {"type": "done", "frames": events}


def test_each_turn_has_a_number_of_its_own(fresh_url):
    assert [ids(start_turn(fresh_url))[0] for _ in range(3)] == ["93:1", "94:1", "95:1"]


@pytest.mark.parametrize("message", ["Hi", "世界樹", "a\nb", "\0\x1b", "x" * 100_000])
def test_the_message_is_answered(url, message):
    answer = json.loads(frames(start_turn(url, "/turns?events=2", message))[0].data)
    assert answer["text"] == f"You said: {message}\n\n"


def test_a_message_is_not_required(url):
    status, media_type, _ = ask(url, "POST", "/turns?events=2")
    assert (status, media_type) == (200, "text/event-stream")


# Resumption


@pytest.mark.parametrize("seq", [1, 2, 10, 19])
def test_a_turn_is_resumed_after_a_frame(fresh_url, seq):
    whole = start_turn(fresh_url)
    rest = resume_turn(fresh_url, f"93:{seq}")
    assert whole.endswith(rest)
    assert ids(rest)[0] == f"93:{seq + 1}"


def test_a_finished_turn_can_be_resumed_any_number_of_times(fresh_url):
    whole = start_turn(fresh_url)
    start_turn(fresh_url)
    assert {resume_turn(fresh_url, "93:0") for _ in range(3)} == {whole}


def test_a_turn_that_is_resumed_after_its_end_ends_again(fresh_url):
    start_turn(fresh_url)
    assert ids(resume_turn(fresh_url, "93:20")) == ["93:20"]


def test_turns_are_forgotten_after_a_thousand_more(fresh_url, monkeypatch):
    assert demo_server._KEPT_TURNS == 1000
    monkeypatch.setattr(demo_server, "_KEPT_TURNS", 10)
    with connected(fresh_url) as connection:
        for _ in range(12):
            connection.request("POST", "/turns?events=1")
            connection.getresponse().read()
        status = {}
        for turn in (93, 94, 95):
            connection.request("GET", "/turns?events=1", headers={"Last-Event-ID": f"{turn}:0"})
            response = connection.getresponse()
            response.read()
            status[turn] = response.status
    assert status == {93: 404, 94: 404, 95: 200}


# What it refuses


@pytest.mark.parametrize("id", ["94:1", "0:0", "9999999999999999999:1"])
def test_a_turn_that_is_not_known_is_404(fresh_url, id):
    start_turn(fresh_url)
    status, error = error_of(ask(fresh_url, "GET", Last_Event_ID=id))
    assert (status, error) == (404, "there is no such turn, or not any more")


@pytest.mark.parametrize("seq", [21, 9999999999999999999])
def test_a_frame_that_the_turn_does_not_have_is_404(fresh_url, seq):
    start_turn(fresh_url)
    status, error = error_of(ask(fresh_url, "GET", Last_Event_ID=f"93:{seq}"))
    assert (status, error) == (404, "the turn has frames up to 93:20 only")


@pytest.mark.parametrize("id", ["93", "93:", ":1", "93:1:2", "-93:1", "93:1x", "x", "9" * 40])
def test_a_malformed_id_is_400_with_a_wellformed_one(url, id):
    status, error = error_of(ask(url, "GET", Last_Event_ID=id))
    assert (status, "such as 93:1077" in error) == (400, True)


@pytest.mark.parametrize("headers", [{}, {"Last_Event_ID": ""}])
def test_get_without_an_id_starts_a_turn(url, headers):
    status, _, body = ask(url, "GET", "/turns?events=2", **headers)
    assert (status, b'"done"' in body) == (200, True)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"Hi",
        b"[]",
        b'"Hi"',
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"message": 7}',
        b'{"message": null}',
        b'{"message": "\\ud800"}',
    ],
    ids=lambda body: repr(body[:16]),
)
def test_an_invalid_body_is_400_with_a_valid_one(url, body):
    status, error = error_of(ask(url, "POST", body=body))
    assert (status, '{"message": "Hi"}' in error) == (400, True)


@pytest.mark.parametrize("target", ["/", "/turn", "/turns/", "/turns/93", "*", "//[", "//x]:y/"])
def test_another_path_is_404_with_the_paths_that_there_are(url, target):
    status, message = error_of(ask(url, "GET", target))
    assert status == 404
    assert all(path in message for path in PATHS.values())


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
def test_another_method_is_405(url, method):
    assert error_of(ask(url, method))[0] == 405
    with connected(url) as connection:
        connection.request(method, "/turns")
        assert connection.getresponse().getheader("allow") == "GET, POST"


@pytest.mark.parametrize("target", ["/turns", "/", "/turns?html", "/turns?status=503"])
def test_head_is_answered_without_a_body(url, target):
    status, _, body = ask(url, "HEAD", target)
    assert (status in (404, 405), body) == (True, b"")


@pytest.mark.parametrize(
    "query",
    [
        "nope",
        "events=0",
        "events=-1",
        "events=x",
        "events=",
        "events=1.5",
        "events=1000000001",
        "events=0000000001" + "9" * 10,
        "events=" + "1" * 5000,
        "at=0",
        "at=x",
        "pace=x",
        "pace=-1",
        "pace=3601",
        "pace=nan",
        "pace=inf",
        "pace=",
        "status",
        "status=99",
        "status=600",
        "status=x",
        "drop-every=0",
        "drop-every",
        "bad-json=1",
        "fault=nope",
        "%00%1b",
        "a=b=c",
    ],
)
def test_an_invalid_query_is_400(url, query):
    status, error = error_of(ask(url, "POST", f"/turns?{query}"))
    assert status == 400
    assert error.isprintable()


@pytest.mark.parametrize("query", ["pace=x", "pace=nan"])
def test_an_invalid_pace_is_400_with_what_would_be_valid(url, query):
    error = error_of(ask(url, "POST", f"/turns?{query}"))[1]
    assert error == "pace must be a number of seconds from 0 to 3600"


@pytest.mark.parametrize("size", [1024 * 1024 + 1, 20 * 1024 * 1024])
def test_a_huge_body_is_413_and_the_connection_goes_on(url, size):
    with connected(url) as connection:
        for _ in range(2):
            connection.request("POST", "/turns", b"x" * size)
            response = connection.getresponse()
            assert (response.status, json.load(response)) == (
                413,
                {"error": "a request can have 1048576 bytes at most"},
            )


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


# Connections


@contextlib.contextmanager
def raw_connection(url):
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), TIMEOUT) as connection:
        yield connection


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


# Where it listens


def test_it_listens_on_loopback_at_a_free_port(url):
    assert urlsplit(url).hostname == "127.0.0.1"
    assert urlsplit(url).port > 0


def test_it_gives_the_address_without_a_path():
    with answering(Script()) as base_url:
        assert base_url == f"http://127.0.0.1:{urlsplit(base_url).port}"


def test_it_listens_on_ipv6():
    try:
        with answering(Script(events=1), host="::1") as base_url:
            assert base_url.startswith("http://[::1]:")
            start_turn(base_url)
    except OSError:
        pytest.skip("needs IPv6 on loopback")


def test_a_port_that_is_taken_is_an_os_error(url):
    async def main():
        async with DemoServer().listening(port=urlsplit(url).port):
            pass

    with pytest.raises(OSError, match="in use"):
        anyio.run(main)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"events": 0}, "events must be a number from 1 to 1000000000"),
        ({"events": 10**9 + 1}, "events must be a number from 1 to 1000000000"),
        ({"pace": -1}, "pace must be a number of seconds from 0 to 3600"),
        ({"pace": float("nan")}, "pace must be a number of seconds from 0 to 3600"),
        ({"text": "\ud800"}, "text must not contain a lone surrogate"),
        ({"reasoning": "\ud800"}, "reasoning must not contain a lone surrogate"),
    ],
)
def test_a_script_refuses_what_the_server_cannot_do(values, message):
    with pytest.raises(ValueError, match=message):
        Script(**values)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_exception_in_the_block_comes_out_as_it_is(backend):
    async def main():
        async with DemoServer(Script(events=1)).listening():
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        anyio.run(main, backend=backend)
