"""The facade exports what an asyncio caller needs, and each name is the one of its package."""

import asyncio

import httpx
import pytest
from support.frames import chunk, frame
from support.raw_server import CHUNKED, LAST_CHUNK, serving

import ratatoskr_proto
import ratatoskr_transports.httpx
from ratatoskr import sse_client
from ratatoskr.sse_client import Done, SseId, Text, Unknown, reconnect_turn, stream_turn
from ratatoskr_proto import RatatoskrError, encode_event

FUNCTIONS = {"stream_turn", "reconnect_turn"}
EVENTS = {"Event", "Text", "Done", "ServerError", "Unknown"}
ERRORS = {
    name
    for name, value in vars(ratatoskr_proto).items()
    if isinstance(value, type) and issubclass(value, RatatoskrError)
}


TURN = [
    frame(1, 93, type="text", text="Hi"),
    encode_event("", id="93:2"),
    frame(3, 93, type="thought"),
    frame(4, 93, type="done"),
]


def test_exported_names_are_those_of_the_guide():
    assert set(sse_client.__all__) == FUNCTIONS | {"SseId"} | EVENTS | ERRORS
    assert len(set(sse_client.__all__)) == len(sse_client.__all__)
    assert len(ERRORS) == 9


@pytest.mark.parametrize("name", sse_client.__all__)
def test_each_name_is_the_one_of_its_package(name):
    home = ratatoskr_transports.httpx if name in FUNCTIONS else ratatoskr_proto
    assert getattr(sse_client, name) is getattr(home, name)


async def read(start, *args, **options):
    async with (
        httpx.AsyncClient(trust_env=False) as client,
        start(client, *args, **options) as turn,
    ):
        return [event async for event in turn]


def test_a_turn_and_its_resumption():
    resumed_from = []

    def handler(peer):
        peer.read_request()
        resumed_from.append(peer.header("last-event-id"))
        peer.send(CHUNKED, *map(chunk, TURN), LAST_CHUNK)

    with serving(handler) as server:
        events = asyncio.run(read(stream_turn, server.url, json={}))
        rest = asyncio.run(read(reconnect_turn, server.url, SseId(93, 1)))
    assert [type(event) for event in events] == [Text, Unknown, Done]
    assert [type(event) for event in rest] == [Unknown, Done]
    assert resumed_from == [None, "93:1"]
