"""What holds of the wire layer for all bytes, all chunkings and all limits."""

from hypothesis import example, given
from hypothesis import strategies as st
from support.feeding import cut, feed_wire
from support.reference import reference

from ratatoskr_proto import EventStreamDecoder

# Pieces of streams that mean something, next to those that look as if they did.
PIECES = [
    *[b"\n", b"\r", b"\r\n", b"\n\n", b":", b" ", b"\0", b"\xef\xbb\xbf", b"\xef", b"\xff"],
    *[b"data", b"data:", b"data: ", b"data: a\n\n", b"id", b"id: ", b"id: 1\n", b"event: x\n"],
    *[b"retry:", b"retry: 5\n", b"retry", b": hi\n", b"7", "é".encode(), "\u2028".encode()],
]
streams = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join) | st.binary(max_size=60)
limits = st.integers(1, 30) | st.just(16 * 1024 * 1024)


@st.composite
def cut_streams(draw):
    data = draw(streams)
    return data, cut(data, draw(st.lists(st.integers(0, len(data)), max_size=8)))


@given(cut_streams(), limits)
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


@given(cut_streams(), limits)
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


@given(cut_streams(), limits)
def test_without_comments_the_rest_is_the_same(stream, limit):
    _, chunks = stream
    with_comments = feed_wire(chunks, max_event_bytes=limit, comments=True)
    without = feed_wire(chunks, max_event_bytes=limit)
    kept = [item for item in with_comments.items if type(item).__name__ != "Comment"]
    assert without == with_comments._replace(items=kept)


@given(st.lists(streams, max_size=10))
def test_no_bytes_raise(chunks):
    feed_wire(chunks)
    feed_wire(chunks, max_event_bytes=1, comments=True)
