"""Frames of somebody else's parser go through the same turn layer."""

import json

import httpx2
import httpx_sse
import pytest
from support.feeding import decode_turn
from support.frames import text

from ratatoskr_proto import (
    MalformedSseId,
    ServerSentEvent,
    SseId,
    Text,
    TurnDecoder,
    encode_event,
)


def test_receive_sse_takes_the_events_of_httpx_sse_and_httpx2():
    body = '{"type":"text","text":"hi"}'
    for kind in (httpx_sse.ServerSentEvent, httpx2.ServerSentEvent, ServerSentEvent):
        decoder = TurnDecoder()
        [event] = decoder.receive_sse(kind(event="message", data=body, id="42:1"))
        assert event == Text("hi", sse_id=SseId(42, 1), body=json.loads(body))


def test_receive_sse_counts_none_as_empty():
    class Frame:
        event = None
        data = None
        id = None

    decoder = TurnDecoder()
    assert decoder.receive_sse(Frame()) == []
    Frame.data = "{}"
    assert decoder.receive_sse(Frame()) == [MalformedSseId("")]


def test_receive_sse_judges_like_receive_data():
    frames = [("1", "42:1"), ("", "42:1"), ('{"type":"done"}', "42:1")]
    for data, id in frames:
        by_frame = TurnDecoder().receive_sse(ServerSentEvent("message", data, id))
        assert by_frame == decode_turn(encode_event(data, id=id)).items


@pytest.mark.parametrize("sse", [None, "data", {"data": ""}, ServerSentEvent("", 5, "")])
def test_receive_sse_of_anything_else_is_a_type_error(sse):
    with pytest.raises(TypeError, match="takes an object whose"):
        TurnDecoder().receive_sse(sse)


def test_feeding_a_decoder_in_both_ways_is_a_runtime_error():
    sse = ServerSentEvent("message", '{"type":"text","text":"a"}', "42:1")
    decoder = TurnDecoder()
    decoder.receive_data(text(1))
    with pytest.raises(RuntimeError, match=r"receive_sse\(\) was called after receive_data\(\)"):
        decoder.receive_sse(sse)
    decoder = TurnDecoder()
    decoder.receive_sse(sse)
    assert decoder.receive_data(b"") == []
    with pytest.raises(RuntimeError, match=r"receive_data\(\) was called after receive_sse\(\)"):
        decoder.receive_data(text(1))
