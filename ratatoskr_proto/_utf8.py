"""Text of which no byte is lost: an invalid byte stands in it as a surrogate of its own.

So a part of an event that is not put out yet can be decoded, kept as the bytes that came, and
decoded again.
"""

from __future__ import annotations


def decoded(data: bytes | bytearray) -> str:
    """Return bytes as such a text."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Return the bytes that were decoded."""
    return text.encode("utf-8", "surrogateescape")


def size(text: str) -> int:
    """Return the number of the bytes that were decoded."""
    return len(text) if text.isascii() else len(as_bytes(text))


def replaced(text: str) -> str:
    """Return the text with U+FFFD for invalid bytes, as the Encoding Standard has it."""
    return text if text.isascii() else as_bytes(text).decode("utf-8", "replace")
