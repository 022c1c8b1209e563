"""A dialect whose frames say what to return, and what comes out of them."""

import json

from ratatoskr_proto import Done, ServerError, SseConnectionDropped, SseId, Text
from ratatoskr_proto.dialects import Complete, Dialect

from .feeding import decode_turn


class Words(Dialect):
    """Each frame is a list of what to return."""

    name = "words"
    end_marks = frozenset({"END", "over and out"})

    def read(self, sse_id, event, body):
        found = []
        for word in body:
            match word.split(":"):
                case ["event"]:
                    found.append(Text(event, sse_id=sse_id, body={}))
                case ["text", text]:
                    found.append(Text(text, sse_id=sse_id, body={}))
                case ["done"]:
                    found.append(Done(sse_id=sse_id, body={}))
                case ["done", reason]:
                    found.append(Done(reason, sse_id=sse_id, body={}))
                case ["error"]:
                    found.append(ServerError("busy", sse_id=sse_id, body={}))
                case ["whole"]:
                    found.append(Complete(None))
                case ["whole", reason]:
                    found.append(Complete(reason))
                case ["maybe"]:
                    found.append(Complete(None, certain=False))
                case ["maybe", reason]:
                    found.append(Complete(reason, certain=False))
        return found


class Flushing(Words):
    flush_unfinished = True


WORDS, FLUSHING = Words(), Flushing()


def frames(*bodies):
    texts = (body if isinstance(body, str) else json.dumps(body) for body in bodies)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def read(*bodies, rest=b"", reason="end of stream", dialect=WORDS, **options):
    """The result of these frames and the end of the body, the same for every chunking."""
    return decode_turn(frames(*bodies) + rest, end=reason, dialect=dialect, **options)


def text(value, seq):
    return Text(value, sse_id=SseId(0, seq), body={})


def done(reason, seq):
    return Done(reason, sse_id=SseId(0, seq), body={})


def dropped(last, reason="end of stream"):
    return SseConnectionDropped(None if last is None else SseId(0, last), reason)


LOST = "; unfinished event lost"
