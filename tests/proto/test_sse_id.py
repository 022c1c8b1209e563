"""Ids of events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ratatoskr_proto import SseId

numbers = st.integers(0, 10**19 - 1)


@given(numbers, numbers)
def test_parse_and_str_are_each_others_way_back(turn_id, seq):
    assert SseId.parse(str(SseId(turn_id, seq))) == (turn_id, seq)


def test_leading_zeros_are_fine():
    assert SseId.parse("007:00") == SseId(7, 0)


@pytest.mark.parametrize(
    "raw", ["", ":", "1", "1:", ":1", "1:2:3", " 1:2", "1:2\n", "-1:2", "1:+2", "1:²", "٣:1"]
)
def test_anything_else_is_a_value_error(raw):
    with pytest.raises(ValueError, match="an SSE id is written '<turn>:<seq>'"):
        SseId.parse(raw)


def test_at_most_19_digits():
    assert SseId.parse("9" * 19 + ":" + "9" * 19).seq == 10**19 - 1
    with pytest.raises(ValueError, match="1 to 19 ASCII digits"):
        SseId.parse("1:" + "0" * 20)


def test_message_of_a_long_id_is_short():
    with pytest.raises(ValueError, match="SSE id") as caught:
        SseId.parse("x" * 5000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("raw", [None, 5, b"1:2", (1, 2)])
def test_other_types_are_a_type_error(raw):
    with pytest.raises(TypeError, match="is read from a str"):
        SseId.parse(raw)
