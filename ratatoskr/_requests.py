"""The request that asks a server for an answer, in each dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_ANTHROPIC_MAX_TOKENS = 1024  # the server wants a number


class Said(NamedTuple):
    """A message of the ``"user"``, or an answer of the ``"assistant"``."""

    role: str
    text: str


def request_body(
    dialect: str, said: Sequence[Said], keys: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The JSON body of a request for an answer to what was said, the newest message last.

    ``dialect`` is the name of one of ``DIALECTS``; a server of turns gets the newest message only.
    ``keys`` are added, or replace those of the same name. Raises ValueError for another dialect.
    """
    messages = [{"role": each.role, "content": each.text} for each in said]
    body: dict[str, Any]
    match dialect:
        case "turn":
            body = {"message": said[-1].text}
        case "openai-chat":
            body = {"messages": messages, "stream": True}
        case "openai-responses":
            body = {"input": messages, "stream": True}
        case "anthropic":
            body = {"messages": messages, "stream": True, "max_tokens": _ANTHROPIC_MAX_TOKENS}
        case "gemini":
            roles = {"user": "user", "assistant": "model"}
            contents = [{"role": roles[each.role], "parts": [{"text": each.text}]} for each in said]
            body = {"contents": contents}
        case _:
            raise ValueError(f"no request is known for the dialect {dialect!r}")
    return body | dict(keys or {})
