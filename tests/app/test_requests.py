"""The request for an answer, in each dialect, and how the demo server reads it."""

import pytest

from ratatoskr._requests import Said, request_body
from ratatoskr_proto.dialects import DIALECTS

SAID = [Said("user", "Hi"), Said("assistant", "Hello"), Said("user", "Why?")]
MESSAGES = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Why?"},
]
BODIES = {
    "turn": {"message": "Why?"},
    "openai-chat": {"messages": MESSAGES, "stream": True},
    "openai-responses": {"input": MESSAGES, "stream": True},
    "anthropic": {"messages": MESSAGES, "stream": True, "max_tokens": 1024},
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Hello"}]},
            {"role": "user", "parts": [{"text": "Why?"}]},
        ]
    },
}


def test_every_dialect_has_a_request():
    assert BODIES.keys() == DIALECTS.keys()
    for dialect, body in BODIES.items():
        assert request_body(dialect, SAID) == body


def test_keys_are_added_or_replace_others():
    body = request_body("anthropic", SAID, {"model": "m", "max_tokens": 7})
    assert body == BODIES["anthropic"] | {"model": "m", "max_tokens": 7}


def test_another_dialect_is_refused():
    with pytest.raises(ValueError, match="no request is known for the dialect 'cohere'"):
        request_body("cohere", SAID)
