"""``stream_events`` over every adapter: any event stream, without the turn protocol."""

import pytest
from support.adapters import every_adapter
from support.frames import chunk
from support.modes import AsyncFace, every_mode, play
from support.raw_server import CHUNKED, LAST_CHUNK, TO_CLOSE, serving

from ratatoskr_proto import (
    Comment,
    EventTooLarge,
    ServerSentEvent,
    SseConnectFailed,
    SseConnectionDropped,
    encode_event,
)
from ratatoskr_transports import EventStream, SyncEventStream


def answering(*pieces, heads=None):
    def handler(peer):
        peer.read_request()
        if heads is not None:
            heads.append(peer)
        peer.send(*pieces)

    return handler


@every_adapter
def test_events_are_those_of_the_standard(adapter):
    body = b"\xef\xbb\xbf: hi\nevent: greet\ndata: a\ndata: b\nid: 1\n\ndata:c\r\rretry: 70\r\n\r\n"
    with serving(answering(CHUNKED, chunk(body), LAST_CHUNK)) as server:
        outcome = adapter.run_events(server.url)
    assert outcome.items == [
        ServerSentEvent("greet", "a\nb", "1"),
        ServerSentEvent("message", "c", "1"),
    ]
    stream = outcome.stream
    assert (outcome.error, stream.last_event_id, stream.retry_ms) == (None, "1", 70)
    assert (stream.status, stream.headers["content-type"]) == (200, "text/event-stream")


@every_adapter
def test_comments_come_only_if_asked_for(adapter):
    body = b": one\n\ndata: a\n: two\n\n"
    for options, comments in [({}, []), ({"comments": True}, ["one", "two"])]:
        with serving(answering(CHUNKED, chunk(body), LAST_CHUNK)) as server:
            items = adapter.run_events(server.url, **options).items
        assert [item.text for item in items if isinstance(item, Comment)] == comments
        assert ServerSentEvent("message", "a", "") in items


@every_adapter
@pytest.mark.parametrize("last_event_id", ["41", "日本 7", "a b:c"])
def test_last_event_id_goes_out_in_utf_8_and_seeds_the_stream(adapter, last_event_id):
    peers = []
    wire = encode_event("a") + encode_event("b", id="é")
    with serving(answering(CHUNKED, chunk(wire), LAST_CHUNK, heads=peers)) as server:
        outcome = adapter.run_events(server.url, last_event_id=last_event_id)
    assert peers[0].header("last-event-id") == last_event_id  # decoded as UTF-8
    assert [event.id for event in outcome.items] == [last_event_id, "é"]
    assert outcome.stream.last_event_id == "é"


@every_adapter
def test_request_is_a_plain_get_without_a_last_event_id_by_default(adapter):
    peers = []
    with serving(answering(CHUNKED, LAST_CHUNK, heads=peers)) as server:
        outcome = adapter.run_events(server.url)
    assert (outcome.items, outcome.error) == ([], None)
    assert peers[0].head.startswith(b"GET /turns HTTP/1.1\r\n")
    assert peers[0].header("last-event-id") is None
    assert peers[0].body == b""


@every_adapter
def test_request_can_be_a_post_with_json_and_headers(adapter):
    peers = []
    with serving(answering(CHUNKED, LAST_CHUNK, heads=peers)) as server:
        adapter.run_events(server.url, method="POST", json={"a": "é"}, headers={"X-Who": "ü"})
    assert peers[0].head.startswith(b"POST ")
    assert (peers[0].body.decode(), peers[0].header("x-who")) == ('{"a": "é"}', "ü")


@every_adapter
@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "a\0b", "\ud800"])
def test_last_event_id_that_no_header_can_carry_is_refused(adapter, bad):
    async def scenario(open_stream):
        with pytest.raises(ValueError, match="last-event-id"):
            open_stream("stream_events", "http://127.0.0.1:9/", last_event_id=bad)

    play(adapter, scenario)


@every_adapter
def test_clean_end_of_a_body_ends_the_iteration_and_drops_what_is_unfinished(adapter):
    bodies = [[CHUNKED, chunk(b"data: a\n\ndata: lost"), LAST_CHUNK], [TO_CLOSE, b"data: a\n\n"]]
    for pieces in bodies:
        with serving(answering(*pieces)) as server:
            outcome = adapter.run_events(server.url)
        assert ([event.data for event in outcome.items], outcome.error) == (["a"], None)


@every_adapter
@pytest.mark.parametrize("rest", [b"", b"data: lost"], ids=["between-events", "in-an-event"])
def test_cut_body_is_a_dropped_connection(adapter, rest):
    with serving(answering(CHUNKED, chunk(encode_event("a", id="5") + rest))) as server:
        outcome = adapter.run_events(server.url)
    assert [event.data for event in outcome.items] == ["a"]
    error = outcome.error
    assert type(error) is SseConnectionDropped
    assert error.last_sse_id is None
    assert error.reason.split(" (")[0].split(";")[0] == "cut body"
    assert error.reason.endswith("; unfinished event lost") is bool(rest)
    assert outcome.stream.last_event_id == "5"


@every_adapter
def test_event_that_is_too_large_is_raised_and_final(adapter):
    wire = encode_event("a") + encode_event("x" * 100) + encode_event("never")

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url, max_event_bytes=50) as events:
            assert (await anext(events)).data == "a"
            for _ in range(2):
                with pytest.raises(EventTooLarge) as caught:
                    await anext(events)
                assert caught.value == EventTooLarge(50)

    with serving(answering(CHUNKED, chunk(wire), LAST_CHUNK)) as server:
        play(adapter, scenario, server)


@every_adapter
def test_id_and_retry_that_come_without_an_event_count(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(CHUNKED, chunk(encode_event("a", id="1") + b"id: 2\nretry: 9\n\n"))
        peer.server.wait_for_signal()
        peer.reset()

    async def scenario(open_stream, server):
        async with open_stream("stream_events", server.url) as events:
            assert (await anext(events)).id == events.last_event_id == "1"
            server.signal.set()
            with pytest.raises(SseConnectionDropped):
                await anext(events)
            assert (events.last_event_id, events.retry_ms) == ("2", 9)

    with serving(handler) as server:
        play(adapter, scenario, server)


@every_adapter
def test_id_of_an_unfinished_last_block_counts_if_that_is_flushed(adapter):
    rest = encode_event("a", id="1") + b"id: 2"
    with serving(answering(TO_CLOSE, rest)) as server:
        for flush, last_event_id in [(True, "2"), (False, "1")]:
            outcome = adapter.run_events(server.url, flush_unfinished=flush)
            assert ([event.data for event in outcome.items], outcome.error) == (["a"], None)
            assert outcome.stream.last_event_id == last_event_id
            assert outcome.stream.ended_mid_event is True


@every_adapter
def test_no_stream_is_told_with_status_and_body(adapter):
    head = b"HTTP/1.1 401 No\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n"
    with serving(answering(head, b'{"error": "?"}')) as server:
        outcome = adapter.run_events(server.url)
    assert outcome.error == SseConnectFailed(401, '{"error": "?"}', "status")
    assert (outcome.items, outcome.stream.status) == ([], 401)


@every_mode
@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"comments": 1}, TypeError, "comments must be"),
        ({"last_event_id": None}, TypeError, "last_event_id must be"),
        ({"max_event_bytes": 0}, ValueError, "max_event_bytes must be"),
        ({"max_event_bytes": "1"}, TypeError, "max_event_bytes must be"),
    ],
)
def test_bad_options_are_refused(mode, options, kind, words):
    stream = SyncEventStream if mode.sync else EventStream
    with pytest.raises(kind, match=words):
        AsyncFace(stream(mode.source(), **options))
