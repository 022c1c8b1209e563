"""How an answer ends in every dialect, shown by one that reads its frames literally."""

import pytest
from support.feeding import feed_turn
from support.words import FLUSHING, LOST, WORDS, Flushing, Words, done, dropped, frames, read, text

from ratatoskr_proto import TurnDecoder, TurnState

# The end of the body


def test_without_completion_the_end_is_a_loss():
    assert read(["text:a"]).items == [text("a", 1), dropped(1)]
    assert read().items == [dropped(None)]
    assert read(["text:a"], rest=b"da", reason="reset").items[-1] == dropped(1, "reset" + LOST)


@pytest.mark.parametrize("reason", ["end of stream", "cut body", "reset", "read timeout"])
@pytest.mark.parametrize("rest", [b"", b"data: x", b"data: [", b": ping", b"\xef"])
def test_after_certain_completion_every_end_is_good(reason, rest):
    for dialect in (WORDS, FLUSHING):
        result = read(["text:a"], ["whole:b"], rest=rest, reason=reason, dialect=dialect)
        assert result.items == [text("a", 1), done("b", 2)]
        assert (result.state, result.last_sse_id, result.turn_id) == (TurnState.DONE, (0, 2), 0)


def test_done_at_the_end_has_the_id_of_the_last_frame_that_counted():
    assert read(["whole:a"], []).items == [done("a", 2)]
    assert read(["whole:a"], [], rest=b"data\n\n: c\n\n").items == [done("a", 2)]


def test_uncertain_completion_holds_for_a_whole_body_only():
    assert read(["maybe:a"]).items == [done("a", 1)]
    for reason in ("cut body", "reset", "end of stream; unfinished event lost"):
        assert read(["maybe:a"], reason=reason).items == [dropped(None, reason)]
    for rest in (b"data: x", b"data: []\n", b"x", b": ping"):
        assert read(["maybe:a"], rest=rest).items == [dropped(None, "end of stream" + LOST)]


def test_certain_stays_certain_and_the_last_reason_counts():
    assert read(["whole:a"], ["maybe"], reason="reset").items == [done("a", 2)]
    assert read(["maybe:a"], ["whole"], reason="reset").items == [done("a", 2)]
    assert read(["whole:a"], ["whole:b"]).items == [done("b", 2)]
    assert read(["whole:a"], ["whole"]).items == [done("a", 2)]
    assert read(["whole"]).items == [done(None, 1)]


def test_terminal_event_has_its_own_reason_else_the_last_said():
    assert read(["whole:a"], ["done:b"]).items == [done("b", 2)]
    assert read(["whole:a"], ["done"]).items == [done("a", 2)]
    assert read(["whole:a", "done"]).items == [done("a", 1)]
    assert read(["whole:a"], "END").items == [done("a", 2)]
    assert read(["whole:a"], ["error"]).items[-1].message == "busy"


@pytest.mark.parametrize("mark", ["END", "over and out"])
def test_end_mark(mark):
    assert read(["text:a"], mark, ["text:b"]).items == [text("a", 1), done(None, 2)]


def test_end_mark_may_be_json():
    class Null(Words):
        end_marks = frozenset({"null"})

    assert read("null", dialect=Null()).items == [done(None, 1)]


# An unfinished last frame

UNFINISHED = [b"data: %s", b"data: %s\n", b"data:%s\r\n", b"data: %s\r", b"id: 1\ndata: %s\nx"]


@pytest.mark.parametrize("form", UNFINISHED)
def test_whole_last_frame_is_read(form):
    def flushed(body):
        return read(["text:a"], rest=form % body, dialect=FLUSHING).items[1:]

    assert flushed(b"END") == [done(None, 2)]
    assert flushed(b'["done:b"]') == [done("b", 2)]
    assert flushed(b'["whole:b"]') == [done("b", 2)]
    assert flushed(b'["maybe:b"]') == [done("b", 2)]
    assert flushed(b'["text:b", "text:c"]') == [text("b", 2), text("c", 2), dropped(2)]
    assert flushed(b'["text:b", "whole:d"]') == [text("b", 2), done("d", 2)]
    assert flushed(b"[]") == [dropped(1)]


@pytest.mark.parametrize("form", UNFINISHED)
@pytest.mark.parametrize("half", [b"EN", b"[", b'["text:b"', b"5", b'{"a": 1', b"\xff"])
def test_half_a_frame_is_lost_and_no_malformed_one(form, half):
    result = read(["text:a"], rest=form % half, dialect=FLUSHING)
    assert result.items == [text("a", 1), dropped(1, "end of stream" + LOST)]
    assert read(["maybe:b"], rest=form % half, dialect=FLUSHING).items == [
        dropped(None, "end of stream" + LOST)
    ]
    assert read(["whole:b"], rest=form % half, dialect=FLUSHING).items == [done("b", 1)]


@pytest.mark.parametrize("rest", [b": ping", b": ping\n", b":", b"data", b"data:\n", b"data: "])
def test_comments_and_empty_data_count_as_nothing_left(rest):
    assert read(["text:a"], rest=rest, dialect=FLUSHING).items[-1] == dropped(1)
    assert read(["maybe:b"], rest=rest, dialect=FLUSHING).items == [done("b", 1)]


@pytest.mark.parametrize(
    "rest", [b"x", b"x\n", b"event: e\n", b"id: 1", b"\xef\xbb", b"x: []\n: c"]
)
def test_lines_that_are_no_frame_are_lost(rest):
    stream = rest if rest.startswith(b"\xef") else frames(["text:a"]) + rest
    last = read(rest=stream, dialect=FLUSHING).items[-1]
    assert last.reason == "end of stream" + LOST


@pytest.mark.parametrize("reason", ["cut body", "reset", "closed"])
def test_last_frame_is_read_only_if_the_body_has_ended_well(reason):
    result = read(["text:a"], rest=b'data: ["done:b"]', reason=reason, dialect=FLUSHING)
    assert result.items[-1] == dropped(1, reason + LOST)


def test_other_dialects_lose_it():
    result = read(["text:a"], rest=b'data: ["done:b"]\n')
    assert result.items[-1] == dropped(1, "end of stream" + LOST)


def test_bug_of_the_dialect_in_the_last_frame_is_the_end():
    class Buggy(Flushing):
        def read(self, sse_id, event, body):
            raise ZeroDivisionError

    decoder = TurnDecoder(dialect=Buggy())
    decoder.receive_data(b"data: []")
    with pytest.raises(ZeroDivisionError):
        decoder.receive_eof()
    assert decoder.state is TurnState.FAILED
    assert decoder.receive_eof() == []


def test_last_frame_is_read_once():
    calls = []

    class Counting(Flushing):
        def read(self, sse_id, event, body):
            calls.append(sse_id)
            return super().read(sse_id, event, body)

    feed_turn([b'data: ["text:a"]'], end=True, dialect=Counting())
    assert calls == [(0, 1)]
