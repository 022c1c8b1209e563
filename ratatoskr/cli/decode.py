"""The body of ``ratatoskr decode``: a recorded stream to JSON Lines.

``write`` takes the text of whole lines for stdout, ``say`` one line for the operator. What either
of them or the stream raises is let through.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TypeAlias

from ratatoskr_proto import (
    Comment,
    Event,
    EventStreamDecoder,
    RatatoskrError,
    ServerSentEvent,
    TurnDecoder,
    TurnState,
)

from .._shown import json_lines
from .._shown.labels import ExitCode, exit_code, label
from .._shown.recording import RecordedStream

Write: TypeAlias = Callable[[str], object]


def decode_turn(stream: RecordedStream, max_event_bytes: int, write: Write, say: Write) -> ExitCode:
    """Write the events of a turn as they come, then say how it ended; return the exit code."""
    count = 0
    for items in _turn_items(stream, max_event_bytes):
        events = [item for item in items if isinstance(item, Event)]
        count += len(events)
        write("".join([json_lines.event_line(event) + "\n" for event in events]))
    ending = items[-1]
    say(label(ending))
    say(f"{count} events, {stream.bytes_read} bytes read")
    return exit_code(ending)


def _turn_items(
    stream: RecordedStream, max_event_bytes: int
) -> Iterator[list[Event | RatatoskrError]]:
    """What each chunk completes. The last item of all is the one that ended the turn."""
    make_decoder = functools.partial(
        TurnDecoder, loads=json_lines.loads, max_event_bytes=max_event_bytes
    )
    decoder = make_decoder()
    for chunk in stream:
        if chunk is None:
            decoder = make_decoder(resume_from=decoder.last_sse_id)
            continue
        yield decoder.receive_data(chunk)
        if decoder.state is not TurnState.STREAMING:
            return
    yield decoder.receive_eof(stream.end_reason)


def decode_wire(
    stream: RecordedStream, max_event_bytes: int, comments: bool, write: Write, say: Write
) -> ExitCode:
    """Write the frames of any event stream as they come; return the exit code.

    An event that is too large is said in its place, and the frames behind it still come.
    """
    make_decoder = functools.partial(EventStreamDecoder, max_event_bytes, comments=comments)
    decoder = make_decoder()
    result = ExitCode.DONE
    count = 0
    for chunk in stream:
        if chunk is None:
            decoder = make_decoder(last_event_id=decoder.last_event_id)
            continue
        lines: list[str] = []
        for item in decoder.receive_data(chunk):
            if isinstance(item, (ServerSentEvent, Comment)):
                lines.append(json_lines.frame_line(item) + "\n")
                count += isinstance(item, ServerSentEvent)
            else:
                write("".join(lines))
                lines.clear()
                say(label(item))
                result = exit_code(item)
        write("".join(lines))
    unfinished = "; unfinished event dropped" if decoder.pending else ""
    decoder.receive_eof()
    say(f"{count} frames, {stream.bytes_read} bytes read{unfinished}")
    return result
