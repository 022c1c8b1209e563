"""The wire decoders in Python and in C: the same calls give the same, in all that can be seen."""

from fuzz.inputs import Choices, chunkings, receive
from fuzz.wire import seeds
from ratatoskr_proto import _wire

try:
    from ratatoskr_proto import _compiled
except ImportError:  # it was not built, so the Python version is held to itself
    _compiled = _wire

__all__ = ["check", "seeds"]

VERSIONS = (_wire, _compiled)
REASONS = ("end of stream", "reset")


def check(data: bytes) -> None:
    choices = Choices(data)
    limit, switches = choices.byte() or 2**70, choices.byte()
    options = {
        "max_event_bytes": limit,
        "last_event_id": "7" * (switches & 1),
        "comments": bool(switches & 2),
        "flush_unfinished": bool(switches & 4),
    }
    reason = REASONS[switches >> 3 & 1]
    sizes = choices.bytes()
    for chunks in chunkings(choices.rest(), sizes):
        pairs = [version.EventStreamDecoder(**options) for version in VERSIONS]
        frames = [version.FrameDecoder(limit, options["flush_unfinished"]) for version in VERSIONS]
        for chunk in [*chunks, None]:
            for decoders in (pairs, frames):
                python, c = (seen(decoder, chunk, reason) for decoder in decoders)
                assert python == c


def seen(decoder, chunk, reason):
    """The items of a decoder for a chunk, None being the end, and its state after that."""
    end = chunk is None
    items = decoder.receive_eof(reason) if end else receive(decoder.receive_data, chunk)
    kinds = [type(item) for item in items]
    begun = getattr(decoder, "begun", None)
    place = (decoder.last_event_id, decoder.retry_ms, decoder.pending, decoder.over, begun)
    return items, kinds, place
