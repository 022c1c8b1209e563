"""``ratatoskr serve``: what it says, what its options do, how it ends."""

import os
import signal
import socket
from urllib.parse import urlsplit

import anyio
import pytest
from support.demo import TIMEOUT, resume_turn, start_turn

TURN = b'id: 7:1\ndata: {"type": "text", "text": "Hi"}\n\nid: 7:2\ndata: {"type": "done"}\n\n'


@pytest.fixture
def serve(monkeypatch, capsysbinary, run_main):
    """Runs ``ratatoskr serve`` in this process; gives what it says, and what ``client`` returns,
    which is called with the URL of the turns.
    """

    def serve(*options, client):
        said = answer = None

        async def instead_of_waiting_for_ctrl_c():
            nonlocal said, answer
            said = capsysbinary.readouterr().out.decode()
            answer = await anyio.to_thread.run_sync(client, said.split()[2])

        monkeypatch.setattr(anyio, "sleep_forever", instead_of_waiting_for_ctrl_c)
        assert run_main("serve", *options).code == 0
        return said, answer

    return serve


@pytest.fixture
def file(tmp_path):
    return tmp_path / "recorded"


def test_it_says_where_it_listens_and_serves_there(serve):
    def client(url):
        return url, start_turn(url), resume_turn(url, "93:15")

    said, (url, whole, rest) = serve("--pace", "0", "--events", "20", client=client)
    base_url = f"http://127.0.0.1:{urlsplit(url).port}"
    assert said.splitlines() == [
        f"listening on {base_url}/turns",
        f"OPENAI_BASE_URL={base_url}/v1",
        f"ANTHROPIC_BASE_URL={base_url}",
        f"GOOGLE_GEMINI_BASE_URL={base_url}",
    ]
    assert whole.count(b"\n\n") == 20
    assert whole.endswith(rest)


def test_faults_are_those_of_the_options(serve):
    options = ["--fault", "empty", "--fault", "bad-json,keepalive", "--at", "25", "--pace", "0"]
    _, body = serve(*options, client=start_turn)
    assert b"\n\nid: 93:20\ndata: \n\n" in body
    assert b"\n\n: keep-alive\n\nid: 93:25\ndata: not-json\n\n" in body


def test_the_answer_is_that_of_the_options(serve):
    _, body = serve("--text", "Hi", "--reasoning", "Hm", client=start_turn)
    assert [frame.partition(b"data: ")[2] for frame in body.splitlines() if b"data" in frame] == [
        b'{"type": "reasoning", "text": "Hm"}',
        b'{"type": "text", "text": "Hi"}',
        b'{"type": "done", "frames": 3}',
    ]


def test_a_recording_is_replayed(serve, file):
    file.write_bytes(TURN)
    _, body = serve("--replay", str(file), "--speed=1000", "--chunk-size=10", client=start_turn)
    assert body == TURN


@pytest.mark.skipif(os.name != "posix", reason="needs the signals of POSIX")
@pytest.mark.usefixtures("heed_ctrl_c")
def test_ctrl_c_ends_it_with_a_line_while_it_serves(start):
    process = start("serve", "--fault", "stall")
    parts = urlsplit(process.stdout.readline().decode().split()[2])
    process.stdout.close()  # nobody has to listen to what it says
    with socket.create_connection((parts.hostname, parts.port), TIMEOUT) as client:
        client.sendall(b"POST /turns HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1) == b"H"
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
    assert process.stderr.read() == b"ratatoskr: interrupted\n"


@pytest.mark.skipif(os.name != "posix", reason="needs the pipes of POSIX")
def test_it_ends_in_silence_when_its_stdout_is_closed_at_once(run_process, gone):
    run = run_process("serve", stdout=gone)
    assert (run.code, run.stderr) == (0, b"")


# What it refuses


@pytest.fixture
def refused(run_main):
    """The one line that it says instead of listening."""

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
def test_a_host_where_it_cannot_listen_is_one_line(refused, host):
    line = refused("--host", host)
    assert line.startswith("ratatoskr: cannot listen on ")
    assert "None" not in line


def test_an_unknown_fault_is_one_line_that_lists_the_others(refused):
    line = refused("--fault", "nope")
    assert line.startswith(
        "ratatoskr: there is no fault 'nope'; the faults are ends-early, cut-at-frame, "
    )


def test_a_number_of_requests_alone_is_refused(refused):
    line = refused("--fault", "times=2")
    assert line == "ratatoskr: times=2 needs a fault, as in stall,times=2"


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
