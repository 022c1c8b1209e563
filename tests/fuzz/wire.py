"""The wire decoder gives what the reference gives, for every chunking and limit."""

from support.reference import reference

from fuzz.inputs import Choices, chosen, chunkings, receive, streams
from ratatoskr_proto import Comment, EventStreamDecoder

DEFAULT_LIMIT = 16 * 1024 * 1024


def seeds() -> list[bytes]:
    return [
        chosen(limit, 0, [len(chunk) % 256 for chunk in chunks][:7]) + b"".join(chunks)
        for chunks in streams()
        for limit in (0, 12)
    ]


def check(data: bytes) -> None:
    choices = Choices(data)
    options = {"max_event_bytes": choices.byte() or DEFAULT_LIMIT}
    options["last_event_id"] = "7" * (choices.byte() % 2)
    sizes = choices.bytes()
    stream = choices.rest()
    expected = reference(stream, options["max_event_bytes"], options["last_event_id"])
    pending = set()
    for chunks in chunkings(stream, sizes):
        decoder = EventStreamDecoder(comments=True, **options)
        items = [item for chunk in chunks for item in receive(decoder.receive_data, chunk)]
        assert (items, decoder.last_event_id, decoder.retry_ms) == expected
        pending.add(decoder.pending)
        assert decoder.receive_eof() == []
        assert not decoder.pending
    assert len(pending) == 1
    without = [item for item in expected.items if not isinstance(item, Comment)]
    assert EventStreamDecoder(**options).receive_data(stream) == without
