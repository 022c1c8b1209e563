"""Recordings that the demo server sends in place of answers."""

import base64
import json
import socket
from urllib.parse import urlsplit

import pytest
from support.demo import TIMEOUT, answering, ask, demo_serving, error_of, start_turn

from ratatoskr.demo_server import PATHS, Recording, Script

TURN = (
    b'id: 7:1\ndata: {"type": "text", "text": "Hi"}\n\n'
    b"id: 7:2\n\n: keep-alive\n\n"
    b'id: 7:3\ndata: {"type": "done"}\n\n'
)


def recorded(*chunks, end="end of stream", every=0.0):
    lines = [{"ratatoskr_recording": 1, "content_type": "text/event-stream"}]
    for index, chunk in enumerate(chunks):
        lines.append({"t": index * every, "data": base64.b64encode(chunk).decode()})
    return "".join(json.dumps(line) + "\n" for line in [*lines, {"end": end}])


@pytest.fixture
def file(tmp_path):
    return tmp_path / "recorded"


def replaying(file, *options):
    return answering(Script(recording=Recording.read(file, *options)))


def test_a_recording_is_sent_at_any_path(file):
    file.write_text(recorded(TURN[:9], b"", TURN[9:60], TURN[60:], every=3.0))
    with replaying(file, 1000) as base_url:
        for path in [*PATHS.values(), "/any/other/path?and=query"]:
            assert start_turn(base_url, path) == TURN
            assert ask(base_url, "GET", path)[2] == TURN


def test_a_raw_stream_is_sent_in_chunks_of_a_size(file):
    file.write_bytes(TURN)
    with replaying(file, 1.0, 1) as base_url:
        parts = urlsplit(base_url)
        with socket.create_connection((parts.hostname, parts.port), TIMEOUT) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            received = b""
            while piece := client.recv(65536):
                received += piece
    body = received.partition(b"\r\n\r\n")[2]
    assert body == b"".join(b"1\r\n%c\r\n" % byte for byte in TURN) + b"0\r\n\r\n"


ENDS = {
    "end of stream": "end of stream",
    "cut body (RemoteProtocolError)": "cut body",
    "cut body; unfinished event lost": "cut body",
    "reset (ConnectionResetError)": "reset",
    "read timeout": "read timeout",
}


@pytest.mark.parametrize(("end", "reason"), ENDS.items(), ids=ENDS)
def test_a_recording_ends_as_it_ended(file, run_main, end, reason):
    file.write_text(recorded(TURN[:60], end=end))
    options = ["--read-timeout", "0.5"] if end == "read timeout" else []
    with replaying(file) as base_url:
        run = run_main("turn", f"{base_url}/turns", "-m", "Hi", *options)
    assert run.said[0].startswith(f"[connection_dropped] last_sse_id=7:1 reason='{reason}")
    assert run.code == 21


def test_a_recording_without_a_byte_is_an_empty_body(file):
    file.write_text(recorded())
    with replaying(file) as base_url:
        assert start_turn(base_url) == b""


def test_what_turn_recorded_is_sent_again(file, run_main):
    with demo_serving(events=100) as url:
        first = run_main("turn", url, "-m", "Hi", "--json", "--record", str(file))
    with replaying(file, 1e9) as base_url:
        second = run_main("turn", f"{base_url}/turns", "-m", "Hi", "--json")
    assert len(first.lines) == 100
    assert (second.lines, second.said, second.code) == (first.lines, ["[done]"], 0)


def test_a_response_can_have_the_faults_that_need_no_frame(file):
    file.write_bytes(TURN)
    with replaying(file) as base_url:
        assert ask(base_url, "POST", "/turns?html")[1] == "text/html"
        assert ask(base_url, "POST", X_Fault="status=503")[0] == 503
        status, error = error_of(ask(base_url, "POST", X_Fault="reset"))
    assert status == 400
    assert error == "a recording is sent as it is; only status and html can be asked for"
