"""``ratatoskr serve`` as a process: where it listens, how it ends, what it replays."""

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
TURN = b'id: 7:1\ndata: {"type": "text", "text": "Hi"}\n\nid: 7:2\ndata: {"type": "done"}\n\n'


@pytest.fixture
def serve(start):
    """Starts ``ratatoskr serve``; gives the process and the URL of its turns."""

    def serve(*options):
        process = start("serve", *options)
        words = process.stdout.readline().decode().split()
        assert words[:2] == ["listening", "on"]
        return process, words[2]

    return serve


@pytest.fixture
def file(tmp_path):
    return tmp_path / "recorded"


def test_it_says_where_it_listens_and_serves_there(serve):
    process, url = serve("--pace", "0", "--events", "20")
    assert urlsplit(url).hostname == "127.0.0.1"
    base_url = url.removesuffix("/turns")
    assert [process.stdout.readline().decode() for _ in range(3)] == [
        f"OPENAI_BASE_URL={base_url}/v1\n",
        f"ANTHROPIC_BASE_URL={base_url}\n",
        f"GOOGLE_GEMINI_BASE_URL={base_url}\n",
    ]
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


def test_it_goes_on_when_its_stdout_is_closed(serve):
    process, url = serve("--pace", "0", "--events", "20")
    process.stdout.close()
    assert start_turn(url).endswith(b'{"type": "done", "frames": 20}\n\n')


def test_a_recording_is_replayed(serve, file):
    file.write_bytes(TURN)
    _, url = serve("--replay", str(file), "--speed", "1000", "--chunk-size", "10")
    assert start_turn(url) == TURN


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


def test_an_unknown_fault_is_one_line_that_lists_the_others(refused):
    line = refused("--fault", "nope")
    assert line.startswith(
        "ratatoskr: there is no fault 'nope'; the faults are ends-early, cut-at-frame, "
    )


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


def test_a_text_that_is_not_utf_8_is_one_line(refused):
    assert refused("--text", "\udcff") == "ratatoskr: text must not contain a lone surrogate"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--chunk-size=1"], "--chunk-size needs --replay"),
        (["--speed=1"], "--speed needs --replay"),
        (["--at=5"], "--at needs a fault that happens at a frame"),
        (["--at=5", "--fault=slow"], "--at needs a fault that happens at a frame"),
        (["--fault=status=503,at=5"], "--at needs a fault that happens at a frame"),
        (
            ["--at=1101", "--fault=reset"],
            "--at 1101 is after the end: an answer has 1100 frames",
        ),
        (
            ["--at=21", "--fault=reset", "--events=20"],
            "--at 21 is after the end: an answer has 20 frames",
        ),
        # One of OpenAI's responses is the longest.
        (
            ["--at=9", "--fault=reset", "--text=Hi"],
            "--at 9 is after the end: an answer has 8 frames",
        ),
        *(
            (["--replay=x", option], f"{option.split('=')[0]} does not go with --replay")
            for option in (
                "--fault=reset",
                "--at=1",
                "--events=9",
                "--pace=0",
                "--text=Hi",
                "--reasoning=Hm",
                "--model=m",
            )
        ),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_options_that_would_do_nothing_are_wrong_usage(refused, options, line):
    assert refused(*options) == f"ratatoskr: {line}"


def test_a_file_that_is_missing_is_one_line(refused, file):
    line = refused("--replay", str(file))
    assert line == f"ratatoskr: cannot read '{file}': No such file or directory"


def test_a_recording_that_cannot_be_read_is_one_line(refused, file):
    file.write_text('{"ratatoskr_recording": 1}\n{"t": 0.0, "date": ""}\n')
    line = refused("--replay", str(file))
    assert line == f"ratatoskr: '{file}': line 2 of the recording cannot be read"
