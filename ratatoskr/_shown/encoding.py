"""Names the encoding of a file that should be UTF-8 and is not."""

from __future__ import annotations

import codecs

BOM = codecs.BOM_UTF8
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def encoding_error(start: bytes) -> str | None:
    """Return what is wrong with a file that starts with these bytes, None if nothing is."""
    if start.startswith(BOM):
        return "it begins with a byte order mark; save it as UTF-8 without one"
    if is_utf_16(start):
        return "it is UTF-16; save it as UTF-8"
    return None


def is_utf_16(start: bytes) -> bool:
    """Whether a file that starts with these bytes, at least four, is text in UTF-16. After its mark
    stands a character of ASCII; without one, the mark may be a mistake in what else is UTF-8.
    """
    return start.startswith(UTF_16) and 0 in start[2:4]


def decoded(content: bytes) -> str:
    """Return the text of a whole file. Raises ValueError with a message for one that is not UTF-8,
    or begins with a byte order mark.
    """
    error = encoding_error(content)
    if error is None:
        try:
            return content.decode()
        except UnicodeDecodeError:
            error = "it is not UTF-8"
    raise ValueError(error)
