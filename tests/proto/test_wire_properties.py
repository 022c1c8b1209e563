"""What holds of the wire layer for all bytes, all chunkings and all limits."""

from hypothesis import example, given
from hypothesis import strategies as st
from support.feeding import feed_wire
from support.reference import reference

from ratatoskr_proto import EventStreamDecoder
from ratatoskr_proto.testing import chunkings, hostile_bytes

streams = hostile_bytes(max_size=80)
cut_streams = streams.flatmap(lambda data: st.tuples(st.just(data), chunkings(data)))
limits = st.integers(1, 30) | st.just(16 * 1024 * 1024)


@given(cut_streams, limits)
@example((b"\xef\xbb", [b"\xef", b"\xbb"]), 1)
@example((b"data: a\r\r\n", [b"data: a\r", b"", b"\r", b"\n"]), 10)
@example((b"\xef\xbb\xbfdata: a\n\n", [b"", b"\xef\xbb\xbfdata: a\n\n"]), 30)
@example((b": a\n\ndata: b\r\n\n\n", [b": a\n\n", b"data: b\r\n", b"\n\n"]), 30)
@example((b": a\n\ndata: b\r\n\n", [b": a\n\n", b"data: b\r", b"\n\n"]), 30)
@example((b": a\n\ndata: 345\n\n", [b": a\n\n", b"data: 345\n\n"]), 8)
@example((b"data: 12\n\n\ndata: 3\n\n", [b"data: 12\n\n\ndata: 3\n\n"]), 8)
def test_output_is_that_of_the_reference_for_every_chunking_and_limit(stream, limit):
    data, chunks = stream
    expected = reference(data, limit, "seed")
    for feed in ([data], chunks, [bytes([byte]) for byte in data]):
        result = feed_wire(feed, max_event_bytes=limit, last_event_id="seed", comments=True)
        assert (result.items, result.last_event_id, result.retry_ms) == expected


@given(cut_streams, limits)
def test_what_is_held_depends_on_the_bytes_alone(stream, limit):
    data, chunks = stream
    whole = EventStreamDecoder(max_event_bytes=limit)
    pieces = EventStreamDecoder(max_event_bytes=limit)
    whole.receive_data(data)
    for chunk in chunks:
        pieces.receive_data(chunk)
    assert whole.pending == pieces.pending
    assert whole.last_event_id == pieces.last_event_id
    assert whole.retry_ms == pieces.retry_ms


@given(cut_streams, limits)
def test_without_comments_the_rest_is_the_same(stream, limit):
    _, chunks = stream
    with_comments = feed_wire(chunks, max_event_bytes=limit, comments=True)
    without = feed_wire(chunks, max_event_bytes=limit)
    kept = [item for item in with_comments.items if type(item).__name__ != "Comment"]
    assert without == with_comments._replace(items=kept)


@given(st.lists(hostile_bytes(), max_size=4))
def test_no_bytes_raise(chunks):
    feed_wire(chunks)
    feed_wire(chunks, max_event_bytes=1, comments=True)
