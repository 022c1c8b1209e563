"""``ratatoskr tail``: any event stream on the command line."""

import base64
import json

import pytest
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr.cli import console
from ratatoskr_proto import EventStreamDecoder

STREAM = (
    b"retry: 3000\n\n"
    b": hello\n\n"
    b"id: 1\nevent: news\ndata: one\n\n"
    b"data: two\ndata:  lines \ndata\n\n"
    b"id: 2\ndata\n\n"
    b"id\ndata: no id\n\n"
    b"retry: 10\nid: 3\ndata: {}\n\n"
)
SHOWN = """\
retry: 3000
: hello
event: news
id: 1
data: one

data: two
data:  lines\x20
data:\x20

id: 2
data:\x20

id:\x20
data: no id

retry: 10
id: 3
data: {}

"""


def sends(*pieces, heads=None):
    def handler(peer):
        peer.read_request()
        if heads is not None:
            heads.append(peer.head.decode())
        peer.send(CHUNKED, *map(chunk, pieces), LAST_CHUNK)

    return handler


@pytest.fixture
def tail(run_main):
    """Runs ``ratatoskr tail`` in this process against a server that sends these pieces."""

    def tail(*pieces, options=()):
        with serving(sends(*pieces)) as server:
            return run_main("tail", server.url, *options)

    return tail


def decoded(stream):
    return EventStreamDecoder(comments=True).receive_data(stream)


@pytest.mark.parametrize("transport", ["httpx", "anyio", "trio"])
def test_it_shows_frames_ids_comments_and_the_retry_time(tail, transport):
    run = tail(STREAM, options=["--transport", transport])
    assert run.stdout.decode() == SHOWN
    assert (run.said, run.code) == ([], 0)


def test_what_it_shows_does_not_depend_on_the_pieces(tail):
    assert tail(*[bytes([byte]) for byte in STREAM]).stdout.decode() == SHOWN


def test_what_it_shows_is_the_same_stream_again(tail):
    assert decoded(tail(STREAM).stdout) == decoded(STREAM)


def test_json_is_a_line_for_each_frame_comment_and_retry(tail):
    run = tail(STREAM, options=["--json"])
    assert run.lines[:4] == [
        {"retry": 3000},
        {"comment": "hello"},
        {"event": "news", "data": "one", "id": "1"},
        {"event": "message", "data": "two\n lines \n", "id": "1"},
    ]
    assert run.lines[-2:] == [{"retry": 10}, {"event": "message", "data": "{}", "id": "3"}]
    assert len(run.lines) == 8


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_retry_time_after_the_last_frame_is_shown(tail, options):
    run = tail(b"data: x\n\nretry: 7\n", options=options)
    assert b"7" in run.stdout.splitlines()[-1]


def test_an_id_without_data_is_shown_in_its_place(tail):
    stream = b"id: 93:1077\ndata: x\n\nid: 93:1078\n\n: ping\ndata: y\n\n"
    assert tail(stream).stdout == stream


def test_an_id_without_data_is_no_frame_in_json(tail):
    run = tail(b"id: 93:1077\ndata: x\n\nid: 93:1078\n\n", options=["--json"])
    assert run.lines[1:] == [{"id": "93:1078"}]


@pytest.mark.parametrize("digits", [19, 4300, 5000])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_retry_time_of_any_length_is_no_failure(tail, digits, options):
    run = tail(b"retry: " + b"1" * digits + b"\ndata: x\n\n", options=options)
    assert run.code == 0


def test_the_stream_goes_on_after_an_id(run_main):
    heads = []
    with serving(sends(STREAM, heads=heads)) as server:
        assert run_main("tail", server.url, "--last-event-id", "7-é").code == 0
    assert heads[0].startswith("GET ")
    assert "last-event-id: 7-é" in heads[0].lower().split("\r\n")


def test_without_an_id_none_is_sent(run_main):
    heads = []
    with serving(sends(STREAM, heads=heads)) as server:
        run_main("tail", server.url)
    assert "last-event-id" not in heads[0].lower()


@pytest.mark.parametrize("id", ["a\nb", "a\0", "\udcff"])
def test_an_id_that_no_header_can_carry_is_one_line(run_main, id):
    run = run_main("tail", "http://127.0.0.1:9/", "--last-event-id", id)
    assert (len(run.said), run.code) == (1, 2)
    assert run.said[0].startswith("ratatoskr: the value of last-event-id ")


# The end


def test_a_stream_without_any_frame_is_no_failure(tail):
    run = tail()
    assert (run.stdout, run.stderr, run.code) == (b"", b"", 0)


def test_a_stream_that_is_cut_is_21(run_main):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(b"data: x\n\ndata: y"))

    with serving(handler) as server:
        run = run_main("tail", server.url)
    assert (run.stdout, run.code) == (b"data: x\n\n", 21)
    assert run.said[0].startswith("[connection_dropped] last_sse_id=None reason='cut body")


def test_the_label_of_a_loss_has_the_id_to_resume_after(run_main):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(b"id: 7\ndata: x\n\n"))

    with serving(handler) as server:
        run = run_main("tail", server.url)
    assert run.said[0].startswith("[connection_dropped] last_sse_id=None reason='cut body")
    assert run.said[0].endswith(" last_event_id='7'")


@pytest.mark.parametrize("transport", ["httpx", "anyio", "trio"])
def test_a_body_that_ends_within_an_event_is_said_and_no_failure(tail, transport):
    run = tail(b"data: x\n\ndata: y", options=["--transport", transport])
    assert (run.stdout, run.code) == (b"data: x\n\n", 0)
    assert run.said == ["ratatoskr: the stream ended within an event, which is not shown"]


def test_a_body_that_ends_within_an_event_does_not_hold_up_the_figures(tail):
    run = tail(b"data: y", options=["--summary"])
    assert (len(run.said), run.code) == (2, 0)


@pytest.mark.parametrize("transport", ["httpx", "anyio", "trio"])
def test_a_stream_of_any_type_is_read_when_told_so(run_main, transport):
    def handler(peer):
        peer.read_request()
        head = CHUNKED.replace(b"text/event-stream", b"application/json")
        peer.send(head, chunk(b"data: x\n\n"), LAST_CHUNK)

    with serving(handler) as server:
        run = run_main("tail", server.url, "--any-type", "--transport", transport)
        assert (run.stdout, run.said, run.code) == (b"data: x\n\n", [], 0)
        assert run_main("tail", server.url, "--transport", transport).code == 20


def test_an_event_that_is_too_large_is_22(tail):
    run = tail(b"data: 1\n\ndata: 123456\n\n", options=["--max-event-bytes", "10"])
    assert (run.stdout, run.code) == (b"data: 1\n\n", 22)
    assert run.said == ["[event_too_large] limit=10"]


def test_no_stream_is_20(run_main):
    def handler(peer):
        peer.read_request()
        peer.send(b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")

    with serving(handler) as server:
        run = run_main("tail", server.url)
    assert run.said == ["[connect_failed] status=503 reason='status' body='busy'"]
    assert (run.stdout, run.code) == (b"", 20)


# What is shown

FRAMES = (
    b'retry: 5\n\n: hi\nevent: a\nid: 1\ndata: {"x": [1.50, "\\u00e9"]}\n\nid: 2\n\ndata: b\n\n'
)


def test_only_the_frames_with_a_name_are_shown(tail):
    assert tail(FRAMES, options=["--event", "a"]).stdout.startswith(b"event: a\nid: 1\ndata: ")
    assert tail(FRAMES, options=["--event", "message"]).stdout == b"id: 2\ndata: b\n\n"
    run = tail(FRAMES, options=["--event", "a", "--event", "message", "--json"])
    assert [line["event"] for line in run.lines] == ["a", "message"]


def test_times_are_shown_with_each_frame(tail):
    lines = tail(FRAMES, options=["--times"]).stdout.decode().splitlines()
    times = [line for line in lines if line.startswith(": t=")]
    assert len(times) == 2
    assert lines[lines.index(times[0]) + 1] == "event: a"
    shown = tail(FRAMES, options=["--times", "--json"]).lines
    times = [line["t"] for line in shown if "data" in line]
    assert len(times) == 2
    assert all(time >= 0 and time == round(time, 3) for time in times)


def test_pretty_data_is_indented_and_an_event_stream_again(tail):
    run = tail(FRAMES, options=["--pretty"])
    data = '{\n  "x": [\n    1.50,\n    "é"\n  ]\n}'
    assert decoded(run.stdout)[1].data == data
    assert decoded(run.stdout)[2].data == "b"


def test_pretty_json_is_indented(tail):
    run = tail(FRAMES, options=["--pretty", "--json", "--event", "a"])
    assert json.loads(run.stdout) == {"event": "a", "data": {"x": [1.5, "é"]}, "id": "1"}
    assert run.stdout.startswith(b'{\n  "event": "a",\n  "data": {\n')


def test_pretty_is_coloured_on_a_terminal(tail, monkeypatch):
    monkeypatch.setattr(console, "is_terminal", lambda stream: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert b"\x1b[34m" in tail(FRAMES, options=["--pretty"]).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b" not in tail(FRAMES, options=["--pretty"]).stdout
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert b"\x1b" not in tail(FRAMES, options=["--pretty"]).stdout


def test_unicode_is_written_as_it_is_without_what_does_harm(tail):
    stream = 'data: é世\u202e\x9b"\n\n'.encode()
    run = tail(stream, options=["--json", "--unicode"])
    assert run.stdout.decode() == (
        '{"event": "message", "data": "é世\\u202e\\u009b\\"", "id": ""}\n'
    )
    assert run.lines == tail(stream, options=["--json"]).lines


def test_unicode_needs_json(run_main):
    for command in (["tail"], ["turn", "-m", "Hi"]):
        run = run_main(*command, "http://127.0.0.1:9/", "--unicode")
        assert (run.code, run.said) == (
            2,
            ["ratatoskr: --unicode needs --json; other output is not limited to ASCII"],
        )


def test_the_head_of_the_response_is_shown_on_stderr(tail):
    run = tail(b"data: x\n\n", options=["-i"])
    assert run.said == [
        "HTTP status 200",
        "content-type: text/event-stream",
        "transfer-encoding: chunked",
    ]
    assert run.stdout == b"data: x\n\n"


@pytest.mark.parametrize("transport", ["httpx", "anyio", "trio"])
def test_the_head_of_a_refusal_is_shown_too(run_main, transport):
    def handler(peer):
        peer.read_request()
        peer.send(b"HTTP/1.1 503 Busy\r\nX-Why: too \x9b much\r\nContent-Length: 0\r\n\r\n")

    with serving(handler) as server:
        run = run_main("tail", server.url, "-i", "--transport", transport)
    assert run.said[:2] == ["HTTP status 503", "x-why: too \ufffd much"]
    assert (run.said[-1].startswith("[connect_failed]"), run.code) == (True, 20)
    assert run_main("tail", "http://127.0.0.1:9/", "-i").said[0].startswith("[connect_failed]")


@pytest.mark.parametrize("transport", ["httpx", "anyio", "trio"])
def test_it_stops_after_a_time(run_main, tmp_path, transport):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(b"data: x\n\n"))
        peer.wait_for_close()

    file = tmp_path / "stream.jsonl"
    options = ["--max-time", "1", "--record", str(file), "--transport", transport]
    with serving(handler) as server:
        run = run_main("tail", server.url, *options)
    assert (run.stdout, run.said, run.code) == (
        b"data: x\n\n",
        ["ratatoskr: stopped after 1 s"],
        0,
    )
    assert json.loads(file.read_text().splitlines()[-1]) == {"end": "closed"}


def test_without_a_stream_in_that_time_it_is_20(run_main):
    def handler(peer):
        peer.read_request()
        peer.wait_for_close()

    with serving(handler) as server:
        run = run_main("tail", server.url, "--max-time", "0.1")
    assert (run.said, run.code) == (["ratatoskr: stopped after 0.1 s"], 20)


# Figures and recordings


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_summary_is_a_line_of_figures(tail, options):
    run = tail(STREAM, options=["--summary", *options])
    assert run.said[0].startswith(f"5 frames, {len(STREAM)} bytes, ")
    assert "frames/s, longest silence " in run.said[0]
    assert len(run.said) == 1


def test_the_summary_comes_before_the_label_of_a_failure(tail):
    run = tail(b"data: 123456\n\n", options=["--max-event-bytes", "9", "--summary"])
    assert run.said[0].startswith("0 frames, 14 bytes, ")
    assert run.said[1:] == ["[event_too_large] limit=9"]


@pytest.mark.parametrize("options", [[], ["--summary"], ["--json"]])
def test_a_recording_holds_what_came_as_it_came(tail, tmp_path, options):
    file = tmp_path / "stream.jsonl"
    tail(STREAM, options=["--record", str(file), *options])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert b"".join(base64.b64decode(line["data"]) for line in lines[1:-1]) == STREAM
    assert lines[-1] == {"end": "end of stream"}


def test_a_recording_is_decoded_to_the_same_frames(tail, run_main, tmp_path):
    file = str(tmp_path / "stream.jsonl")
    frames = tail(STREAM, options=["--json", "--record", file]).lines
    decoded = run_main("decode", "--wire", "--comments", file).lines
    assert decoded == [line for line in frames if "retry" not in line]
