"""The reference of ratatoskr_proto.testing, with all that can be compared with a decoder."""

from ratatoskr_proto.testing._reference import Interpreted, interpret


def reference(data: bytes, limit: int, last_event_id: str = "") -> Interpreted:
    """Items (comments included), last event id and retry of a stream that ends after ``data``."""
    return interpret(data, limit, last_event_id)
