"""``ratatoskr turn --dialect``: answers as other servers stream them, from the demo server."""

import io
import json
import sys

import pytest
from support.demo import answering
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr.cli import answer
from ratatoskr.demo_server import PATHS, Script
from ratatoskr_proto import encode_event

PATH_OF = PATHS | {"gemini": "/v1beta/models/any:streamGenerateContent?alt=sse"}
MODELS = [dialect for dialect in PATHS if dialect != "turn"]
TRANSPORTS = ["httpx", "anyio", "trio"]
SAID = "All is well, said the squirrel."
STOP = {
    "openai-chat": "stop",
    "openai-responses": "completed",
    "anthropic": "end_turn",
    "gemini": "STOP",
}


@pytest.fixture(scope="module")
def base_url():
    with answering(Script(events=9, pace=0, text=SAID, reasoning="Hm, let me see.")) as base_url:
        yield base_url


@pytest.fixture
def turn(run_main, base_url):
    """Runs ``ratatoskr turn`` in this process at the path of a dialect."""

    def turn(dialect, *options, message=("-m", "Hi")):
        url = base_url + PATH_OF[dialect]
        return run_main("turn", url, "--dialect", dialect, *message, *options)

    return turn


@pytest.fixture
def request_of(run_main):
    """Runs ``ratatoskr turn`` with options; gives the body of its request."""

    def request_of(*options):
        def handler(peer):
            bodies.append(json.loads(peer.read_request()))
            peer.send(CHUNKED, LAST_CHUNK)

        bodies = []
        with serving(handler) as server:
            run_main("turn", server.url, *options)
        return bodies[0]

    return request_of


@pytest.mark.parametrize("dialect", MODELS)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_text_is_on_stdout_and_the_end_on_stderr(turn, dialect, transport):
    run = turn(dialect, "--transport", transport)
    assert run.stdout.decode() == SAID
    assert (run.said, run.code) == ([f"[done] stop_reason='{STOP[dialect]}'"], 0)


@pytest.mark.parametrize("dialect", MODELS)
def test_an_answer_that_ends_early_is_21(turn, dialect):
    run = turn(dialect, "-H", "X-Fault: ends-early")
    assert run.code == 21
    assert run.said[0].startswith("[connection_dropped] last_sse_id=0:")
    assert SAID.startswith(run.stdout.decode())


@pytest.mark.parametrize("dialect", MODELS)
def test_an_error_in_the_stream_is_23(turn, dialect):
    run = turn(dialect, "-H", "X-Fault: error")
    assert (run.said, run.code) == (["[error] message='out of mead'"], 23)


@pytest.mark.parametrize("dialect", MODELS)
def test_json_has_every_event_and_the_recording_decodes_to_the_same(
    turn, run_main, tmp_path, dialect
):
    file = str(tmp_path / "turn.jsonl")
    run = turn(dialect, "--json", "--record", file)
    assert "".join(line["text"] for line in run.lines if line["type"] == "text") == SAID
    assert run.lines[-1]["stop_reason"] == STOP[dialect]
    decoded = run_main("decode", "--dialect", dialect, file)
    assert (decoded.lines, decoded.said[0], decoded.code) == (run.lines, run.said[0], 0)


@pytest.mark.parametrize("dialect", MODELS)
def test_another_dialect_is_guessed(run_main, base_url, dialect):
    run = run_main("turn", base_url + PATH_OF[dialect], "-d", json.dumps(BODIES[dialect]))
    assert run.said[1] == f"ratatoskr: this looks like {dialect}; try --dialect {dialect}"
    assert run.code == 22


# Reasoning


def test_reasoning_is_shown_on_stderr_when_asked_for(turn):
    run = turn("anthropic", "--reasoning")
    assert run.stdout.decode() == SAID
    assert run.said == ["Hm, let me see.", "[done] stop_reason='end_turn'"]


def test_reasoning_text_and_labels_have_lines_of_their_own_where_they_meet(turn, monkeypatch):
    def write_stderr(line, end="\n"):
        shown.append(line + end)

    shown = []
    monkeypatch.setattr(answer, "outputs_meet", lambda: True)
    monkeypatch.setattr(answer, "write_stdout", shown.append)
    monkeypatch.setattr(answer, "write_stderr", write_stderr)
    turn("openai-chat", "--reasoning")
    assert "".join(shown) == f"Hm, let me see.\n{SAID}\n[done] stop_reason='stop'\n"


def test_reasoning_is_dimmed_on_a_terminal(turn, monkeypatch):
    monkeypatch.setattr(answer, "colour_wanted", lambda stream: stream is sys.stderr)
    assert turn("gemini", "--reasoning").said[0].startswith("\x1b[2mHm")


def test_reasoning_after_text_starts_a_line(run_main, monkeypatch):
    def frame(**delta):
        return chunk(encode_event(json.dumps({"choices": [{"delta": delta}]})))

    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, frame(content="a"), frame(reasoning="b\x1b"), frame(content="c"))

    monkeypatch.setattr(answer, "outputs_meet", lambda: True)
    with serving(handler) as server:
        options = ["--dialect", "openai-chat", "--reasoning", "-m", ""]
        run = run_main("turn", server.url, *options)
    assert run.stdout == b"a\nc\n"
    assert run.said[0] == "b\\x1b"


# The request

BODIES = {
    "turn": {"message": "Hi"},
    "openai-chat": {"messages": [{"role": "user", "content": "Hi"}], "stream": True},
    "openai-responses": {"input": [{"role": "user", "content": "Hi"}], "stream": True},
    "anthropic": {
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
        "max_tokens": 1024,
    },
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
}


@pytest.mark.parametrize("dialect", BODIES)
def test_the_message_is_sent_as_the_dialect_has_it(request_of, dialect):
    assert request_of("--dialect", dialect, "-m", "Hi") == BODIES[dialect]


def test_keys_are_added_or_replaced(request_of, tmp_path, monkeypatch):
    openai = ("--dialect", "openai-chat", "-m", "Hi")
    body = BODIES["openai-chat"]
    assert request_of(*openai, "-d", '{"model": "qwen3"}') == body | {"model": "qwen3"}
    assert request_of(*openai, "-d", '{"stream": false}') == body | {"stream": False}
    assert request_of("-m", "Hi", "-d", '{"a": 1}') == {"message": "Hi", "a": 1}
    file = tmp_path / "keys.json"
    file.write_text('{"b": 2}')
    assert request_of("-m", "Hi", "-d", f"@{file}") == {"message": "Hi", "b": 2}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"c": 3}')))
    assert request_of("-m", "Hi", "-d", "@-") == {"message": "Hi", "c": 3}


def test_without_a_message_the_data_is_the_whole_request(request_of):
    assert request_of("--dialect", "gemini", "-d", '{"contents": []}') == {"contents": []}


@pytest.mark.parametrize("data", ["", "{", "[]", "7", "@missing"])
def test_data_that_is_no_object_is_one_line(run_main, data):
    run = run_main("turn", "http://127.0.0.1:9/", "-m", "Hi", "-d", data)
    assert (run.stdout, len(run.said), run.code) == (b"", 1, 2)
    assert "data" in run.said[0]


@pytest.mark.parametrize("dialect", MODELS)
def test_a_dialect_without_ids_cannot_resume(run_main, dialect):
    for options in (
        ["--resume", "93:1"],
        ["--resume", "93:1", "-m", "Hi"],
        ["--reconnect", "-m", "Hi"],
    ):
        run = run_main("turn", "http://127.0.0.1:9/", "--dialect", dialect, *options)
        assert run.said == [
            f"ratatoskr: {options[0]} is for turns; {dialect} cannot resume an answer"
        ]
        assert run.code == 2


def test_a_server_that_wants_a_model_is_heard(run_main):
    with answering(Script(events=3, pace=0, model="qwen3")) as base_url:
        url = base_url + PATHS["openai-chat"]
        run = run_main("turn", url, "--dialect", "openai-chat", "-m", "Hi")
        assert run.code == 20
        assert run.said[0].startswith("[connect_failed] status=4")
        options = ["--dialect", "openai-chat", "-m", "Hi", "-d", '{"model": "qwen3"}']
        assert run_main("turn", url, *options).code == 0
