"""TurnDecoder in every order of calls, beside a model of it."""

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from support.turn_model import TurnModel

from ratatoskr_proto import Event, ServerSentEvent, SseId, TurnDecoder, TurnState, encode_event

pytestmark = pytest.mark.no_cover  # no line that other tests do not reach

LIMIT = 100
BUG = '"bug"'  # on which the caller's own loads fails
GOOD = ['{"type":"text","text":"a"}', '{"type":"x"}', ""]
BAD = [" ", "{", "[]", "{}", '{"type":"text"}', "x" * LIMIT]
DATA = GOOD * 9 + BAD + [BUG] * 4 + ['{"type":"done"}', '{"type":"error","message":"m"}']
IDS = ["42:1", "42:2", "42:3"] * 5 + ["", "43:1", "42", "0042:02"]
FRAMES = st.builds(
    lambda data, id: ServerSentEvent("message", data, id),
    st.sampled_from(DATA),
    st.sampled_from(IDS),
)
BYTES = FRAMES.map(lambda frame: encode_event(frame.data, id=frame.id or None))
BYTES |= st.sampled_from([b"retry: 5\n", b"retry: 6\n\n", b": hi\n\n", b"\n", b"\r", b"\xff\n"])
BUFFERS = st.sampled_from([bytes, bytearray, memoryview])


def fragile(text):
    if text == BUG:
        raise ZeroDivisionError
    return json.loads(text)


class TurnMachine(RuleBasedStateMachine):
    @initialize(
        resume_from=st.none() | st.sampled_from([SseId(42, 0), SseId(42, 2), SseId(43, 1)]),
        loads=st.sampled_from([json.loads, fragile]),
    )
    def begin(self, resume_from, loads):
        self.decoder = TurnDecoder(resume_from, loads=loads, max_event_bytes=LIMIT)
        self.model = TurnModel(resume_from, LIMIT, loads)
        self.fed_with = None
        self.stream = b""  # what was not received yet
        self.items = []

    def agree(self, call, expect, method):
        """The decoder and the model do the same: give items, or raise for the same reason."""
        streaming = self.model.state is TurnState.STREAMING
        if streaming and self.fed_with not in (None, method):
            with pytest.raises(RuntimeError, match=f"after {self.fed_with}"):
                call()
            return
        self.fed_with = method
        try:
            expected = expect() if streaming else []
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                call()
        else:
            items = call()
            assert items == expected
            self.items += items

    @rule(more=st.lists(BYTES, min_size=1, max_size=3), buffer=BUFFERS)
    def receive_whole(self, more, buffer):
        self.stream += b"".join(more)
        self.receive(len(self.stream), buffer)

    @rule(more=BYTES, size=st.integers(1, 40), buffer=BUFFERS)
    def receive_a_part(self, more, size, buffer):
        self.stream += more
        self.receive(size, buffer)

    def receive(self, size, buffer):
        data, self.stream = self.stream[:size], self.stream[size:]
        self.agree(
            lambda: self.decoder.receive_data(buffer(data)),
            lambda: self.model.receive_data(data),
            "receive_data",
        )

    @rule(buffer=BUFFERS)
    def receive_nothing(self, buffer):
        assert self.decoder.receive_data(buffer(b"")) == []  # whatever came before

    @rule(frame=FRAMES, empty_as_none=st.booleans())
    def receive_sse(self, frame, empty_as_none):
        given = ServerSentEvent(*[value or None for value in frame]) if empty_as_none else frame

        def call():
            return self.decoder.receive_sse(given)

        self.agree(call, lambda: self.model.receive_frame(frame), "receive_sse")

    @rule(reason=st.sampled_from(["end of stream", "reset"]))
    def receive_eof(self, reason):
        expected = self.model.receive_eof(reason)
        items = self.decoder.receive_eof(reason)
        assert items == expected
        self.items += items

    @rule()
    def bad_arguments_are_refused_and_change_nothing(self):
        calls = {
            self.decoder.receive_data: [None, 1, "data: a\n\n", [b"\n"]],
            self.decoder.receive_sse: [None, b"data: a\n\n"],
            self.decoder.receive_eof: [None, b"reset"],
        }
        for call, arguments in calls.items():
            for argument in arguments:
                with pytest.raises(TypeError):
                    call(argument)

    @invariant()
    def what_can_be_seen_is_what_the_model_says(self):
        if hasattr(self, "model"):
            for name in ("state", "last_sse_id", "turn_id", "retry_ms", "pending"):
                assert getattr(self.decoder, name) == getattr(self.model, name)

    @invariant()
    def at_most_one_item_ends_it_and_is_the_last(self):
        for item in getattr(self, "items", [])[:-1]:
            assert isinstance(item, Event)
            assert not item.terminal


def test_turn_machine():
    run_state_machine_as_test(
        TurnMachine, settings=settings(max_examples=40, stateful_step_count=15)
    )
