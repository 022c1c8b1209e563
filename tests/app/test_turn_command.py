"""``ratatoskr turn``: a turn of the demo server on the command line."""

import json
import subprocess
import sys

import pytest
from support.demo import demo_serving, resume_turn, start_turn
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr_proto import TurnDecoder

TRANSPORTS = ["httpx", "anyio", "trio"]


@pytest.fixture(scope="module")
def url():
    with demo_serving(events=40) as url:
        yield url


def texts(body):
    """The text in the body of a turn."""
    events = TurnDecoder().receive_data(body)
    return "".join(event.body["text"] for event in events if event.type == "text")


@pytest.fixture
def turn(run_main, url):
    """Runs ``ratatoskr turn`` in this process; ``query`` is that of the URL."""

    def turn(*options, query=""):
        return run_main("turn", f"{url}{query}", *options)

    return turn


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_text_is_on_stdout_exactly_and_the_label_on_stderr(turn, url, transport):
    run = turn("-m", "Hi", "--transport", transport)
    assert run.stdout.decode() == texts(start_turn(url))
    assert (run.said, run.code) == (["[done]"], 0)


@pytest.mark.parametrize("message", ["Hi", "", "世界樹 \U0001f43f", "a\nb", "-", "@x"])
def test_the_message_is_sent(turn, message):
    run = turn(f"--message={message}", query="?events=2")
    assert run.stdout.decode() == (f"You said: {message}\n\n" if message else "Listen.\n\n")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_json_is_a_line_for_each_event(turn, transport):
    run = turn("-m", "Hi", "--json", "--transport", transport, query="?events=3")
    assert [list(line)[:3] for line in run.lines] == [["type", "sse_id", "body"]] * 3
    assert run.lines[2]["body"] == {"type": "done", "frames": 3}
    assert (run.said, run.code) == (["[done]"], 0)


ENDINGS = [
    ("bad-json", "[malformed_sse_data] raw='not-json'", 22),
    ("bad-id", "[malformed_sse_id] raw='not-an-id'", 22),
    ("flip", "[turn_id_flip] expected=", 22),
    ("huge", "[event_too_large] limit=16777216", 22),
    ("no-done", "[connection_dropped] last_sse_id=", 21),
    ("reset", "[connection_dropped] last_sse_id=", 21),
    ("cut-chunk", "[connection_dropped] last_sse_id=", 21),
    ("error", "[error] message='out of mead'", 23),
    ("status=503", "[connect_failed] status=503 reason='status' body=", 20),
    ("html", "[connect_failed] status=200 reason='content-type' body='<!doctype html>", 20),
]


@pytest.mark.parametrize(
    ("fault", "label", "code", "transport"),
    [
        (*row, transport)
        for row in ENDINGS
        for transport in (TRANSPORTS if row[0] != "huge" else TRANSPORTS[:1])  # 17 MiB
    ],
)
def test_how_it_ended_is_one_line_and_an_exit_code(turn, transport, fault, label, code):
    run = turn("-m", "Hi", "--transport", transport, query=f"?{fault}&at=5&events=9")
    assert run.code == code
    assert run.said[0].startswith(label)
    assert len(run.said) == (2 if fault == "html" else 1)
    assert (" last_sse_id=" in run.said[0]) is (code in (21, 22))
    assert run.stdout.decode().startswith("You said: Hi" if code != 20 else "")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_media_type_that_is_none_of_a_stream_is_named(run_main, transport):
    def handler(peer):
        peer.read_request()
        peer.send(head, LAST_CHUNK)

    def said(content_type):
        nonlocal head
        head = CHUNKED.replace(b"Content-Type: text/event-stream\r\n", content_type)
        return run_main("turn", server.url, "-m", "Hi", "--transport", transport).said[1:]

    head = b""
    with serving(handler) as server:
        assert said(b"Content-Type: text/\xc3\xa9\x9b\r\n") == [
            "ratatoskr: the media type is 'text/é�'; --any-type reads it anyway"
        ]
        assert said(b"") == ["ratatoskr: there is no media type; --any-type reads it anyway"]


def test_a_label_never_shares_a_line_with_text(start, url):
    options = ["-m", "Hi", "--transport", "anyio"]
    process = start("turn", f"{url}?events=7", *options, stderr=subprocess.STDOUT)
    *text, label = process.stdout.read().decode().splitlines()
    assert (text[-1] != "", label) == (True, "[done]")


def test_an_event_above_the_limit_is_an_error(turn):
    run = turn("-m", "x" * 100, "--max-event-bytes", "99", query="?events=2")
    assert (run.said, run.code) == (["[event_too_large] limit=99"], 22)


# Resumption


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_dropped_turn_is_resumed_with_exactly_the_rest(turn, url, transport):
    first = turn("-m", "Hi", "--transport", transport, query="?reset&at=20")
    dropped, last = first.said[0].split(" ")[:2]
    assert (dropped, first.code) == ("[connection_dropped]", 21)
    last = last.removeprefix("last_sse_id=")
    assert last.endswith(":19")
    rest = turn("--resume", last, "--transport", transport)
    assert (rest.said, rest.code) == (["[done]"], 0)
    assert (first.stdout + rest.stdout).decode() == texts(start_turn(url))
    assert rest.stdout.decode() == texts(resume_turn(url, last))


def test_what_was_shown_before_is_not_shown_again_by_a_server_that_repeats_it(run_main):
    def frame(seq, body):
        return chunk(b"id: 93:%d\ndata: %s\n\n" % (seq, json.dumps(body).encode()))

    def handler(peer):
        peer.read_request()
        ids.append(peer.header("last-event-id"))
        texts = [frame(seq, {"type": "text", "text": str(seq)}) for seq in (1, 2, 3, 4)]
        peer.send(CHUNKED, *texts, frame(5, {"type": "done"}), LAST_CHUNK)

    ids = []
    with serving(handler) as server:
        run = run_main("turn", server.url, "--resume", "93:2")
    assert (run.stdout, run.said, ids) == (b"34", ["[done]"], ["93:2"])


def test_a_turn_that_is_not_there_is_20_and_the_server_says_why(turn):
    run = turn("--resume", "1:1")
    assert (len(run.said), run.code) == (1, 20)
    assert run.said[0].startswith("[connect_failed] status=404 ")
    assert "there is no such turn" in run.said[0]


@pytest.mark.parametrize("id", ["", "93", "93:", "93:1 ", "x:1", "-1:1", "93:1\n", "9" * 50])
def test_an_id_that_is_none_is_told_how_it_is_written(turn, id):
    run = turn(f"--resume={id}")
    assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
    assert "an SSE id is written '<turn>:<seq>', such as '42:3'" in run.said[0]


@pytest.mark.parametrize("options", [[], ["-m", "Hi", "--resume", "93:1"]])
def test_it_needs_a_message_or_an_id_and_not_both(turn, options):
    run = turn(*options)
    assert run.said == ["ratatoskr: give a message with -m, or an id with --resume, and not both"]
    assert run.code == 2


def test_an_answer_that_cannot_be_resumed_needs_a_message(turn):
    run = turn("--dialect", "openai-chat")
    assert run.said == ["ratatoskr: give a message with -m, or a request with -d"]
    assert run.code == 2


def test_a_url_is_needed(run_main):
    run = run_main("turn", "-m", "Hi")
    assert (run.said, run.code) == (["ratatoskr: Missing argument 'URL'."], 2)


# Recordings


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_recording_decodes_to_the_same_events(turn, run_main, tmp_path, transport):
    file = str(tmp_path / "turn.jsonl")
    run = turn("-m", "Hi", "--json", "--record", file, "--transport", transport)
    decoded = run_main("decode", file)
    assert len(run.lines) == 40
    assert (decoded.lines, decoded.said[0], decoded.code) == (run.lines, "[done]", 0)


@pytest.mark.parametrize("query", ["?reset", "?cut-chunk", "?no-done", "?bad-json", "?error"])
def test_a_recording_decodes_to_the_same_end(turn, run_main, tmp_path, query):
    file = str(tmp_path / "turn.jsonl")
    run = turn("-m", "Hi", "--json", "--record", file, query=query)
    decoded = run_main("decode", file)
    assert (decoded.lines, decoded.code) == (run.lines, run.code)
    assert run.said[0].startswith(decoded.said[0])


def test_a_recording_holds_no_url_and_no_headers(turn, tmp_path):
    file = tmp_path / "turn.jsonl"
    turn("-m", "Hi", "--record", str(file), "-H", "X-Key: s3cret", query="?events=2")
    lines = [json.loads(line) for line in file.read_text("ascii").splitlines()]
    assert lines[0] == {"ratatoskr_recording": 1, "content_type": "text/event-stream"}
    assert {tuple(line) for line in lines[1:-1]} == {("t", "data")}
    assert lines[-1] == {"end": "end of stream"}
    times = [line["t"] for line in lines[1:-1]]
    assert times[0] == 0
    assert times == sorted(times)


@pytest.mark.parametrize("arguments", [["turn", "-m", "Hi"], ["tail"]])
def test_a_recording_says_that_the_stream_was_left(run_main, url, tmp_path, monkeypatch, arguments):
    file = tmp_path / "turn.jsonl"
    with monkeypatch.context() as context:
        context.setattr(sys, "stdout", None)
        run = run_main(*arguments, url, "--record", str(file))
    assert (run.said, run.code) == ([], 0)
    assert file.read_text("ascii").splitlines()[-1] == '{"end": "closed"}'


@pytest.mark.parametrize("name", ["", "missing/turn.jsonl"])
def test_a_recording_that_cannot_be_written_is_one_line(turn, tmp_path, name):
    run = turn("-m", "Hi", "--record", str(tmp_path / name))
    assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
    assert run.said[0].startswith(f"ratatoskr: cannot write '{tmp_path / name}': ")


def test_a_recording_does_not_go_to_stdout(turn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = turn("-m", "Hi", "--record", "-")
    assert (run.stdout, run.code) == (b"", 2)
    assert run.said == ["ratatoskr: cannot write a recording to stdout, where the answer goes"]
    assert list(tmp_path.iterdir()) == []


def test_a_recording_on_a_full_disk_is_one_line(turn):
    run = turn("-m", "Hi", "--record", "/dev/full")
    assert run.said == ["ratatoskr: cannot write '/dev/full': No space left on device"]
    assert run.code == 2
