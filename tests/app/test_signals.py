"""Signals that end the command: files are closed, and a terminal is left as it was."""

import contextlib
import os
import signal
import threading

import pytest
from support.raw_server import CHUNKED, chunk, serving

from ratatoskr.cli.signals import ending_as_by_ctrl_c
from ratatoskr_proto import encode_event

termios = pytest.importorskip("termios", reason="needs the signals and terminals of POSIX")

HI = chunk(encode_event('{"type": "text", "text": "Hi"}', id="42:1"))

pytestmark = pytest.mark.usefixtures("heed_ctrl_c")


def sends_and_waits(peer):
    peer.read_request()
    peer.send(CHUNKED, HI)
    peer.wait_for_close()


@pytest.mark.parametrize(
    ("number", "code", "transport"),
    [
        (signal.SIGINT, 130, "anyio"),
        (signal.SIGTERM, -signal.SIGTERM, "trio"),
        (signal.SIGHUP, -signal.SIGHUP, "anyio"),
    ],
)
def test_a_stream_ends_with_its_summary_its_recording_and_a_line(
    start, tmp_path, number, code, transport
):
    file = tmp_path / "stream.jsonl"
    options = ["--summary", "--record", str(file), "--transport", transport]
    with serving(sends_and_waits) as server:
        process = start("tail", server.url, *options, bufsize=0)
        assert process.stdout.read(1)
        process.send_signal(number)
        assert process.wait() == code
        said = process.stderr.read().decode().splitlines()
    assert said[0].startswith("1 frames, ")
    assert said[1:] == ["ratatoskr: interrupted"]
    assert file.read_text().splitlines()[-1] == '{"end": "closed"}'


def test_ctrl_c_before_there_is_an_answer_ends_it_with_a_line(start):
    def handler(peer):
        peer.read_request()
        peer.server.signal.set()
        peer.wait_for_close()

    with serving(handler) as server:
        process = start("turn", server.url, "-m", "Hi")
        server.wait_for_signal()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b"ratatoskr: interrupted\n"


def test_the_app_reads_on_after_bytes_that_are_not_utf_8_and_gives_the_terminal_back(start):
    controller, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
    process = start("tui", "http://127.0.0.1:9/", env={"TERM": "xterm"}, **streams)
    os.close(terminal)
    screen = b""
    with open(controller, "r+b", buffering=0) as output:
        while b"Enter" not in screen:  # of the footer: the app is there
            screen += output.read(65536)
        assert b"\x1b[?1049h" in screen
        assert b"Z" not in screen
        output.write(b"\xff" + bytes(5000) + b"Z")  # more than one read takes
        while b"Z" not in screen:
            screen += output.read(65536)
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(OSError):  # on Linux, the end of a terminal
            while more := output.read(65536):
                screen += more
    assert b"\x1b[?1049l" in screen
    assert process.wait() == -signal.SIGTERM


@pytest.mark.parametrize("ignored", [signal.SIGINT, signal.SIGTERM])
def test_what_the_process_ignores_is_left_so(ignored):
    before = signal.signal(ignored, signal.SIG_IGN)
    try:
        with ending_as_by_ctrl_c():
            assert signal.getsignal(signal.SIGTERM) is (
                signal.SIG_IGN if ignored == signal.SIGTERM else signal.SIG_DFL
            )
            assert signal.getsignal(ignored) is signal.SIG_IGN
    finally:
        signal.signal(ignored, before)


def test_handlers_are_given_back_after_the_block():
    with ending_as_by_ctrl_c():
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_thread_that_is_not_the_main_one_has_no_handlers():
    def run():
        with ending_as_by_ctrl_c():
            handlers.append(signal.getsignal(signal.SIGTERM))

    handlers = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert handlers == [signal.SIG_DFL]


def test_a_signal_in_the_block_interrupts_it_and_comes_again_after_it(monkeypatch):
    raised = []
    raise_signal = signal.raise_signal

    def raise_and_note(number):
        raised.append(number)
        if number == signal.SIGINT:
            raise_signal(number)

    monkeypatch.setattr(signal, "raise_signal", raise_and_note)
    with pytest.raises(KeyboardInterrupt), ending_as_by_ctrl_c():
        os.kill(os.getpid(), signal.SIGHUP)
    assert raised == [signal.SIGINT, signal.SIGHUP]
