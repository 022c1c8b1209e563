"""Text of a server as a terminal may show it: all of it can be read, and none of it obeyed."""

from __future__ import annotations

import re

# Control characters but tab and line feed, the line ends of Unicode, what turns the direction of
# text around, and lone surrogates, which no terminal can be sent.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Escape what could command a terminal, as ``repr()`` does; tabs and line feeds stay."""
    return _HARMFUL.sub(_escape, text)


def printable(text: str) -> str:
    """As ``visible``, with tabs and line feeds escaped too, so that it stays on one line."""
    return visible(text).replace("\t", "\\t").replace("\n", "\\n")


def _escape(match: re.Match[str]) -> str:
    return repr(match[0])[1:-1]
