"""What the commands print where stdout and stderr have some encoding."""

import io
import sys

import pytest
from support.raw_server import CHUNKED, LAST_CHUNK, chunk, serving

from ratatoskr.cli import main
from ratatoskr_proto import encode_event

TEXT = r'{"type": "text", "text": "ラ é🐿\ud800|"}'
DONE = encode_event('{"type": "done"}', id="42:3")


@pytest.fixture
def run(monkeypatch):
    """Runs a command with this encoding; gives the exit code, stdout and stderr as bytes."""

    def run(encoding, *arguments):
        encoding, _, errors = encoding.partition(":")
        out, err = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding, errors or "strict"))
            patch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding, "backslashreplace"))
            code = main(arguments)
            return code, out.getvalue(), err.getvalue()

    return run


def sends(*pieces):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, *map(chunk, pieces), LAST_CHUNK)

    return handler


@pytest.mark.parametrize("encoding", ["ascii", "utf-16"])
def test_lines_of_json_are_ascii_whatever_the_encoding(run, tmp_path, encoding):
    file = tmp_path / "turn.sse"
    file.write_bytes(encode_event('{"type": "text", "text": "ラ"}', id="42:1") + DONE)
    code, out, _ = run(encoding, "decode", str(file))
    assert code == 0
    assert out.splitlines()[0] == (
        b'{"type": "text", "sse_id": "42:1", "body": {"type": "text", "text": "\\u30e9"}, '
        b'"text": "\\u30e9"}'
    )


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [("ascii", r"\u30e9\ud800"), ("utf-16-le", r"ラ\ud800"), ("utf-8", r"ラ\ud800")],
)
def test_labels_are_written_in_any_encoding(run, tmp_path, encoding, raw):
    file = tmp_path / "turn.sse"
    file.write_bytes(encode_event(r'{"type": "error", "message": "ラ\ud800"}', id="42:1"))
    code, _, err = run(encoding, "decode", str(file))
    assert err.decode(encoding).startswith(f"[error] message='{raw}'\n")
    assert code == 23


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("latin-1", "\\u30e9 é\\U0001f43f\\ud800|"),
        ("utf-8:ignore", "ラ é\U0001f43f\\ud800|"),
        ("utf-16", "ラ é\U0001f43f\\ud800|"),
    ],
)
def test_text_is_shown_in_any_encoding(run, encoding, shown):
    frames = [encode_event(TEXT, id=f"42:{seq}") for seq in (1, 2)]
    with serving(sends(*frames, DONE)) as server:
        code, out, _ = run(encoding, "turn", server.url, "-m", "Hi", "--transport", "anyio")
    assert out.decode(encoding.partition(":")[0]) == shown * 2
    assert code == 0


def test_frames_are_shown_in_any_encoding(run):
    with serving(sends("event: ラ\ndata: é\n\n".encode())) as server:
        code, out, _ = run("ascii", "tail", server.url, "--transport", "anyio")
    assert out == b"event: \\u30e9\ndata: \\xe9\n\n"
    assert code == 0
