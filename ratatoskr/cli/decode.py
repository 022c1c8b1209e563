"""The body of ``ratatoskr decode``: a recorded stream to JSON Lines.

Exceptions of the stream and of the output are let through.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ratatoskr_proto import (
    Comment,
    Event,
    EventStreamDecoder,
    RatatoskrError,
    ServerSentEvent,
    TurnDecoder,
    TurnState,
)
from ratatoskr_proto.dialects import TURN, Dialect

from .._shown import json_lines
from .._shown.guess import DialectGuess
from .._shown.json_lines import JsonLines
from .._shown.labels import ExitCode, ending_label, exit_code
from .._shown.recording import RecordedStream
from .console import write_stderr, write_stdout_json
from .hints import dialect_hint


def decode_turn(
    stream: RecordedStream,
    max_event_bytes: int,
    lines: JsonLines,
    *,
    dialect: Dialect[Any] = TURN,
    times: bool = False,
) -> ExitCode:
    """Write the events of a turn as they come, then how it ended; return the exit code.

    With ``times``, an event has the seconds since the first chunk.
    """
    count = 0
    items: Sequence[Event | RatatoskrError] = []
    guess = DialectGuess(dialect.name)
    for seconds, items in _turn_items(stream, max_event_bytes, dialect, guess):
        events = [item for item in items if isinstance(item, Event)]
        count += len(events)
        guess.note(events)
        shown = seconds if times else None
        write_stdout_json("".join([lines.event(event, shown) for event in events]))
    ending = items[-1]
    write_stderr(ending_label(ending))
    if hint := dialect_hint(ending, guess):
        write_stderr(hint)
    write_stderr(f"{count} events, {stream.bytes_read} bytes read")
    return exit_code(ending)


def _turn_items(
    stream: RecordedStream, max_event_bytes: int, dialect: Dialect[Any], guess: DialectGuess
) -> Iterator[tuple[float, Sequence[Event | RatatoskrError]]]:
    """Yield the items that each chunk completes; the very last item ended the turn."""
    make_decoder = functools.partial(
        TurnDecoder, loads=json_lines.loads, max_event_bytes=max_event_bytes, dialect=dialect
    )
    decoder = make_decoder()
    seconds = 0.0
    for seconds, chunk in stream.timed_chunks():
        if chunk is None:
            decoder = make_decoder(resume_from=decoder.last_sse_id if dialect.numbered else None)
            continue
        guess.receive(chunk)
        yield seconds, decoder.receive_data(chunk)
        if decoder.state is not TurnState.STREAMING:
            return
    yield seconds, decoder.receive_eof(stream.end_reason)


def decode_wire(
    stream: RecordedStream,
    max_event_bytes: int,
    lines: JsonLines,
    *,
    comments: bool = False,
    only: Collection[str] = (),
    times: bool = False,
) -> ExitCode:
    """Write the frames of any event stream as they come; return the exit code.

    An event that is too large is a label on stderr in its place; the frames after it still come.
    With ``only``, nothing but the frames with these event names is written; with ``times``, a frame
    has the seconds since the first chunk.
    """
    make_decoder = functools.partial(EventStreamDecoder, max_event_bytes, comments=comments)
    decoder = make_decoder()
    result = ExitCode.DONE
    count = 0
    for seconds, chunk in stream.timed_chunks():
        if chunk is None:
            decoder = make_decoder(last_event_id=decoder.last_event_id)
            continue
        shown = seconds if times else None
        written: list[str] = []
        for item in decoder.receive_data(chunk):
            if isinstance(item, (ServerSentEvent, Comment)):
                count += isinstance(item, ServerSentEvent)
                if not only or (isinstance(item, ServerSentEvent) and item.event in only):
                    written.append(lines.frame(item, shown))
            else:
                write_stdout_json("".join(written))
                written.clear()
                write_stderr(ending_label(item))
                result = exit_code(item)
        write_stdout_json("".join(written))
    unfinished = "; unfinished event dropped" if decoder.pending else ""
    decoder.receive_eof()
    write_stderr(f"{count} frames, {stream.bytes_read} bytes read{unfinished}")
    return result
