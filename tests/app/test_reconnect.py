"""``--reconnect`` of ``ratatoskr turn`` and ``tail``: a stream that is lost is resumed."""

import json
import re
import signal

import pytest
from support.demo import demo_serving, start_turn
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr.cli import answer, connect
from ratatoskr_proto import ReconnectPolicy, TurnDecoder

TRANSPORTS = ["httpx", "anyio", "trio"]
NO_CONTENT = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy"
BOM = b"\xef\xbb\xbf"
DONE = b'id: 93:4\ndata: {"type": "done"}\n\n'


@pytest.fixture(autouse=True)
def in_no_time(monkeypatch):
    policy = ReconnectPolicy(attempts=2, floor=0.001, ceiling=0.01)
    monkeypatch.setattr(connect, "POLICY", policy)


def text(seq):
    return b'id: 93:%d\ndata: {"type": "text", "text": "<%d>"}\n\n' % (seq, seq)


def answering(*answers, requests=None):
    """A handler with an answer for each connection, the last for all the others: the head of an
    answer, or the chunks of a stream, which ends well if None is the last of them.
    """

    def handler(peer):
        number = peer.server.connections
        peer.read_request()
        if requests is not None:
            requests.append((peer.head.split()[0].decode(), peer.header("last-event-id")))
        answer = answers[min(number, len(answers)) - 1]
        if isinstance(answer, bytes):
            peer.send(answer)
            return
        chunks = [LAST_CHUNK if piece is None else chunk(piece) for piece in answer]
        peer.send(CHUNKED, *chunks)

    return handler


# A turn


@pytest.fixture(scope="module")
def url():
    with demo_serving("drop-every=4", events=10) as url:
        yield url


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_turn_that_drops_again_and_again_comes_whole(run_main, url, transport):
    with demo_serving(events=10) as whole:
        events = TurnDecoder().receive_data(start_turn(whole))
    run = run_main("turn", url, "-m", "Hi", "--reconnect", "--transport", transport)
    assert run.stdout.decode() == "".join([event.body.get("text", "") for event in events])
    *waits, last = run.said
    assert (last, run.code, len(waits)) == ("[done]", 0, 2)
    for wait, seq in zip(waits, (4, 8), strict=True):
        line = (
            r"\[reconnecting\] seconds=0\.\d{3} \[connection_dropped\] last_sse_id=\d+:%d reason="
        )
        assert re.match(line % seq, wait)


def test_in_json_too_each_event_comes_once_and_in_order(run_main, url):
    run = run_main("turn", url, "-m", "Hi", "--reconnect", "--json")
    seqs = [int(line["sse_id"].partition(":")[2]) for line in run.lines]
    assert (seqs, run.said[-1], run.code) == ([*range(1, 11)], "[done]", 0)


def test_the_message_is_sent_once_and_resumed_with_a_get(run_main):
    requests = []
    answers = [[text(1), text(2)], BUSY, [text(3), DONE, None]]
    with serving(answering(*answers, requests=requests)) as server:
        run = run_main("turn", server.url, "-m", "Hi", "--reconnect")
    assert requests == [("POST", None), ("GET", "93:2"), ("GET", "93:2")]
    assert (run.stdout, run.code) == (b"<1><2><3>", 0)
    assert "[connect_failed] status=503 reason='status' body='busy'" in run.said[1]


def test_a_resumed_turn_goes_on_too(run_main):
    requests = []
    answers = [BUSY, [text(3)], [text(2), text(3), DONE, None]]
    with serving(answering(*answers, requests=requests)) as server:
        run = run_main("turn", server.url, "--resume", "93:2", "--reconnect")
    assert requests == [("GET", "93:2"), ("GET", "93:2"), ("GET", "93:3")]
    assert (run.stdout, run.said[-1], run.code) == (b"<3>", "[done]", 0)


def test_when_it_gives_up_the_label_says_from_where_to_resume(run_main):
    with serving(answering([text(1), None], BUSY)) as server:
        run = run_main("turn", server.url, "-m", "Hi", "--reconnect")
    reason = "end of stream; reconnect failed: status 503"
    assert run.said[2:] == [f"[connection_dropped] last_sse_id=93:1 reason='{reason}'"]
    assert (run.stdout, run.code) == (b"<1>", 21)


@pytest.mark.parametrize(
    ("answer", "code"),
    [([None], 21), (BUSY, 20), ([b"id: 93:1\ndata: nonsense\n\n"], 22)],
    ids=["before the first event", "refused", "protocol"],
)
def test_what_another_try_does_not_change_is_final_at_once(run_main, answer, code):
    with serving(answering(answer)) as server:
        run = run_main("turn", server.url, "-m", "Hi", "--reconnect")
        assert (len(run.said), run.code, server.connections) == (1, code, 1)


def test_on_a_terminal_the_wait_has_a_line_of_its_own(run_main, monkeypatch):
    monkeypatch.setattr(answer, "outputs_meet", lambda: True)
    with serving(answering([text(1)], [text(2), DONE, None])) as server:
        run = run_main("turn", server.url, "-m", "Hi", "--reconnect")
    assert run.stdout == b"<1>\n<2>\n"


@pytest.mark.usefixtures("heed_ctrl_c")
@pytest.mark.parametrize("transport", ["httpx", "trio"])
def test_ctrl_c_ends_a_wait_at_once(run_main, monkeypatch, transport):
    def write_and_interrupt(line, end="\n"):
        write_stderr(line, end)
        if line.startswith("[reconnecting]"):
            signal.raise_signal(signal.SIGINT)

    write_stderr = answer.write_stderr
    monkeypatch.setattr(answer, "write_stderr", write_and_interrupt)
    monkeypatch.setattr(connect, "POLICY", ReconnectPolicy(floor=1000, ceiling=1000))
    with serving(answering([text(1)])) as server:
        run = run_main("turn", server.url, "-m", "Hi", "--reconnect", "--transport", transport)
    assert (run.stdout, run.code) == (b"<1>", 130)
    assert run.said[1:] == ["ratatoskr: interrupted"]


# Recordings

CUT = text(2)[:-10]
LOST = [
    ([text(1) + CUT], [text(2), text(3), DONE, None]),
    ([text(1), CUT], [BOM + text(1) + text(2), text(3)[:5]], [text(3), DONE, None]),
    ([text(1), CUT], BUSY),
    ([text(1), CUT], BUSY, [text(2), CUT], BUSY),
    ([text(1), CUT], [CUT], [CUT], [CUT]),
]


@pytest.mark.parametrize("answers", LOST, ids=["goes on", "replays", "refused", "later", "idle"])
def test_a_recording_decodes_to_the_same_events_and_the_same_end(run_main, tmp_path, answers):
    file = str(tmp_path / "turn.jsonl")
    with serving(answering(*answers)) as server:
        run = run_main("turn", server.url, "-m", "Hi", "--reconnect", "--json", "--record", file)
    decoded = run_main("decode", file)
    assert len(run.lines) == len({line["sse_id"] for line in run.lines})
    assert (decoded.lines, decoded.said[0], decoded.code) == (run.lines, run.said[-1], run.code)


def test_a_recording_says_where_another_connection_begins(run_main, tmp_path):
    file = tmp_path / "turn.jsonl"
    with serving(answering([text(1)], BUSY, [DONE, None])) as server:
        run_main("turn", server.url, "-m", "Hi", "--reconnect", "--record", str(file))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [sorted(line)[0] for line in lines[1:]] == ["data", "reconnects", "data", "end"]
    assert lines[2]["reconnects"] == 2
    assert 0 < lines[2]["t"] <= lines[3]["t"]
    run = run_main("serve", "--replay", str(file))
    assert (len(run.said), run.code) == (1, 2)
    assert "was recorded over more than one connection" in run.said[0]


# Any event stream

FIRST = [b"retry: 3\n\n: hello\n\nid: 1\ndata: one\n\nid: 9\ndata: unfini"]
SECOND = [BOM + b"data: two\n\nid: 3\n\n", None]
THIRD = [b": ping\n\nretry: 4\nid: 4\ndata: four\n\n", None]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_tail_goes_on_after_any_end_until_there_is_no_more(run_main, tmp_path, transport):
    requests = []
    file = str(tmp_path / "stream.jsonl")
    with serving(answering(FIRST, SECOND, THIRD, NO_CONTENT, requests=requests)) as server:
        options = ["--reconnect", "--record", file, "--transport", transport]
        run = run_main("tail", server.url, *options)
    assert requests == [("GET", id) for id in (None, "1", "3", "4")]
    assert run.stdout.decode() == (
        "retry: 3\n: hello\nid: 1\ndata: one\n\n"
        "data: two\n\nid: 3\n\n"
        ": ping\nretry: 4\nid: 4\ndata: four\n\n"
    )
    assert run.code == 0
    assert [line.partition("=")[0] for line in run.said] == ["[reconnecting] seconds"] * 3
    assert [line.rpartition(" ")[2] for line in run.said] == [
        f"last_event_id='{id}'" for id in (1, 3, 4)
    ]
    frames = [(line["data"], line["id"]) for line in run_main("decode", "--wire", file).lines]
    assert frames == [("one", "1"), ("two", "1"), ("four", "4")]


def test_tail_gives_up_after_tries_with_nothing_new(run_main):
    with serving(answering([b"id: 1\ndata: one\n\n", None], BUSY)) as server:
        run = run_main("tail", server.url, "--reconnect", "--json")
    reason = "end of stream; reconnect failed: status 503"
    label = f"[connection_dropped] last_sse_id=None reason='{reason}' last_event_id='1'"
    assert run.said[2:] == [label]
    assert (run.lines, run.code) == ([{"event": "message", "data": "one", "id": "1"}], 21)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_stream_that_was_asked_for_by_post_is_resumed_by_get(run_main, transport):
    requests = []
    handler = answering(
        [b"id: 7\ndata: a\n\n"], [b"data: b\n\n", None], NO_CONTENT, requests=requests
    )
    with serving(handler) as server:
        options = ["-d", "{}", "--reconnect", "--resume-url", server.url, "--transport", transport]
        run = run_main("tail", server.url, *options)
    assert (run.stdout, run.code) == (b"id: 7\ndata: a\n\ndata: b\n\n", 0)
    assert requests == [("POST", None), ("GET", "7"), ("GET", "7")]
