"""The body of ``ratatoskr decode``: a recorded stream to JSON Lines.

Exceptions of the stream and of the output are let through.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

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
from .._shown.labels import ExitCode, ending_label, exit_code
from .._shown.recording import RecordedStream
from .console import write_stderr, write_stdout_ascii


def decode_turn(stream: RecordedStream, max_event_bytes: int) -> ExitCode:
    """Write the events of a turn as they come, then how it ended; return the exit code."""
    count = 0
    for items in _turn_items(stream, max_event_bytes):
        events = [item for item in items if isinstance(item, Event)]
        count += len(events)
        write_stdout_ascii("".join([json_lines.event_line(event) + "\n" for event in events]))
    ending = items[-1]
    write_stderr(ending_label(ending))
    write_stderr(f"{count} events, {stream.bytes_read} bytes read")
    return exit_code(ending)


def _turn_items(
    stream: RecordedStream, max_event_bytes: int
) -> Iterator[list[Event | RatatoskrError]]:
    """Yield the items that each chunk completes; the very last item ended the turn."""
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


def decode_wire(stream: RecordedStream, max_event_bytes: int, comments: bool) -> ExitCode:
    """Write the frames of any event stream as they come; return the exit code.

    An event that is too large is a label on stderr in its place; the frames after it still come.
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
                write_stdout_ascii("".join(lines))
                lines.clear()
                write_stderr(ending_label(item))
                result = exit_code(item)
        write_stdout_ascii("".join(lines))
    unfinished = "; unfinished event dropped" if decoder.pending else ""
    decoder.receive_eof()
    write_stderr(f"{count} frames, {stream.bytes_read} bytes read{unfinished}")
    return result
