"""JSON as people read it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ratatoskr._shown.pretty_json import pretty, strict_loads
from ratatoskr._shown.visible import visible

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=40)
@given(values, st.booleans(), st.sampled_from([None, 0, 3]))
def test_it_is_the_same_json(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    shown = pretty(text)
    assert json.loads(shown) == json.loads(text)
    assert visible(shown) == shown


def test_it_is_indented_as_json_dumps_does():
    value = {"a": [1, 2.5, [], {}, [{"b": None}]], "c": "x: [1, 2]", "d": {"e": True}}
    assert pretty(json.dumps(value)) == json.dumps(value, indent=2)


def test_numbers_and_duplicate_keys_stay_and_strings_can_be_read():
    text = r'{"a":1.10,"a":1E5,"b":-0,"c":"\u00e9\u202e\"","c":12345678901234567890123}'
    assert pretty(text) == (
        '{\n  "a": 1.10,\n  "a": 1E5,\n  "b": -0,\n  "c": "é\\u202e\\"",\n'
        '  "c": 12345678901234567890123\n}'
    )


def test_colours_are_those_of_keys_strings_numbers_and_words():
    assert pretty('{"a": ["b", 1, null]}', colour=True) == (
        '{\n  \x1b[34m"a"\x1b[0m: [\n    \x1b[32m"b"\x1b[0m,\n    \x1b[36m1\x1b[0m,\n'
        "    \x1b[35mnull\x1b[0m\n  ]\n}"
    )


def test_the_indentation_of_deep_nesting_is_bounded():
    shown = pretty("[" * 900 + "1" + "]" * 900)
    assert len(shown) < 2 * 900 * 90


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", "", "-Infinity"])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(ValueError, match=" "):
        strict_loads(text)
