"""Text of a server that would command a terminal, is not text at all, or is far too much of it."""

import json

import pytest
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving

pytestmark = pytest.mark.no_cover  # no line that other tests do not reach

HOSTILE = "\x1b[2J\x1b]0;title\x07\0\b\r\x7f\x85\x9b31m\u2028\u2029\u202e\u2066\ud800[bold][/]"
LITERAL = "[bold]x[/] [/] [link=https://example.com]y[/link] \t %s {} \\x1b ラ\U0001f43f"
DONE = b'id: 93:9\ndata: {"type": "done"}\n\n'


def event(type="text", **fields):
    return b"id: 93:1\ndata: " + json.dumps({"type": type, **fields}).encode() + b"\n\n"


@pytest.fixture
def show(run_main):
    """Runs a command on a server that sends this body."""

    def show(command, body, *options, head=CHUNKED):
        def handler(peer):
            peer.read_request()
            pieces = [body[start : start + 65536] for start in range(0, len(body), 65536)]
            peer.send(head, *map(chunk, pieces), LAST_CHUNK)

        message = ["-m", "Hi"] if command == "turn" else []
        with serving(handler) as server:
            return run_main(command, server.url, *message, *options)

    return show


def is_harmless(data):
    return all(char.isprintable() or char in "\t\n" for char in data.decode())


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_text_of_a_turn_is_escaped(show, ascii_only):
    text = HOSTILE if ascii_only else HOSTILE.replace("\ud800", "")
    body = json.dumps({"type": "text", "text": text}, ensure_ascii=ascii_only).encode()
    run = show("turn", b"id: 93:1\ndata: " + body + b"\n\n" + DONE)
    assert run.stdout.decode() == repr(text)[1:-1]
    assert (run.said, run.code) == (["[done]"], 0)


def test_markup_is_literal(show):
    assert show("turn", event(text=LITERAL) + DONE).stdout.decode() == LITERAL


def test_a_turn_in_json_is_ascii_and_whole(show):
    run = show("turn", event(text=HOSTILE) + DONE, "--json")
    assert run.lines[0]["body"]["text"] == HOSTILE
    assert run.stdout.isascii()
    assert is_harmless(run.stdout)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (event("error", message=HOSTILE), 23),
        (event(HOSTILE) + DONE, 0),
        (event("tool", **{HOSTILE: HOSTILE}) + DONE, 0),
        (f"data: {HOSTILE}\n\n".encode(errors="replace"), 22),
        (f"id: {HOSTILE.replace(chr(0), '')}\ndata: x\n\n".encode(errors="replace"), 22),
        (b"data: \xff\xfe\n\n", 22),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_labels_are_harmless_lines(show, body, code, options):
    run = show("turn", body, *options)
    assert run.code == code
    assert all(line.isprintable() for line in run.said)
    assert is_harmless(run.stdout)


@pytest.mark.parametrize("command", ["turn", "tail"])
def test_the_body_of_a_refusal_is_a_harmless_line(show, command):
    head = b"HTTP/1.1 400 \x1b[31m\r\nTransfer-Encoding: chunked\r\nX-A: \x9b\r\n\r\n"
    run = show(command, HOSTILE.encode(errors="replace") + b"\n" * 9, head=head)
    assert (len(run.said), run.code) == (1, 20)
    assert run.said[0].isprintable()


@pytest.mark.parametrize("field", ["event: ", "id: ", "data: ", ": ", "retry: ", "other: ", ""])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_every_field_of_a_stream_is_escaped(show, field, options):
    stream = f"{field}a{HOSTILE}\ndata: x\n\n".encode(errors="replace")
    run = show("tail", stream + b"data: \xed\xa0\x80\xff\n\n", *options)
    assert is_harmless(run.stdout)
    assert (run.stderr, run.code) == (b"", 0)


def test_a_line_of_a_stream_is_shown_with_its_escapes(show):
    run = show("tail", b"event: \x1b[31m\nid: \xe2\x80\xae\ndata: \x07[bold]\n: \x9b\n\n")
    lines = [rb"event: \x1b[31m", rb"id: \u202e", rb"data: \x07[bold]", b"", b""]
    assert run.stdout == b": \xef\xbf\xbd\n" + b"\n".join(lines)


# Too much


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_word_of_5_mb_is_shown_whole(show, options):
    word = "x" * 5_000_000
    run = show("turn", event(text=word) + DONE, *options)
    text = run.lines[0]["body"]["text"] if options else run.stdout.decode()
    assert text == word
    assert (run.said, run.code) == (["[done]"], 0)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_frame_of_5_mb_is_shown_whole(show, options):
    run = show("tail", b"data: " + b"x" * 5_000_000 + b"\n\n", *options)
    assert run.stdout.count(b"x") == 5_000_000
    assert run.code == 0


def test_an_error_and_an_unknown_event_of_5_mb_are_said_in_a_line(show):
    word = "x" * 5_000_000
    run = show("turn", event(word) + event("tool", text=word) + event("error", message="no"))
    assert [len(line) < 1000 for line in run.said] == [True] * 3
    assert run.said[-1] == "[error] message='no'"


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("type", ["text", "tool"])
def test_json_that_is_nested_900_deep_is_shown(show, type, options):
    nested = b"[" * 900 + b"]" * 900
    frame = b'id: 93:1\ndata: {"type": "%s", "text": "Hi", "deep": %s}\n\n'
    run = show("turn", frame % (type.encode(), nested) + DONE, *options)
    assert (run.said[-1], run.code) == ("[done]", 0)
    if options:
        assert run.lines[0]["type"] == type
    elif type == "text":
        assert run.stdout == b"Hi"


def test_a_body_that_cannot_be_written_is_shown_as_it_began(show, monkeypatch):
    def encode(self, value, encode=json.JSONEncoder.encode):
        if "body" in value:
            raise RecursionError
        return encode(self, value)

    monkeypatch.setattr(json.JSONEncoder, "encode", encode)
    run = show("turn", event(text="x" * 300) + DONE, "--json", "--unicode")
    raw = event(text="x" * 300).decode().partition("data: ")[2][:200]
    assert run.lines[0] == {"type": "text", "sse_id": "93:1", "raw": raw}
    assert (run.said, run.code) == (["[done]"], 0)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_json_that_is_nested_too_deep_is_malformed(show, options):
    run = show("turn", b"id: 93:1\ndata: " + b"[" * 200_000 + b"\n\n", *options)
    assert run.said == [f"[malformed_sse_data] raw='{'[' * 200}'"]
    assert run.code == 22
