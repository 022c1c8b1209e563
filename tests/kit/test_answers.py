"""The strategies of answers: what a decoder reads is what they say, for every chunking; and the
property that no answer is called complete unless the server said so.
"""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ratatoskr_proto import Done, Reasoning, ServerError, SseConnectionDropped, Text, TurnDecoder
from ratatoskr_proto.dialects import DIALECTS, OPENAI_CHAT, Dialect
from ratatoskr_proto.testing import answers, chunkings, cut_answers

every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
REASONS = ["end of stream", "cut body", "reset", "read timeout"]


def read(dialect, chunks, reason="end of stream"):
    decoder = TurnDecoder(dialect=dialect)
    items = [item for chunk in chunks for item in decoder.receive_data(chunk)]
    return items + decoder.receive_eof(reason)


def joined(items, kind):
    return "".join(item.text for item in items if isinstance(item, kind))


@every_dialect
@settings(max_examples=25)
@given(st.data())
def test_an_answer_is_read_as_it_says(dialect, data):
    answer = data.draw(answers(dialect))
    *items, last = read(dialect, data.draw(chunkings(answer.stream)))
    assert joined(items, Text) == answer.text
    assert joined(items, Reasoning) == answer.reasoning
    if answer.error is None:
        assert isinstance(last, Done)
        assert last.stop_reason == answer.stop_reason
    else:
        assert last == ServerError(answer.error, sse_id=last.sse_id, body=last.body)


@every_dialect
@settings(max_examples=40)
@given(st.data())
def test_an_answer_that_is_cut_is_never_called_complete_unless_the_server_said_so(dialect, data):
    cut = data.draw(cut_answers(dialect))
    reason = data.draw(st.sampled_from(REASONS))
    *items, last = read(dialect, data.draw(chunkings(cut.stream)), reason)
    assert cut.answer.text.startswith(joined(items, Text))
    assert cut.answer.reasoning.startswith(joined(items, Reasoning))
    if isinstance(last, Done):
        assert cut.complete
        assert last.stop_reason in (cut.answer.stop_reason, None)
    else:
        assert isinstance(last, (ServerError, SseConnectionDropped))
        # What is whole is called so: a finish reason is enough, and the mark needs no line end.
        assert not (dialect is OPENAI_CHAT and cut.complete and reason == "end of stream")
    if isinstance(last, ServerError):
        assert cut.answer.error == last.message


@every_dialect
def test_answers_of_every_kind_occur(dialect):
    kinds = {
        "error": lambda answer: answer.error is not None,
        "text": lambda answer: len(answer.text) > 1,
        "no text": lambda answer: answer.text == answer.reasoning == "",
        "CRLF": lambda answer: b"\r\n" in answer.stream,
        "JSON on many lines": lambda answer: b"\ndata: }" in answer.stream,
        "keep-alive": lambda answer: b": ping" in answer.stream,
        "letters": lambda answer: not answer.stream.isascii(),
    }
    found = set()

    @settings(database=None, derandomize=True, phases=[Phase.generate])
    @given(answers(dialect))
    def look(answer):
        found.update(kind for kind, occurs in kinds.items() if occurs(answer))

    look()
    assert found == set(kinds)


def test_answers_are_cut_before_and_after_they_are_complete():
    found = set()

    @settings(database=None, derandomize=True, max_examples=20, phases=[Phase.generate])
    @given(cut_answers(OPENAI_CHAT))
    def look(cut):
        assert cut.answer.stream.startswith(cut.stream)
        found.add(cut.complete)

    look()
    assert found == {True, False}


@pytest.mark.parametrize("strategy", [answers, cut_answers])
def test_a_dialect_is_one_of_the_bundled(strategy):
    class Other(Dialect):
        name = "other"

        def read(self, sse_id, event, body):
            return None

    with pytest.raises(ValueError, match=r"answers for turn, openai-chat, .*, but not for other"):
        strategy(Other())
    with pytest.raises(TypeError, match="dialect must be a Dialect, not str"):
        strategy("openai-chat")
