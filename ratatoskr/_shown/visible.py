"""Text of a server as a terminal may show it: all of it can be read, and none of it obeyed."""

from __future__ import annotations

import json
import re

# Control characters but tab and line feed, the line ends of Unicode, what turns the direction of
# text around, what has no width and could hide a word or carry a message (joiners and variation
# selectors, which emoji and many scripts need, are left alone), and lone surrogates, which no
# terminal can be sent.
_HARMFUL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_ANY_HARMFUL = re.compile(f"[{_HARMFUL}]")
_PAIR = "[\ud800-\udbff][\udc00-\udfff]"
# The only flags that are written with tag characters: England, Scotland, Wales.
_FLAG = "\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(char)) for char in name) for name in ("eng", "sct", "wls"))
)
_TO_REPLACE = re.compile(f"{_PAIR}|{_FLAG}|[{_HARMFUL}]")


def visible(text: str) -> str:
    """Escape what could command a terminal or hide in it, as ``repr()`` does; tabs and line feeds
    stay. Surrogates that are the two halves of one character become that character.
    """
    if _ANY_HARMFUL.search(text) is None:
        return text
    return _TO_REPLACE.sub(_replace, text)


def printable(text: str) -> str:
    """As ``visible``, with tabs and line feeds escaped too, so that it stays on one line."""
    return visible(text).replace("\t", "\\t").replace("\n", "\\n")


def json_visible(text: str) -> str:
    """Escape the same characters in a text that is JSON, as JSON does."""
    return _ANY_HARMFUL.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _replace(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1:
        return repr(found)[1:-1]
    return found.encode("utf-16", "surrogatepass").decode("utf-16")


class HalfKeeper:
    """Keeps the first half of a character that is cut in two until the text after it comes.

    JSON may write a character as two surrogates, and a server may cut its text between them.
    """

    def __init__(self) -> None:
        self._half = ""

    def add(self, text: str) -> str:
        """Return the text that can be shown now, the half that was kept included."""
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._half = text[-1]
            text = text[:-1]
        return text

    def rest(self) -> str:
        """Return the half whose other half never came, or ``""``."""
        rest, self._half = self._half, ""
        return rest
