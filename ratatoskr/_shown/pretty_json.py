"""JSON for people to read: indented, and in colours. Numbers stay as they were written."""

from __future__ import annotations

import json
import re
from typing import Any

from .visible import json_visible

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_INDENT = "  "
_MAX_INDENTED = 40  # levels; with more of them, spaces would outgrow the text

_KEY, _STRING, _NUMBER, _WORD = "34", "32", "36", "35"  # colours: blue, green, cyan, magenta


def strict_loads(text: str) -> Any:
    """``json.loads``, and ValueError for ``NaN`` and its like, which are not JSON."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def pretty(text: str, *, colour: bool = False) -> str:
    """Indent a text that is JSON, with escapes for what could command a terminal."""
    parts: list[str] = []
    level = 0
    tokens = _TOKEN.findall(text)
    for token, following in zip(tokens, [*tokens[1:], ""], strict=True):
        if token in "{[":
            level += 1
            parts.append(token)
            if following not in ("}", "]"):
                parts.append(_line_end(level))
        elif token in "}]":
            level -= 1
            if parts[-1] not in ("{", "["):
                parts.append(_line_end(level))
            parts.append(token)
        elif token == ",":
            parts.append(token + _line_end(level))
        elif token == ":":
            parts.append(": ")
        else:
            parts.append(_value(token, is_key=following == ":", colour=colour))
    return "".join(parts)


def _line_end(level: int) -> str:
    return "\n" + _INDENT * min(level, _MAX_INDENTED)


def _value(token: str, *, is_key: bool, colour: bool) -> str:
    if token[0] == '"':
        if "\\u" in token:
            token = json.dumps(json.loads(token), ensure_ascii=False)
        code = _KEY if is_key else _STRING
    else:
        code = _WORD if token[0] in "tfn" else _NUMBER
    token = json_visible(token)
    return f"\x1b[{code}m{token}\x1b[0m" if colour else token
