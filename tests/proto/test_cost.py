"""Memory is bounded, and twice the work costs about twice as much."""

import gc
import sys
import time
import tracemalloc

import pytest

from ratatoskr_proto import EventStreamDecoder, TurnDecoder, encode_event

pytestmark = pytest.mark.no_cover  # or the tracing would be what is measured

KIB = 1024
MIB = 1024 * KIB


def held_after(feed, make=EventStreamDecoder):
    """The bytes that a decoder made and fed so still holds: the least of three, since whatever
    other threads allocate in between is counted too.
    """
    feed(make())  # what is allocated once and kept by the interpreter is not ours
    return min(_held_after(feed, make) for _ in range(3))


def _held_after(feed, make):
    gc.collect()
    tracemalloc.start()
    try:
        decoder = make()
        feed(decoder)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


SHAPES = {
    "one long line": [b"data: ", b"x" * KIB],
    "many short data lines": [b"", b"data:ab\n" * 128],
    "bare data lines": [b"", b"data\n" * 128],
    "CRLF lines": [b"", b"data:abcdef\r\n" * 64],
    "unknown fields": [b"", b"x:1\n" * 128],
    "ids": [b"", b"id:12345\n" * 128],
    "one long id": [b"id: \xf0\x9f\x8c\xb3", b"9" * KIB],
    "one long event name": [b"event: \xf0\x9f\x8c\xb3", b"e" * KIB],
    "one long comment": [b"data: a\n: ", b"c" * KIB],
    "comments in an open block": [b"data: a\n", b": keep-alive\n" * 64],
    "retries": [b"", b"retry:5\n" * 128],
    "characters of four bytes": [b"data: ", "🌳".encode() * 256],
    "invalid bytes": [b"data: ", b"\xff" * KIB],
    "skipped": [b"data: " + b"x" * 256 * KIB, b"data: x\n" * 128],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_retained_memory_is_bounded_for_every_shape_of_lines(shape):
    limit = 48 * KIB
    start, chunk = SHAPES[shape]
    start, chunk = bytes(start), bytes(chunk)

    def feed(decoder):
        decoder.receive_data(start)
        for _ in range((limit - 2 * len(chunk)) // len(chunk)):
            decoder.receive_data(chunk)

    assert held_after(feed, lambda: EventStreamDecoder(limit)) < 1.5 * limit + 5 * KIB


@pytest.mark.parametrize("field", [b"id", b"event"])
def test_what_a_finished_line_says_is_kept_as_the_bytes_that_came(field):
    limit = 48 * KIB
    line = field + b": \xf0\x9f\x8c\xb3\xff" + b"9" * (limit - 50)  # in Python, four bytes each

    def feed(decoder):
        decoder.receive_data(line)
        decoder.receive_data(b"\nx\n")

    assert held_after(feed, lambda: EventStreamDecoder(limit)) < 1.5 * limit + 5 * KIB


@pytest.mark.parametrize("value", [b"9", b"\xf0\x9f\x8c\xb3", b"\xff"])
@pytest.mark.parametrize("field", [b"id", b"event"])
def test_later_lines_do_not_copy_what_a_finished_line_says(field, value):
    decoder = EventStreamDecoder()
    decoder.receive_data(b"data: a\n" + field + b": " + value * 64 * KIB + b"\nx\n")
    tracemalloc.start()
    try:
        decoder.receive_data(b"x\n")
        assert tracemalloc.get_traced_memory()[1] < 32 * KIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("line", [b"data:ab\n", b"data:ab\r\n", b"x\n"])
def test_event_of_many_lines_is_put_together_in_three_times_its_size(line):
    event = line * (384 * KIB // len(line)) + b"\n"
    chunks = list(pieces(event, 64 * KIB))
    decoder = EventStreamDecoder()
    tracemalloc.start()
    try:
        for chunk in chunks:
            decoder.receive_data(chunk)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(event)
    finally:
        tracemalloc.stop()


def test_blank_line_costs_the_same_after_any_number_of_lines():
    def calls(number):
        decoder = EventStreamDecoder()
        decoder.receive_data(b"data: a\nid: 1\nx\n" * number)
        count = 0

        def profile(frame, event, argument):
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(profile)
        try:
            decoder.receive_data(b"\n")
        finally:
            sys.setprofile(None)
        return count

    assert calls(1000) == calls(1)


def test_idle_decoder_is_small():
    def feed(decoder):
        decoder.receive_data(b": hello\n\n")

    assert held_after(feed) < 2 * KIB


def test_many_events_leave_memory_flat():
    chunk = b'id: 42:1\ndata: {"type":"text","text":"a"}\n\n' * 100

    def feed(decoder):
        for _ in range(15):
            decoder.receive_data(chunk)

    assert held_after(feed) < 2 * KIB
    assert held_after(feed, TurnDecoder) < 4 * KIB


def test_turn_that_is_over_retains_nothing():
    end = encode_event('{"type":"done"}', id="42:1")

    def feed(decoder):
        decoder.receive_data(end + b"data: " + b"x" * MIB)
        for _ in range(100):
            decoder.receive_data(b"x" * KIB)

    assert held_after(feed, TurnDecoder) < 4 * KIB


# Growth. Twice the work must cost about twice as much; a quadratic path costs four times as much,
# so a limit of three tells them apart, and the best of several runs is what a busy machine shows.


def seconds(chunks, size, limit):
    """The shorter of two CPU times that a decoder needs for ``size`` bytes of these chunks."""
    best = float("inf")
    for _ in range(2):
        decoder = EventStreamDecoder(limit)
        start = time.process_time()
        for chunk in chunks(size):
            decoder.receive_data(chunk)
        best = min(best, time.process_time() - start)
    return best


def pieces(data, size):
    for start in range(0, len(data), size):
        yield data[start : start + size]


GROWTH = {
    # So small that what memory itself costs as it grows does not show.
    "one line in 64 B chunks": (
        lambda size: pieces(b"data: " + b"x" * size + b"\n\n", 64),
        128 * KIB,
    ),
    "one line byte by byte": (lambda size: pieces(b"data: " + b"x" * size + b"\n\n", 1), 16 * KIB),
    "data lines in 1 KiB chunks": (
        lambda size: pieces(b"data:ab\n" * (size // 8) + b"\n", KIB),
        50 * KIB,
    ),
    "data lines in one chunk": (lambda size: [b"data:ab\n" * (size // 8) + b"\n"], 100 * KIB),
    "comments in an open block": (
        lambda size: pieces(b"data: a\n" + b": hi\n" * (size // 5) + b"\n", KIB),
        100 * KIB,
    ),
    "short events in one chunk": (lambda size: [b"data: a\n\n" * (size // 9)], 32 * KIB),
    "blank lines": (lambda size: [b"\r\n" * (size // 2)], 100 * KIB),
    "skipped lines": (
        lambda size: pieces(b"data: " + b"x" * 65 * KIB + b"\nx" * (size // 2), 64 * KIB),
        2 * MIB,
    ),
}


@pytest.mark.parametrize("path", GROWTH)
def test_growth_is_linear(path):
    chunks, size = GROWTH[path]
    limit = 64 * KIB if path == "skipped lines" else 16 * MIB
    ratios = []
    for _ in range(4):  # one good ratio shows it; a bad one may be the machine
        ratios.append(seconds(chunks, 2 * size, limit) / seconds(chunks, size, limit))
        if ratios[-1] < 3:
            return
    pytest.fail(f"twice the work took {ratios} times as long")
