"""The encoders of the demo server: decoding what they wrote gives the events back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratatoskr._demo.encoders import ENCODERS
from ratatoskr_proto import Done, Reasoning, ServerError, SseId, Text, TurnDecoder, Unknown
from ratatoskr_proto.dialects import DIALECTS

USUAL = {
    "turn": None,
    "openai-chat": "stop",
    "openai-responses": "completed",
    "anthropic": "end_turn",
    "gemini": "STOP",
}


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
reasons = st.none() | st.sampled_from(["length", "max_tokens", "tool_calls", "stop"])
# Events without where they stand and their frames.
pieces = st.tuples(st.sampled_from([Text, Reasoning]), texts)
endings = st.tuples(st.just(Done), reasons) | st.tuples(st.just(ServerError), texts)


def plain(event, dialect):
    """What an event says, without where it stands and its frame; None if that is nothing."""
    match event:
        case Text(said) | Reasoning(said) | Done(said) | ServerError(said):
            return type(event), said
        case Unknown("reasoning") if dialect == "turn":  # the turn protocol has no such event
            return Reasoning, event.body["text"]
    return None


@pytest.mark.parametrize("dialect", ENCODERS)
@settings(max_examples=30)
@given(answer=st.lists(pieces), ending=endings)
def test_decoding_an_answer_gives_its_events_back(dialect, answer, ending):
    encoder = ENCODERS[dialect](93, "mimir")
    frames = encoder.start()
    for cls, said in [*answer, ending]:
        frames += encoder.encode(cls(said, sse_id=SseId(0, 0), body={}))
    decoder = TurnDecoder(dialect=DIALECTS[dialect])
    decoded = decoder.receive_data(b"".join(frame.encode() for frame in frames))
    decoded += decoder.receive_eof()
    if ending == (Done, None):
        ending = (Done, USUAL[dialect])
    plain_events = [plain(event, dialect) for event in decoded]
    assert [event for event in plain_events if event] == [*answer, ending]
    assert decoder.over


def test_another_event_cannot_be_encoded():
    event = Unknown("usage", sse_id=SseId(0, 0), body={})
    with pytest.raises(TypeError, match="cannot encode Unknown"):
        ENCODERS["turn"](93, "mimir").encode(event)


def test_there_is_an_encoder_for_each_dialect():
    assert ENCODERS.keys() == DIALECTS.keys()
