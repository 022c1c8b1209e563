"""``ratatoskr turn`` and ``tail`` as processes: pipes, signals, encodings, servers that die."""

import json
import os

import pytest
from support.frames import chunk, done
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr_proto import encode_event

if os.name != "posix":
    pytest.skip("needs the pipes and signals of POSIX", allow_module_level=True)

TIMEOUT = 30
FAST = ["--transport", "anyio"]  # httpx takes twice as long to import
HI = chunk(encode_event('{"type": "text", "text": "Hi"}', id="42:1"))
DONE = chunk(done(2))


# As it comes


@pytest.mark.parametrize(
    "command", [["turn", "-m", "Hi", *FAST], ["tail", "--json", *FAST]], ids=["turn", "tail"]
)
def test_a_frame_is_shown_before_the_next_is_sent(start, command):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED)
        for seq in (1, 2):
            body = json.dumps({"type": "text", "text": f"<{seq}>\n"})
            peer.send(chunk(encode_event(body, id=f"42:{seq}")))
            peer.server.wait_for_signal()
            peer.server.signal.clear()
        peer.send(DONE, LAST_CHUNK)

    with serving(handler) as server:
        process = start(*command, server.url, bufsize=0)
        for seq in (1, 2):
            while b"<%d>" % seq not in process.stdout.readline():
                assert process.poll() is None
            server.signal.set()
        assert process.wait(TIMEOUT) == 0


# Servers that die


def test_a_server_killed_in_mid_turn_is_a_drop_after_the_last_event(start):
    server = start("serve", "--fault", "stall", "--at", "5", "--pace", "0", bufsize=0)
    url = server.stdout.readline().decode().split()[-1]
    process = start("turn", url, "-m", "Hi", "--json", *FAST, bufsize=0)
    for _ in range(4):
        process.stdout.readline()
    server.kill()
    assert process.wait(TIMEOUT) == 21
    assert process.stderr.read().startswith(b"[connection_dropped] last_sse_id=93:4 reason='")


# Readers that leave


@pytest.mark.parametrize("command", [["turn", "-m", "Hi"], ["tail", "--transport", "trio"]])
def test_a_reader_that_goes_away_ends_it_in_silence(start, command):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED)
        peer.send_until_refused(HI, 10**6)

    with serving(handler) as server:
        process = start(*command, server.url)
        assert process.stdout.read(4)
        process.stdout.close()
        assert process.wait(TIMEOUT) == 0
        assert process.stderr.read() == b""
