"""A turn that goes well, and one that is resumed, over every adapter."""

import json

from support.adapters import every_adapter
from support.frames import chunk, done, text
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr_proto import TurnState, encode_event

TURN = [text(1, "Hi"), encode_event("", id="42:2"), done(3)]


@every_adapter
def test_turn_comes_to_its_end(adapter):
    requests = []

    def handler(peer):
        requests.append((peer.read_request(), peer.head))
        peer.send(CHUNKED, *map(chunk, TURN), LAST_CHUNK)

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, json={"message": "Hello"})
    assert [event.type for event in outcome.items] == ["text", "done"]
    assert outcome.error is None
    stream = outcome.stream
    assert (stream.state, stream.last_sse_id, stream.turn_id) == (TurnState.DONE, (42, 3), 42)
    assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")
    [(body, head)] = requests
    assert json.loads(body) == {"message": "Hello"}
    assert head.startswith(b"POST /turns HTTP/1.1\r\n")
    lines = head.lower().split(b"\r\n")
    assert b"accept: text/event-stream" in lines
    assert b"accept-encoding: identity" in lines
    assert b"content-type: application/json" in lines


@every_adapter
def test_resumed_turn_drops_what_is_sent_again(adapter):
    ids = []

    def handler(peer):
        peer.read_request()
        ids.append(peer.header("last-event-id"))
        peer.send(CHUNKED, *map(chunk, TURN), LAST_CHUNK)

    with serving(handler) as server:
        outcome = adapter.run_resumed(server.url, "42:1")
    assert ids == ["42:1"]
    assert [event.type for event in outcome.items] == ["done"]
