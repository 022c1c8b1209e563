"""What several dialects read in the same way."""

from __future__ import annotations

import json
from typing import Any


def type_name(event: str, body: dict[str, Any]) -> str:
    """The type of a frame: its JSON ``type``, else ``object``, else the field ``event``."""
    for key in ("type", "object"):
        if isinstance(name := body.get(key), str):
            return name
    return event


def error_message(error: Any) -> str:
    """The message of an error of any shape. Raises ValueError for one that nests too deep."""
    match error:
        case str(message) | {"message": str(message)}:
            return message
    try:
        return json.dumps(error)
    except RecursionError:
        raise ValueError("the error nests too deep") from None


def stop_reason(value: Any, *fillers: str) -> str | None:
    """The stop reason if the value is one. Several servers send fillers with every piece."""
    if isinstance(value, str) and value not in ("", "null", *fillers):
        return value
    return None


def joined_text(content: Any) -> str:
    """The text of a content: a string, or a list with parts of text."""
    if isinstance(content, str):  # twice as quick as match
        return content
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    raise TypeError(f"content must be a string or a list, not {type(content).__name__}")
