"""The wire layer, line by line of docs/wire.md."""

import sys

import pytest
from support.feeding import decode_wire, feed_wire

from ratatoskr_proto import Comment, EventStreamDecoder, EventTooLarge, ServerSentEvent


def message(data, id=""):
    return ServerSentEvent("message", data, id)


# Values


def test_event_is_message_when_unset():
    assert decode_wire(b"data: a\n\n").items == [ServerSentEvent("message", "a", "")]


@pytest.mark.parametrize("item", [ServerSentEvent("e", "d", "i"), Comment("c")])
def test_items_are_immutable_comparable_hashable(item):
    twin = type(item)(*item)
    assert item == twin
    assert hash(item) == hash(twin)
    with pytest.raises(AttributeError):
        item.data = "other"
    with pytest.raises(AttributeError):
        item.text = "other"


def test_items_match_by_position():
    match decode_wire(b"event: e\nid: i\ndata: d\n\n").items[0]:
        case ServerSentEvent(event, data, id):
            assert (event, data, id) == ("e", "d", "i")


# Comments


def test_comments_come_out_only_if_asked_for():
    data = b": one\ndata: a\n:two\n\n:  three\n:\n"
    assert decode_wire(data).items == [message("a")]
    assert decode_wire(data, comments=True).items == [
        Comment("one"),
        Comment("two"),
        message("a"),
        Comment(" three"),
        Comment(""),
    ]


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_comment_comes_out_when_its_line_ends(line_end):
    decoder = EventStreamDecoder(comments=True)
    assert decoder.receive_data(b"data: a\n: ping") == []
    assert decoder.receive_data(line_end) == [Comment("ping")]


# Lines


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lf_cr_and_crlf_end_a_line(end):
    data = end.join([b"id: 1", b"data: a", b"data: b", b"", b"data: c", b"", b""])
    assert decode_wire(data).items == [message("a\nb", "1"), message("c", "1")]


def test_line_ends_may_be_mixed():
    data = b"data: a\rdata: b\r\ndata: c\n\r\ndata: d\n\r"
    assert decode_wire(data).items == [message("a\nb\nc"), message("d")]


def test_cr_ends_its_line_at_once():
    decoder = EventStreamDecoder()
    assert decoder.receive_data(b"data: a\r\r") == [message("a")]
    assert decoder.receive_data(b"\ndata: b\r\n\r") == [message("b")]
    assert decoder.receive_data(b"\n") == []
    assert decoder.receive_data(b"data: c\n\n") == [message("c")]


def test_lf_after_cr_is_swallowed_once():
    decoder = EventStreamDecoder()
    decoder.receive_data(b"data: a\r")
    assert decoder.receive_data(b"") == []
    assert decoder.receive_data(b"\n") == []
    assert decoder.receive_data(b"\n") == [message("a")]


@pytest.mark.parametrize("character", "\v\f\x1c\x1d\x1e\x85\u2028\u2029")
def test_nothing_else_ends_a_line(character):
    data = f"data: a{character}b\n\n".encode()
    assert decode_wire(data).items == [message(f"a{character}b")]


# Encoding


@pytest.mark.parametrize(
    "chunks",
    [
        [b"\xef\xbb\xbfdata: a\n\n"],
        [b"\xef", b"\xbb", b"\xbf", b"data: a\n\n"],
        [b"", b"\xef\xbb", b"", b"\xbfda", b"ta: a\n\n"],
    ],
)
def test_one_leading_bom_is_dropped(chunks):
    assert feed_wire(chunks).items == [message("a")]


def test_second_bom_is_content():
    assert decode_wire(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n").items == [message("b")]


def test_begun_bom_that_is_none_is_content():
    assert decode_wire(b"\xef\xbbdata: a\n\ndata: b\n\n").items == [message("b")]
    assert decode_wire(b"\xef\n\ndata: b\n\n").items == [message("b")]
    assert decode_wire(b"\xef\xbb").items == []


def test_invalid_utf8_becomes_replacement_characters():
    data = b"event: \xf0\x9f\nid: \xe2\x28\xa1\ndata: \xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80\n\n"
    assert decode_wire(data).items == [
        ServerSentEvent(
            "\ufffd", "\ufffd" * 2 + "|" + "\ufffd" * 3 + "|" + "\ufffd" * 4, "\ufffd(\ufffd"
        )
    ]


def test_character_may_be_cut_anywhere():
    assert decode_wire("data: 世界🐿️\n\n".encode()).items == [message("世界🐿️")]


# Fields and dispatch


def test_data_without_value_dispatches_an_empty_event():
    assert decode_wire(b"data\n\ndata:\n\ndata: \n\n").items == [message("")] * 3


def test_block_without_data_dispatches_nothing():
    assert decode_wire(b"event: x\nid: 7\n\n\n\nfoo: bar\n\n").items == []


def test_one_leading_space_of_a_value_is_dropped():
    assert decode_wire(b"data:  a \n\ndata:\ta\n\n").items == [message(" a "), message("\ta")]


def test_last_event_id_is_committed_at_the_blank_line_with_data_or_without():
    decoder = EventStreamDecoder()
    decoder.receive_data(b"id: 1\n")
    assert decoder.last_event_id == ""
    decoder.receive_data(b"\n")
    assert decoder.last_event_id == "1"
    decoder.receive_data(b"id: 2\ndata: a\n")
    assert decoder.last_event_id == "1"
    assert decoder.receive_data(b"\n") == [message("a", "2")]
    assert decoder.last_event_id == "2"


def test_last_event_id_is_seeded_by_the_argument():
    assert decode_wire(b"data: a\n\nid: 8\ndata: b\n\n", last_event_id="7").items == [
        message("a", "7"),
        message("b", "8"),
    ]


def test_id_with_nul_is_ignored():
    assert decode_wire(b"id: 1\nid: 2\x00\ndata: a\n\n").items == [message("a", "1")]


# retry


def test_retry_counts_when_its_line_ends():
    decoder = EventStreamDecoder()
    decoder.receive_data(b"retry: 15")
    assert decoder.retry_ms is None
    decoder.receive_data(b"\n")
    assert decoder.retry_ms == 15
    decoder.receive_data(b"retry: 20\r")
    assert decoder.retry_ms == 20


@pytest.mark.parametrize("value", ["", " ", "+5", "-3", "1_000", "5 ", "  5", "٣", "²", "5.0"])
def test_retry_is_ascii_digits_only(value):
    result = decode_wire(f"retry: 7\nretry: {value}\nretryx: 9\n\n".encode())
    assert result.retry_ms == 7


@pytest.mark.parametrize("setting", [640, 4300, 0])
def test_retry_of_up_to_4300_digits_counts_whatever_the_process_allows(setting):
    nines = 10**4300 - 1
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(setting)
    try:
        longest = decode_wire(b"retry: 000" + b"9" * 4300 + b"\n")
        too_long = decode_wire(b"retry: 7\nretry: 1" + b"0" * 4300 + b"\ndata: a\n\n")
    finally:
        sys.set_int_max_str_digits(before)
    assert longest.retry_ms == nines
    assert too_long.retry_ms == 7
    assert too_long.items == [message("a")]


# The limit


def test_limit_of_the_contract():
    data = b"data: 1234\n\ndata: b\n\ndata: c\n\n"
    b_and_c = [message("b"), message("c")]
    assert decode_wire(data, max_event_bytes=10).items == [message("1234"), *b_and_c]
    assert decode_wire(data, max_event_bytes=9).items == [EventTooLarge(9), *b_and_c]


def test_limit_counts_finished_lines_with_one_byte_for_their_end():
    data = b"data:ab\r\ndata:cd\r\n\r\n"  # held 8 when the second line of 7 comes
    assert decode_wire(data, max_event_bytes=15).items == [message("ab\ncd")]
    assert decode_wire(data, max_event_bytes=14).items == [EventTooLarge(14)]


def test_limit_counts_unknown_and_retry_lines_but_no_comments():
    for line in (b"x: 123456\n", b"retry: 12\n"):
        data = line * 3 + b"data\n\n"
        assert decode_wire(data, max_event_bytes=34).items == [message("")]
        assert decode_wire(data, max_event_bytes=33).items == [EventTooLarge(33)]
    data = b": 2345678\n" * 100 + b"data\n\n"
    assert decode_wire(data, max_event_bytes=9).items == [message("")]


def test_comment_can_be_too_long_itself():
    data = b"data: a\n:123\n\ndata: b\n\n"
    assert decode_wire(data, max_event_bytes=12).items == [message("a"), message("b")]
    assert decode_wire(data, max_event_bytes=11).items == [EventTooLarge(11), message("b")]


def test_empty_line_is_never_too_long():
    assert decode_wire(b"data: 1234\n\n", max_event_bytes=10).items == [message("1234")]


def test_bom_does_not_count():
    data = b"\xef\xbb\xbfdata\n\n"
    assert decode_wire(data, max_event_bytes=4).items == [message("")]
    assert decode_wire(b"\xef\xbb\xbf\xef\n", max_event_bytes=1).items == []


def test_unfinished_line_is_too_long_as_soon_as_it_is():
    decoder = EventStreamDecoder(max_event_bytes=9)
    assert decoder.receive_data(b"data: 123") == []
    assert decoder.pending
    assert decoder.receive_data(b"4") == [EventTooLarge(9)]
    assert not decoder.pending
    assert decoder.receive_data(b"5\n") == []
    assert decoder.receive_data(b"data: x\n") == []
    assert decoder.receive_data(b"\n") == []
    assert decoder.receive_data(b"data: b\n\n") == [message("b")]


def test_nothing_of_a_skipped_block_counts_but_a_retry_before_the_trip():
    data = b"retry: 1\nid: 9\nevent: e\ndata: too long to be taken\nretry: 2\nid: 8\n\ndata: b\n\n"
    result = decode_wire(data, max_event_bytes=30, last_event_id="7")
    assert result.items == [EventTooLarge(30), message("b", "7")]
    assert result.retry_ms == 1
    assert result.last_event_id == "7"


def test_one_error_for_a_block_however_long():
    data = b"data: 1234\n" * 50 + b"\n" + b"data: b\n\n"
    assert decode_wire(data, max_event_bytes=20).items == [EventTooLarge(20), message("b")]


# Chunks and the end


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_chunks_may_be_of_three_kinds(kind):
    assert EventStreamDecoder().receive_data(kind(b"data: a\n\n")) == [message("a")]


def test_chunk_may_be_a_memoryview_of_any_layout():
    backwards = memoryview(b"\n\na :atad")[::-1]
    assert EventStreamDecoder().receive_data(backwards) == [message("a")]


def test_nothing_of_the_callers_buffer_is_kept():
    decoder = EventStreamDecoder()
    buffer = bytearray(b"data: abc")
    decoder.receive_data(memoryview(buffer))
    buffer[:] = b"X" * len(buffer)
    buffer.append(0)  # raises BufferError if a view of it is still held
    assert decoder.receive_data(b"\n\n") == [message("abc")]


@pytest.mark.parametrize("chunk", ["data", 5, None, [100, 97]])
def test_other_chunks_are_a_type_error(chunk):
    with pytest.raises(TypeError, match="takes bytes, bytearray or memoryview, not"):
        EventStreamDecoder().receive_data(chunk)


def test_unfinished_event_is_dropped_at_the_end():
    decoder = EventStreamDecoder()
    decoder.receive_data(b"id: 1\ndata: a\n")
    assert decoder.pending
    assert decoder.receive_eof() == []
    assert not decoder.pending
    assert decoder.last_event_id == ""


def test_receive_eof_is_idempotent():
    decoder = EventStreamDecoder()
    assert decoder.receive_eof() == decoder.receive_eof() == []


def test_data_after_the_end_is_a_runtime_error():
    decoder = EventStreamDecoder()
    decoder.receive_eof()
    assert decoder.receive_data(b"") == []
    for data in (b"\n", b"data: a\n\n"):
        with pytest.raises(RuntimeError, match="after receive_eof"):
            decoder.receive_data(data)


@pytest.mark.parametrize(
    ("data", "pending"),
    [
        (b"", False),
        (b"\xef\xbb", True),
        (b"\xef\xbb\xbf", False),
        (b"d", True),
        (b"id: 1\n", True),
        (b"unknown\n", True),
        (b": comm", True),
        (b": comment\n", False),
        (b"data: a\n: comment\n", True),
        (b"data: a\r\r", False),
    ],
)
def test_pending_says_whether_bytes_of_a_line_or_block_are_held(data, pending):
    assert decode_wire(data).pending is pending


def test_over_is_true_after_the_end_only():
    decoder = EventStreamDecoder()
    decoder.receive_data(b"data: a\n\n")
    assert not decoder.over
    decoder.receive_eof("reset")
    assert decoder.over


# The end as a line end

STREAMS = [
    *[b"data: a\n\n", b"data: a\n", b"data: a", b"data: a\r", b"data: a\r\n", b"data: a\n: hi"],
    *[b"", b"\xef\xbb", b"\xef\xbb\xbfdata: a", b"id: 7", b"id: 7\n", b"retry: 5", b": hi"],
    *[b"event: e\nid: 7\ndata: a\ndata", b"x", b"data:" + b"x" * 99, b"data:" + b"x" * 99 + b"\n"],
]


@pytest.mark.parametrize("data", STREAMS)
def test_the_end_is_as_good_as_two_line_ends_if_asked_for(data):
    options = {"comments": True, "max_event_bytes": 50}
    flushed = decode_wire(data, flush_unfinished=True, **options)
    completed = feed_wire([data, b"\n\n"], **options)
    assert flushed.items == completed.items
    assert flushed.last_event_id == completed.last_event_id
    assert flushed.retry_ms == completed.retry_ms


@pytest.mark.parametrize("data", STREAMS)
def test_no_other_reason_is(data):
    for reason in ("cut body", "end of stream; unfinished event lost", ""):
        asked, standard = EventStreamDecoder(flush_unfinished=True), EventStreamDecoder()
        assert asked.receive_data(data) == standard.receive_data(data)
        assert asked.receive_eof(reason) == standard.receive_eof(reason) == []
        assert asked.receive_eof() == []
        assert (asked.pending, asked.last_event_id) == (False, standard.last_event_id)


def test_the_end_completes_an_event_once():
    decoder = EventStreamDecoder(flush_unfinished=True)
    decoder.receive_data(b"data: a")
    assert decoder.receive_eof() == [message("a")]
    assert decoder.receive_eof() == []
    assert not decoder.pending


# Arguments


@pytest.mark.parametrize("limit", ["10", 1.0, None, True])
def test_max_event_bytes_of_the_wrong_type(limit):
    with pytest.raises(TypeError, match="max_event_bytes must be an int"):
        EventStreamDecoder(max_event_bytes=limit)


@pytest.mark.parametrize("limit", [0, -1])
def test_max_event_bytes_out_of_range(limit):
    with pytest.raises(ValueError, match="at least 1"):
        EventStreamDecoder(max_event_bytes=limit)


def test_last_event_id_of_the_wrong_type():
    with pytest.raises(TypeError, match="last_event_id must be a str"):
        EventStreamDecoder(last_event_id=None)


@pytest.mark.parametrize("name", ["comments", "flush_unfinished"])
def test_flags_of_the_wrong_type(name):
    with pytest.raises(TypeError, match=f"{name} must be True or False, not 'no'"):
        EventStreamDecoder(**{name: "no"})
