"""docs/migrating.md: both blocks of a pair print the same, and its table is what is measured."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from support.frames import chunk
from support.raw_server import CHUNKED, LAST_CHUNK, serving

PAGE = (Path(__file__).parent.parent.parent / "docs" / "migrating.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (.*?)\n\n```py\n(.*?)```\n\n```py\n(.*?)```", PAGE, re.M | re.S)
NAMES = [name for name, _, _ in SECTIONS]


def stream(body):
    return CHUNKED + chunk(body) + LAST_CHUNK


def answer(status, media_type, body):
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


GOOD = stream(b'id: 1\nevent: greeting\ndata: Hello\n\nid: 2\ndata: {"a": 1}\n\n')
CASES = {
    "a keep-alive after an id": stream(b"id: 1\ndata: a\n\n: still here\n\ndata: b\n\n"),
    "a block with an id alone": stream(b"id: 1\n\ndata: b\n\n"),
    "two lines of data": stream(b"data: a\ndata: b\n\n"),
    "`data:` without a space": stream(b"data:a\n\n"),
    "U+2028 in the data": stream("data: a\u2028b\n\n".encode()),
    "a BOM at the start": stream("\ufeffdata: a\n\n".encode()),
    "an end in mid-event": stream(b"data: a\n\ndata: hal\n"),
    "a body that is cut": CHUNKED + chunk(b"data: a\n\n"),
    "503 with an event stream": answer("503 Busy", "text/event-stream", b"data: a\n\n"),
    "200 with HTML": answer("200 OK", "text/html", b"data: a\n\n"),
}


def printed_by(block, response):
    """The lines that a block prints over this response, and the class of the error that ends it."""

    def handler(peer):
        peer.read_request()
        peer.send(response)

    out = io.StringIO()
    error = ""
    with serving(handler) as server, contextlib.redirect_stdout(out):
        try:
            exec(compile(block, "migrating.md", "exec"), {"url": server.url})
        except Exception as raised:
            error = type(raised).__name__
    return out.getvalue(), error


def test_every_library_has_its_pair():
    assert len(SECTIONS) == 5


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # their blocks leave closing to others
@pytest.mark.parametrize(("theirs", "ours"), [pair for _, *pair in SECTIONS], ids=NAMES)
def test_both_blocks_print_the_same(theirs, ours):
    printed = printed_by(theirs, GOOD)
    assert printed == printed_by(ours, GOOD)
    assert printed[0].count("\n") == 2
    assert printed[1] == ""


def cell(block, response):
    """What a block makes of a response, for the table: the data alone, whatever it prints."""
    data_alone = re.sub(r"print\(event\.event, event\.data, .*\)", "print(repr(event.data))", block)
    data_alone = data_alone.replace("print(event.data)", "print(repr(event.data))")
    data_alone = data_alone.replace(
        'print(line.removeprefix("data: "))', 'print(repr(line.removeprefix("data: ")))'
    )
    printed, error = printed_by(data_alone, response)
    data = [f"`{line}`" for line in printed.splitlines()]
    return " ".join([*data, *([f"**{error}**"] if error else [])]) or "–"


@pytest.mark.no_cover  # no line that other tests do not reach
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("case", CASES)
def test_row_of_the_table_is_what_is_measured(case):
    blocks = [theirs for _, theirs, _ in SECTIONS] + [SECTIONS[0][2]]
    row = " | ".join([case, *[cell(block, CASES[case]) for block in blocks]])
    assert f"| {row} |\n" in PAGE
