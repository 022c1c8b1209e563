"""The rules that ``check_decoder`` knows: each with its clause and with streams that probe it.

The clauses are those of the WHATWG HTML standard, section 9.2. A probe needs as little as possible
of the other rules, so that a decoder that breaks one rule fails the probes of that rule only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Rule(NamedTuple):
    """A rule of the standard. ``about`` says whether a small stream may be about it."""

    name: str
    clause: str
    about: Callable[[bytes], object]
    probes: tuple[bytes, ...] = ()


def _has(pattern: bytes) -> Callable[[bytes], object]:
    """Whether a stream has this; ``^`` and ``$`` are the start and the end of a line."""
    return re.compile(pattern, re.MULTILINE).search


def _is_invalid_utf8(data: bytes) -> bool:
    return data.decode("utf-8", "replace").encode() != data


def _mixes_line_ends(data: bytes) -> bool:
    return len(set(re.findall(rb"\r\n|\r|\n", data))) > 1


# A line of a block, and one that is not data.
_LINES = rb"(?:.+\n)*"
_NO_DATA = rb"(?:(?!data[:\n]).+\n)*"
_BLOCK = rb"(?:\A\n?|(?<=\n\n))"

# A stream that could be about several rules is about the first of them, so the order is from the
# special to the general. After the rules of line ends, LF is the only one.
RULES = (
    Rule(
        "A BOM further on is text",
        '9.2.6: "The UTF-8 decode algorithm strips one leading UTF-8 Byte Order Mark (BOM)"',
        _has(rb"(?s:.)\xef\xbb\xbf"),
        (b"data:\xef\xbb\xbf\n\n", b"data: a\n\n\xef\xbb\xbfdata: b\n\n"),
    ),
    Rule(
        "One leading BOM is dropped",
        '9.2.6: "The UTF-8 decode algorithm strips one leading UTF-8 Byte Order Mark (BOM)"',
        _has(rb"\A\xef\xbb\xbf"),
        (b"\xef\xbb\xbfdata: a\n\n", b"\xef\xbb\xbf:\ndata: a\n\n", b"\xef\xbb\xbf\n\ndata: a\n\n"),
    ),
    Rule(
        "Invalid UTF-8 becomes U+FFFD",
        '9.2.6: "Streams must be decoded using the UTF-8 decode algorithm"',
        _is_invalid_utf8,
        (
            b"data: \xff\n\n",
            b"data: \xe2\x82\n\n",
            b"data: \xf0\x80\x80\xaf\n\n",
            b"data: \xed\xa0\x80\n\n",
            b"data: a\xc0\x8a\n\n",
            b"data: caf\xe9 \n\n",
            b":\xff\ndata: a\n\n",
            b"\xff: a\ndata: a\n\n",
        ),
    ),
    Rule(
        "Only LF, CR and CRLF end a line",
        '9.2.6: CRLF, LF and CR are "the ways in which a line can end"',
        _has(rb"[\x0b\x0c\x1c-\x1f]|\xc2\x85|\xe2\x80[\xa8\xa9]"),
        tuple(
            b"data: a" + character.encode() + b"b\n\n"
            for character in "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\x1f"
        ),
    ),
    Rule(
        "An id with a NUL is ignored",
        '9.2.6: "If the field value does not contain U+0000 NULL, then set the last event ID '
        'buffer to the field value. Otherwise, ignore the field"',
        _has(rb"^id:.*\0"),
        (b"id: \0\ndata: a\n\n", b"id: a\0b\ndata: a\n\n", b"id: 1\nid: \0\ndata: a\n\n"),
    ),
    Rule(
        "A NUL elsewhere is text",
        '9.2.6: nothing but the "id" field knows of U+0000 NULL',
        _has(rb"\0"),
        (
            b"data: a\0b\n\n",
            b"data: \0\n\n",
            b"event: \0\ndata: a\n\n",
            b"data: b\ndata\0: a\n\n",
            b":\0\ndata: a\n\n",
        ),
    ),
    Rule(
        "Line ends may be mixed",
        '9.2.6: CRLF, LF and CR are "the ways in which a line can end"',
        _mixes_line_ends,
        (b"data: a\n\r\n", b"data: a\r\n\n", b"data: a\r\r\n", b"data: a\n\r", b"data: a\r\n\r"),
    ),
    Rule(
        "A CR alone ends a line",
        '9.2.6: "a single U+000D CARRIAGE RETURN (CR) character not followed by a U+000A LINE FEED '
        '(LF) character"',
        _has(rb"\r(?!\n)"),
        (b"data: a\r\r", b"data: a\rdata: b\r\r", b"data: a\r\rdata: b\r\r", b":a\rdata: a\r\r"),
    ),
    Rule(
        "A CRLF ends one line",
        '9.2.6: "a U+000D CARRIAGE RETURN U+000A LINE FEED (CRLF) character pair"',
        _has(rb"\r\n"),
        (b"data: a\r\n\r\n", b"data: a\r\ndata: b\r\n\r\n", b"data: a\r\n\r\ndata: b\r\n\r\n"),
    ),
    Rule(
        "An unfinished event is dropped",
        '9.2.6: "If the file ends in the middle of an event, before the final empty line, the '
        'incomplete event is not dispatched"',
        _has(rb"[^\n]\n?\Z"),
        (b"data", b"data: a", b"data: a\n", b"data: a\n\ndata: b\n", b"data: a\nid: 1"),
    ),
    Rule(
        "A line that begins with a colon is ignored",
        '9.2.6: "If the line starts with a U+003A COLON character (:): Ignore the line"',
        _has(rb"^:"),
        (
            b":\n\n",
            b": a\n\n",
            b":data: a\n\n",
            b": a\ndata: a\n\n",
            b"data: a\n:\ndata: b\n\n",
            b":\n\ndata: a\n\n",
        ),
    ),
    Rule(
        "A retry field is not an event and changes none",
        '9.2.6: "If the field value consists of only ASCII digits, then [...] set the event '
        "stream's reconnection time to that integer. Otherwise, ignore the field\"",
        _has(rb"^retry"),
        (
            b"retry: 5\n\n",
            b"retry: 5\ndata: a\n\n",
            b"retry: x\ndata: a\n\n",
            b"retry\ndata: a\n\n",
            b"retry:\ndata: a\n\n",
            b"retry: -1.5\ndata: a\n\n",
            b"retry: \xc2\xb2\ndata: a\n\n",
            b"retry: " + b"9" * 5000 + b"\ndata: a\n\n",
        ),
    ),
    Rule(
        "An empty id clears the last one",
        '9.2.6: "set the last event ID buffer to the field value", also if that is empty',
        _has(rb"^id(: ?)?$"),
        (
            b"id: 1\nid\ndata: a\n\n",
            b"id: 1\nid:\ndata: a\n\n",
            b"id: 1\ndata: a\n\nid: \ndata: b\n\n",
        ),
    ),
    Rule(
        "A block without data is not an event, but its id counts",
        '9.2.6: "Set the last event ID string of the event source to the value of the last event '
        'ID buffer", which stands before "If the data buffer is an empty string, [...] return"',
        _has(_BLOCK + _NO_DATA + rb"id.*\n" + _NO_DATA + rb"\n"),
        (b"id: 1\n\n", b"id: 1\n\n\n", b"id: 1\n\ndata: a\n\n"),
    ),
    Rule(
        "A block without data leaves no event type",
        '9.2.6: "If the data buffer is an empty string, set the data buffer and the event type '
        'buffer to the empty string and return"',
        _has(_BLOCK + _NO_DATA + rb"event.*\n" + _NO_DATA + rb"\n"),
        (b"event: a\n\n", b"event: a\n\ndata: a\n\n"),
    ),
    Rule(
        "An event carries the last id of the stream",
        '9.2.6: "The buffer does not get reset, so the last event ID string of the event source '
        'remains set to this value until the next time it is set by the server"',
        _has(rb"^id"),
        (
            b"id: 1\ndata: a\n\n",
            b"data: a\nid: 1\n\n",
            b"id: 1\nid: 2\ndata: a\n\n",
            b"id: 1\ndata: a\n\ndata: b\n\n",
            b"id: 1\ndata: a\n\n\n",
        ),
    ),
    Rule(
        "An empty event type is message",
        '9.2.6: "If the event type buffer has a value other than the empty string, change the '
        'type of the newly created event"',
        _has(rb"^event(: ?)?$"),
        (b"event\ndata: a\n\n", b"event:\ndata: a\n\n", b"event: a\nevent:\ndata: a\n\n"),
    ),
    Rule(
        "An event type is that of one event",
        '9.2.6: "Set the data buffer and the event type buffer to the empty string"',
        _has(rb"^event.*\n" + _LINES + rb"\n(?s:.)*^data"),
        (b"event: a\ndata: a\n\ndata: b\n\n",),
    ),
    Rule(
        "The event field sets the type",
        '9.2.6: "If the field name is "event": Set the event type buffer to the field value"',
        _has(rb"^event:"),
        (b"event: a\ndata: a\n\n", b"data: a\nevent: a\n\n", b"event: a\nevent: b\ndata: a\n\n"),
    ),
    Rule(
        "Field names are exact, and all others are ignored",
        '9.2.6: "Field names must be compared literally, with no case folding performed"',
        _has(rb"^(?!data(?::|$)|event(?::|$)|id(?::|$)|retry(?::|$))."),
        (
            b"a\n\n",
            b"a: a\n\n",
            b"a: a\ndata: a\n\n",
            b"Data: a\n\n",
            b"datas: a\n\n",
            b" data: a\n\n",
            b"data : a\n\n",
            b"data \n\n",
            b"data: a\nDATA: b\n\n",
            b"data: a\n \ndata: b\n\n",
        ),
    ),
    Rule(
        "Data lines are joined with LF",
        '9.2.6: "Append the field value to the data buffer, then append a single U+000A LINE FEED '
        '(LF) character to the data buffer"',
        _has(rb"^data.*\n" + _LINES + rb"data: ?."),
        (b"data: a\ndata: b\n\n", b"data:\ndata: a\n\n", b"data: a\ndata:\ndata: b\n\n"),
    ),
    Rule(
        "One LF is removed at the end of the data, no more",
        "9.2.6: \"If the data buffer's last character is a U+000A LINE FEED (LF) character, then "
        'remove the last character from the data buffer"',
        _has(rb"^data.*\n" + _LINES + rb"data"),
        (b"data: a\ndata\n\n", b"data:\ndata:\n\n", b"data: a\ndata:\ndata:\n\n"),
    ),
    Rule(
        "A data field without a value makes an event",
        '9.2.6: "using the whole line as the field name, and the empty string as the field value"; '
        "its LF is in the data buffer, which so is not empty",
        _has(rb"^data(: ?)?$"),
        (b"data\n\n", b"data:\n\n", b"data: \n\n"),
    ),
    Rule(
        "The first colon ends the field name",
        '9.2.6: "Collect the characters on the line after the first U+003A COLON character (:), '
        'and let value be that string"',
        _has(rb"^\w+:.*:"),
        (b"data: a:b\n\n", b"data::\n\n", b"data: a: b\n\n"),
    ),
    Rule(
        "One space after the colon is dropped, and no other",
        '9.2.6: "If value starts with a U+0020 SPACE character, remove it from value"',
        _has(rb"^\w+:(?:[^ \n]| [ \t]|.*[ \t]$)"),
        (
            b"data:a\n\n",
            b"data:  a\n\n",
            b"data:\ta\n\n",
            b"data: \ta\n\n",
            b"data: a \n\n",
            b"data:  \n\n",
            b"data:\xc2\xa0a\n\n",
        ),
    ),
    Rule(
        "A blank line dispatches the event",
        '9.2.6: "If the line is empty (a blank line): Dispatch the event"',
        _has(b""),
        (
            b"data: a\n\n",
            b"data: a\n\ndata: b\n\n",
            b"data: a\n\n\n\n",
            b"\n\ndata: a\n\n",
            b"",
            b"\n",
            b"data: \xc3\xa9\xf0\x9f\x8c\xb3\n\n",
        ),
    ),
)

# For any stream that is read correctly in one chunk.
_ANYWHERE = '9.2.6: "reading everything line by line", however it was cut on its way'
CUT_RULES = (
    Rule("A leading BOM may be cut", _ANYWHERE, _has(rb"\A\xef\xbb\xbf")),
    Rule("A CRLF may be cut", _ANYWHERE, _has(rb"\r\n")),
    Rule("A CR may be the end of a chunk", _ANYWHERE, _has(rb"\r")),
    Rule("A character may be cut", _ANYWHERE, _has(rb"[\x80-\xff]")),
    Rule("A stream may be cut anywhere", _ANYWHERE, _has(b"")),
)

_AT_ONCE = (
    '9.2.6: "If the line is empty (a blank line): Dispatch the event"; nothing else to wait for'
)
PROMPT_RULES = (
    Rule("An event comes with the CR that completes it", _AT_ONCE, _has(rb"\r")),
    Rule("An event comes with the chunk that completes it", _AT_ONCE, _has(b"")),
)

NEVER_RAISES = Rule(
    "No bytes make it raise",
    "9.2.6: it says what to do with every line, if only to ignore it",
    _has(b""),
)


def rules_of(data: bytes, rules: tuple[Rule, ...] = RULES) -> list[Rule]:
    """The rules that a small stream may be about; every stream may be about the last one."""
    # The rules after those of line ends know LF only.
    plain = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return [rule for rule in rules if rule.about(data) or rule.about(plain)]


def rule_of(data: bytes, rules: tuple[Rule, ...] = RULES) -> Rule:
    """The rule that a small stream is most likely about."""
    return rules_of(data, rules)[0]
