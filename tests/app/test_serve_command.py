"""``ratatoskr serve`` as a process: where it listens, how it ends, what it replays."""

import base64
import json
import os
import signal
import socket
from urllib.parse import urlsplit

import pytest
from support.demo import resume_turn, start_turn

if os.name != "posix":
    pytest.skip("needs the signals of POSIX", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("heed_ctrl_c")

TIMEOUT = 30
TURN = (
    b'id: 7:1\ndata: {"type": "text", "text": "Hi"}\n\n'
    b"id: 7:2\n\n: keep-alive\n\n"
    b'id: 7:3\ndata: {"type": "done"}\n\n'
)


@pytest.fixture
def serve(start):
    """Starts ``ratatoskr serve``; gives the process and the URL of its turns."""

    def serve(*options):
        process = start("serve", *options)
        words = process.stdout.readline().decode().split()
        assert words[:2] == ["listening", "on"]
        return process, words[2]

    return serve


def recording(*chunks, end="end of stream", every=0.0):
    lines = [{"ratatoskr_recording": 1, "content_type": "text/event-stream"}]
    for index, chunk in enumerate(chunks):
        lines.append({"t": index * every, "data": base64.b64encode(chunk).decode()})
    return "".join(json.dumps(line) + "\n" for line in [*lines, {"end": end}])


@pytest.fixture
def file(tmp_path):
    return tmp_path / "recorded"


def test_it_says_where_it_listens_and_serves_there(serve):
    _, url = serve("--pace", "0", "--events", "20")
    assert urlsplit(url).hostname == "127.0.0.1"
    whole = start_turn(url)
    assert whole.count(b"\n\n") == 20
    assert whole.endswith(resume_turn(url, "93:15"))


def test_faults_and_pace_are_those_of_the_options(serve, run_main):
    _, url = serve("--fault", "empty", "--fault", "bad-json", "--at", "25", "--pace", "0.001")
    run = run_main("turn", url, "-m", "Hi", "--json")
    assert run.said == ["[malformed_sse_data] raw='not-json'"]
    assert [line["sse_id"][3:] for line in run.lines[8:10]] == ["9", "11"]
    assert len(run.lines) == 22


def test_ctrl_c_ends_it_with_a_line(serve):
    process, _ = serve()
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 130
    assert process.stderr.read() == b"ratatoskr: interrupted\n"
    assert process.stdout.read() == b""


def test_ctrl_c_ends_it_with_a_line_while_it_serves(serve):
    process, url = serve("--fault", "stall")
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), TIMEOUT) as client:
        client.sendall(b"POST /turns HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1) == b"H"
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
    assert process.stderr.read() == b"ratatoskr: interrupted\n"


def test_without_a_reader_it_ends_in_silence(run_process, gone):
    run = run_process("serve", stdout=gone)
    assert (run.code, run.stderr) == (0, b"")


def test_it_lives_on_when_nobody_reads_on(serve):
    process, url = serve("--pace", "0", "--events", "20")
    process.stdout.close()
    assert start_turn(url).endswith(b'{"type": "done", "frames": 20}\n\n')


# Replays


def test_a_recording_is_replayed(serve, file, run_main):
    file.write_text(recording(TURN[:9], b"", TURN[9:60], TURN[60:], every=3.0))
    _, url = serve("--replay", str(file), "--speed", "1000")
    assert start_turn(url) == TURN
    assert start_turn(url, "/any/other/path") == TURN
    run = run_main("turn", url, "-m", "Hi")
    assert (run.stdout, run.said, run.code) == (b"Hi", ["[done]"], 0)


def test_a_raw_stream_is_served_in_chunks_of_a_size(serve, file):
    file.write_bytes(TURN)
    _, url = serve("--replay", str(file), "--chunk-size", "1")
    parts = urlsplit(url)
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
    "reset (ConnectionResetError)": "reset",
    "read timeout": "read timeout",
}


@pytest.mark.parametrize(("end", "reason"), ENDS.items(), ids=ENDS)
def test_a_recording_ends_as_it_ended(serve, file, run_main, end, reason):
    file.write_text(recording(TURN[:60], end=end))
    _, url = serve("--replay", str(file))
    run = run_main("turn", url, "-m", "Hi", "--read-timeout", "0.2")
    assert run.said[0].startswith(f"[connection_dropped] last_sse_id=7:1 reason='{reason}")
    assert run.code == 21


def test_a_recording_in_which_nothing_came_is_replayed(serve, file):
    file.write_text(recording())
    _, url = serve("--replay", str(file))
    assert start_turn(url) == b""


def test_what_turn_recorded_is_served_again(serve, file, run_main):
    _, url = serve("--pace", "0")
    first = run_main("turn", url, "-m", "Hi", "--json", "--record", str(file))
    _, replay_url = serve("--replay", str(file), "--speed", "1e9")
    second = run_main("turn", replay_url, "-m", "Hi", "--json")
    assert len(first.lines) == 1099
    assert (second.lines, second.said, second.code) == (first.lines, ["[done]"], 0)


# What it refuses


@pytest.fixture
def refused(run_main):
    """The one line that it says in place of listening."""

    def refused(*options):
        run = run_main("serve", *options)
        assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
        assert run.said[0].isprintable()
        return run.said[0]

    return refused


def test_a_port_that_is_taken_is_one_line(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = refused("--port", str(port))
    assert line == f"ratatoskr: cannot listen on 127.0.0.1, port {port}: Address already in use"


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1", "a" * 300, "a\x1b..b"])
def test_a_host_that_is_none_of_ours_is_one_line(refused, host):
    line = refused("--host", host)
    assert line.startswith("ratatoskr: cannot listen on ")
    assert "None" not in line


def test_a_fault_that_is_none_is_one_line_with_those_that_there_are(refused):
    line = refused("--fault", "nope")
    assert line.startswith("ratatoskr: there is no fault 'nope'; there are empty, bad-json, ")


@pytest.mark.parametrize(
    "options",
    [
        ["--port", "65536"],
        ["--port", "x"],
        ["--host", ""],
        ["--at", "0"],
        ["--events", "0"],
        ["--pace", "-1"],
        ["--pace", "nan"],
        ["--pace", "3601"],
        ["--speed", "0"],
        ["--speed", "nan"],
        ["--chunk-size", "0"],
    ],
)
def test_a_value_out_of_range_is_one_line(refused, options):
    assert options[0] in refused(*options)


def test_a_chunk_size_without_a_replay_is_wrong_usage(refused):
    assert refused("--chunk-size", "1") == "ratatoskr: --chunk-size needs --replay"


def test_a_file_that_is_missing_is_one_line(refused, file):
    line = refused("--replay", str(file))
    assert line == f"ratatoskr: cannot read '{file}': No such file or directory"


def test_a_recording_that_cannot_be_read_is_one_line(refused, file):
    file.write_text(recording(TURN).replace("data", "date", 1))
    line = refused("--replay", str(file))
    assert line == f"ratatoskr: '{file}': line 2 of the recording cannot be read"
