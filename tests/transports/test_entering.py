"""A stream connects when it is entered, and not before."""

import pytest
from support.adapters import every_adapter
from support.frames import chunk, done
from support.modes import play
from support.raw_server import CHUNKED, LAST_CHUNK, serving

from ratatoskr_proto import SseConnectionDropped, SseId

DONE = done(2, turn=7)


@every_adapter
def test_stream_must_be_entered_before_it_is_read(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(DONE), LAST_CHUNK)

    async def scenario(open_stream, server):
        turn = open_stream("stream_turn", server.url)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="with' first"):
                await anext(turn)
        assert server.connections == 0
        async with turn:
            await turn.__aenter__()  # is open already
            assert [event.type async for event in turn] == ["done"]
        assert server.connections == 1

    with serving(handler) as server:
        play(adapter, scenario, server)


@every_adapter
def test_stream_closed_before_it_was_entered_connects_to_nothing(adapter):
    async def scenario(open_stream, server):
        cases = [
            (open_stream("stream_turn", server.url), None),
            (open_stream("reconnect_turn", server.url, "7:1"), SseId(7, 1)),
            (open_stream("stream_events", server.url), None),
        ]
        for stream, point in cases:
            await stream.aclose()
            with pytest.raises(SseConnectionDropped) as caught:
                await stream.__aenter__()
            assert caught.value == SseConnectionDropped(point, "closed")
        assert server.connections == 0

    with serving(lambda peer: None) as server:
        play(adapter, scenario, server)
