"""What a request asks for, at the path of each dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .._requests import Said, request_body
from .connection import BadRequest, Request

DEFAULT_MODEL = "mimir"
PATHS = {
    "turn": "/turns",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": f"/v1beta/models/{DEFAULT_MODEL}:streamGenerateContent",
}
_DIALECTS = {path: dialect for dialect, path in PATHS.items()}
# google-genai takes v1 or v1beta, depending on its version and options.
_GEMINI_PATH = re.compile("/v1(?:alpha|beta)?/models/([^/]+):([a-zA-Z]+)")
# The key that holds the conversation in a request of each dialect, with the newest message at its
# end.
_CONVERSATION = {
    "openai-chat": "messages",
    "openai-responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
}


class Question(NamedTuple):
    """The message, and the model that it is for: "" if the request names none."""

    message: str
    model: str = ""


def dialect_at(path: str) -> str | None:
    """The dialect that is spoken at a path, None at others."""
    return "gemini" if _GEMINI_PATH.fullmatch(path) else _DIALECTS.get(path)


def read_question(dialect: str, request: Request, path: str) -> Question:
    """Read the question from the body of a request. Raises BadRequest."""
    try:
        body = json.loads(request.body or b"{}")
        if not isinstance(body, dict):
            raise ValueError
        if dialect == "turn":
            question = Question(_text(body.get("message", "")))
        else:
            _check_streamed(dialect, path, body, request.headers)
            said = _said(body.get(_CONVERSATION[dialect], ""))
            question = Question(_text(said), _text(_model(path, body)))
    except (ValueError, RecursionError):
        message = f"the body must be a JSON object such as {_example(dialect)}"
        raise BadRequest(400, message) from None
    return question


def _example(dialect: str) -> str:
    model = {} if dialect in ("turn", "gemini") else {"model": DEFAULT_MODEL}
    return json.dumps(request_body(dialect, [Said("user", "Hi")], model))


def _check_streamed(
    dialect: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """Raises BadRequest unless an event stream is asked for.

    The SDKs say so in the body. A client that says nothing there may use the header that exists for
    it.
    """
    if dialect == "gemini":
        if not path.endswith(":streamGenerateContent"):
            raise BadRequest(400, "this server only streams: use streamGenerateContent")
    elif not body.get("stream", "text/event-stream" in headers.get("accept", "")):
        raise BadRequest(400, 'this server only streams: send "stream": true')


def _model(path: str, body: Mapping[str, Any]) -> Any:
    gemini = _GEMINI_PATH.fullmatch(path)
    return gemini[1] if gemini else body.get("model", "")


def _said(content: Any) -> str:
    """The text of a conversation's last message, in any of the shapes that the dialects have."""
    match content:
        case str():
            return content
        case [*_, {"role": _} as last]:
            return _said(last)
        case [*parts]:
            return "".join(_said(part) for part in parts)
        case {"content": inner} | {"parts": inner} | {"text": inner}:
            return _said(inner)
    return ""


def _text(value: Any) -> str:
    """The value, if it is a string that UTF-8 can carry. Raises ValueError."""
    if not isinstance(value, str):
        raise ValueError
    value.encode()
    return value
