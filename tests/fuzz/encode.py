"""The encoder: refuses exactly what no line can carry, and its output is decoded to its input."""

import re
from collections.abc import Callable

from support.reference import reference

from fuzz.inputs import Choices, chosen
from ratatoskr_proto import (
    Comment,
    EventStreamDecoder,
    ServerSentEvent,
    encode_comment,
    encode_event,
)
from ratatoskr_proto.testing import vectors

LIMIT = 16 * 1024 * 1024
BETWEEN = b"\xfe"  # between two texts; in UTF-8 it does not occur


def seeds() -> list[bytes]:
    events = [event for case in vectors("conformance") for event in case["events"]][::2]
    texts = [(event["data"], event["event"], event["id"], event["data"]) for event in events]
    texts += [("a\r\nb\rc\nd", "e", "7", "f\n\r\ng")]
    texts += [(each,) * 4 for each in ("\ufeff", "\0", " ", ":", "data: a")]
    written = [BETWEEN.join(text.encode() for text in each) for each in texts]
    return [chosen(flags, [flags]) + each for flags in (0, 1, 6, 7) for each in written]


def check(data: bytes) -> None:
    choices = Choices(data)
    flags = choices.byte()
    digits = choices.bytes()
    # Bytes that are not UTF-8 become lone surrogates.
    texts = [text.decode("utf-8", "surrogateescape") for text in choices.rest().split(BETWEEN, 3)]
    text, event, id, comment = texts + [""] * (4 - len(texts))
    given = {
        "event": event if flags & 1 else None,
        "id": id if flags & 2 else None,
        "retry_ms": int.from_bytes(bytes(digits)) if flags & 4 else None,
    }
    written = encoded(lambda: encode_event(text, **given), is_carried(text, **given))
    said = encoded(lambda: encode_comment(comment), is_line(comment, ""))
    if written is None or said is None:
        return
    before = ServerSentEvent("message", "before", "1")
    expected = [before, *[Comment(line) for line in lines(comment)]]
    last_id = "1" if given["id"] is None else id
    data_read = "\n".join(lines(text))
    expected.append(ServerSentEvent(given["event"] or "message", data_read, last_id))
    stream = encode_event("before", id="1") + said + written
    decoder = EventStreamDecoder(comments=True)
    assert decoder.receive_data(stream) == expected
    assert (decoder.last_event_id, decoder.retry_ms) == (last_id, given["retry_ms"])
    assert not decoder.pending
    assert reference(stream, LIMIT) == (expected, last_id, given["retry_ms"])


def encoded(encode: Callable[[], bytes], is_good: bool) -> bytes | None:
    """The bytes, or None for a refusal, which must have a reason."""
    try:
        written = encode()
    except ValueError:
        assert not is_good
        return None
    assert is_good
    return written


def is_carried(text: str, *, event: str | None, id: str | None, retry_ms: int | None) -> bool:
    return is_line(text, "") and is_line(event or "", "\r\n") and is_line(id or "", "\r\n\0")


def is_line(text: str, forbidden: str) -> bool:
    return not any(character in forbidden or "\ud800" <= character < "\ue000" for character in text)


def lines(text: str) -> list[str]:
    return re.split("\r\n|\r|\n", text)
