"""The examples run against a server on loopback: each as its readers would start it and, at less
cost, in this process.
"""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from support.frames import chunk, frame
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr_proto import encode_event

EXAMPLES = Path(__file__).parents[2] / "examples"
TURNS = ["asyncio_protocol", "blocking_thread", "selectors_loop"]
TIMEOUT = 30
# Settings that would change the output of a process, or lead it away from loopback.
UNWANTED = {"PYTHONIOENCODING", "PYTHONUTF8", "PYTHONDEVMODE", "HTTP_PROXY", "HTTPS_PROXY"}


HELLO = frame(1, type="text", text="Hel\x1b") + encode_event("", id="42:2")
REST = frame(3, type="text", text="lo") + frame(4, type="done")


def run(example, *arguments, **env):
    """The exit code of an example and the lines on its stdout. It says nothing on stderr."""
    wanted = {name: os.environ[name] for name in os.environ if name.upper() not in UNWANTED}
    process = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{example}.py", *arguments],
        env=wanted | {"NO_PROXY": "127.0.0.1"} | env,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert process.stderr == ""
    return process.returncode, process.stdout.split("\n")[:-1]


@pytest.fixture
def run_here(capsys, monkeypatch):
    """Runs an example in this process; gives the same as ``run``."""

    def run_here(example, *arguments, **env):
        path = EXAMPLES / f"{example}.py"
        with monkeypatch.context() as patch:
            patch.setattr("sys.argv", [str(path), *arguments])
            patch.syspath_prepend(EXAMPLES)
            for name, value in env.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as end:
                runpy.run_path(str(path), run_name="__main__")
        out, err = capsys.readouterr()
        assert err == ""
        return int(end.value.code), out.split("\n")[:-1]

    return run_here


def sends(*pieces):
    """A handler that takes any request and answers it with these pieces."""

    def handler(peer):
        peer.read_request()
        peer.send(*pieces)

    return handler


GOOD = sends(CHUNKED, chunk(HELLO), chunk(REST), LAST_CHUNK)
CUT = sends(CHUNKED, chunk(HELLO), chunk(REST)[:40])


@pytest.mark.parametrize("example", TURNS)
def test_turn(example):
    with serving(GOOD) as server:
        code, lines = run(example, server.url)
    assert (code, lines[0]) == (0, "Hel\\x1blo")
    assert lines[1].startswith("[Done(")
    assert len(lines) == 2


@pytest.mark.parametrize("example", TURNS)
def test_turn_that_is_cut(example, run_here):
    with serving(CUT) as server:
        code, lines = run_here(example, server.url)
    assert (code, lines[0]) == (1, "Hel\\x1b")
    assert lines[1].startswith("[SseConnectionDropped(")
    assert "cut body; unfinished event lost" in lines[1]


@pytest.mark.parametrize("example", TURNS)
def test_turn_without_a_server(example, nobody_listens, run_here):
    code, lines = run_here(example, nobody_listens)
    assert code == 1
    assert lines[1].startswith("[SseConnectFailed(")


@pytest.mark.parametrize("example", [name for name in TURNS if name != "selectors_loop"])
def test_turn_over_tls(example, authority, tls, tmp_path, run_here):
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(trusted)
    with serving(GOOD, tls) as server:
        assert run_here(example, server.url, SSL_CERT_FILE=str(trusted))[0] == 0


def test_turn_over_tls_with_a_certificate_of_nobody_we_know(tls, run_here):
    with serving(GOOD, tls) as server:
        code, lines = run_here("blocking_thread", server.url)
    assert (code, "unreachable" in lines[1]) == (1, True)


NEWS = encode_event("one", event="news", id="7") + encode_event("two\nlines")


def test_other_server():
    asked_from = []

    def handler(peer):
        peer.read_request()
        asked_from.append(peer.header("last-event-id"))
        peer.send(CHUNKED, chunk(NEWS), LAST_CHUNK)

    with serving(handler) as server:
        code, lines = run("other_server", server.url, "6")
    assert (code, asked_from) == (0, ["6"])
    assert lines == ["'7' 'news' 'one'", r"'7' 'message' 'two\nlines'", lines[-1]]
    assert lines[-1] == "[end of stream] resume from '7'"


def test_other_server_that_is_cut(run_here):
    with serving(sends(CHUNKED, chunk(NEWS)[:-4])) as server:
        code, lines = run_here("other_server", server.url)
    assert code == 1
    assert lines[0] == "'7' 'news' 'one'"
    assert "cut body" in lines[-1]
    assert lines[-1].endswith("resume from '7'")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short_enough_to_be_read(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 64
