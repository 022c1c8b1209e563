"""Watching where an event stream changes its id or its retry time without an event."""

import pytest
from support.feeding import chunkings
from support.modes import AsyncFace, every_mode
from support.reconnecting import World, busy

from ratatoskr_proto import SseConnectionDropped
from ratatoskr_transports import EventStream, SyncEventStream
from ratatoskr_transports.testing import SyncScriptedSource

WIRE = (
    b"retry: 10\n: a\nid: 1\n\n"  # a time and an id without an event
    b"retry: 10\n\nid: 1\n\n"  # which are no change
    b"id: 2\r\nretry: 20\r\ndata: b\r\n\r\n"  # the time comes first, and the id with the event
    b"data: c\n\n: d\rid\r\rdata: e\r\r"  # no id any more
    b"id: 3\n\nretry: 30\nid: 4\ndata: never"
)
SEEN = [
    ("", 10),
    "a",
    ("1", 10),
    ("1", 20),
    ("b", "2"),
    ("c", "2"),
    "d",
    ("", 20),
    ("e", ""),
    ("3", 20),
    ("3", 30),
]


def shown(item):
    return item.text if hasattr(item, "text") else (item.data, item.id)


def test_changes_stand_in_their_place_for_every_chunking():
    for chunks in chunkings(WIRE):
        seen = []
        source = SyncScriptedSource(filter(None, chunks))  # an empty one would be the end
        stream = SyncEventStream(source, comments=True)
        stream.watch(lambda *change, seen=seen: seen.append(change))
        for item in stream:
            seen.append(shown(item))
        assert seen == SEEN


@every_mode
def test_change_is_seen_in_its_turn_and_the_stream_says_the_same(mode):
    async def main():
        kind = SyncEventStream if mode.sync else EventStream
        stream = AsyncFace(kind(mode.source(WIRE), comments=True))
        seen = []
        stream.watch(lambda *change: seen.append((*change, stream.last_event_id)))
        assert shown(await anext(stream)) == "a"
        assert seen == [("", 10, "")]
        assert shown(await anext(stream)) == ("b", "2")
        assert seen == [("", 10, ""), ("1", 10, "1"), ("1", 20, "1")]

    mode.run(main)


@every_mode
def test_changes_are_told_over_all_connections(mode):
    async def main():
        connections = [[b"retry: 10\nid: 1\n\n"], [b"retry: 10\n\nid: 2\n\n"], busy(204)]
        stream = World(mode, *connections).events()
        seen = []
        stream.watch(lambda *change: seen.append(change))
        async with stream:
            assert [item async for item in stream] == []
        assert seen == [("", 10), ("1", 10), ("2", 10)]

    mode.run(main)


@every_mode
@pytest.mark.parametrize(
    ("bug", "expected"), [(ZeroDivisionError(), ZeroDivisionError), (StopIteration(), RuntimeError)]
)
def test_exception_of_the_watcher_closes_the_stream_and_comes_through(mode, bug, expected):
    def fail(*change):
        raise bug

    async def main():
        kind = SyncEventStream if mode.sync else EventStream
        source = mode.source(b"data: a\n\nid: 1\n\ndata: b\n\n")
        async with AsyncFace(kind(source)) as stream:
            stream.watch(fail)
            assert shown(await anext(stream)) == ("a", "")
            with pytest.raises(RuntimeError, match="before the first item"):
                stream.watch(fail)
            with pytest.raises(expected):
                await anext(stream)
            with pytest.raises(SseConnectionDropped, match="closed"):
                await anext(stream)

    mode.run(main)


def test_watcher_that_closes_the_stream_is_handed_out_no_more():
    source = SyncScriptedSource([b"data: a\n\nid: 1\n\ndata: b\n\n"])
    stream = SyncEventStream(source)
    stream.watch(lambda *change: stream.close())
    assert shown(next(stream)) == ("a", "")
    for _ in range(2):
        with pytest.raises(SseConnectionDropped, match="closed"):
            next(stream)
    assert source.closed


async def changed_async(last_event_id, retry_ms):
    raise AssertionError


@pytest.mark.parametrize(
    ("callback", "words"), [(None, "not NoneType"), (5, "not int"), (changed_async, "not an async")]
)
@pytest.mark.parametrize(("method", "name"), [("watch", "changed"), ("tap", "receive")])
def test_callback_is_a_plain_function(method, name, callback, words):
    stream = SyncEventStream(SyncScriptedSource([]))
    with pytest.raises(TypeError, match=f"{name} must be a plain function, {words}"):
        getattr(stream, method)(callback)
