"""Which heads start an event stream: media types and content codings, read as browsers do."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.adapters import ADAPTERS, every_adapter
from support.exchanging import HEAD, TURN, feed, seen, types_of
from support.fault_servers import GZIP, RAW, ZLIB, deflated, distrusting_context
from support.heads import HEADS
from support.raw_server import serving

from ratatoskr_proto import EventStreamDecoder, ServerSentEvent, SseConnectFailed
from ratatoskr_transports._http.head import media_type

ROOT = Path(__file__).parent.parent.parent
OK = ServerSentEvent("message", "ok…", "")


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_head_starts_a_stream_or_does_not(head):
    result = feed([head.response()], decoder=EventStreamDecoder())
    assert (OK in result.items) is head.opens


@pytest.mark.parametrize("adapter", [a for a in ADAPTERS if str(a) in ("httpx", "trio")], ids=str)
def test_every_adapter_reads_heads_alike(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(HEADS[int(peer.header("x-number"))].response())

    def items_after(number):
        options = {"headers": {"X-Number": str(number)}, "verify": distrusting_context()}
        return adapter.run_events(server.url, **options).items

    with serving(handler) as server:
        opened = [OK in items_after(number) for number in range(len(HEADS))]
    assert opened == [head.opens for head in HEADS]


def test_page_shows_the_table():
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    rows = [line for line in page.split("## Heads")[1].split("\n") if line.startswith("| ")]
    assert rows[1:] == [head.row() for head in HEADS]


# Media types.


@pytest.mark.parametrize(
    ("values", "found"),
    [
        *[("", ""), (" , ,", ""), ("a", ""), ("a/", ""), ("/b", ""), ("a/b", "a/b")],
        *[("A/B;c=D", "a/b"), ("a/b, c/d", "c/d"), ("a/b, */*", "a/b"), ("a/b, c/*", "c/*")],
        *[("a/b;c", "a/b"), ("a/b ;c", "a/b"), ("a/b c", ""), ("a /b", ""), ("a/b\x0b", "")],
        *[('a/b;c="d,e/f"', "a/b"), ('a/b;c="d\\",e/f', "a/b"), ('a/b;c="d", e/f', "e/f")],
        *[('"a/b"', ""), ('a/b;c="', "a/b"), ('a/b;c="\\', "a/b"), ("ü/b", ""), ("a/b;ü", "a/b")],
    ],
)
def test_last_valid_media_type_counts(values, found):
    assert media_type(values) == found


@given(st.text(alphabet='a/;,"\\ *\t=', max_size=30))
def test_media_type_is_that_of_a_literal_reading_of_the_standard(values):
    assert media_type(values) == literal(values)


def literal(values):
    """Fetch's "get, decode, and split" and "extract a MIME type", step by step."""
    pieces, piece, position = [], "", 0
    while position < len(values):
        if values[position] == '"':
            piece += values[position]
            position += 1
            while position < len(values):
                piece += values[position]
                position += 1
                if piece[-1] == "\\" and position < len(values):
                    piece += values[position]
                    position += 1
                elif piece[-1] == '"':
                    break
        elif values[position] == ",":
            pieces.append(piece)
            piece = ""
            position += 1
        else:
            piece += values[position]
            position += 1
    found = ""
    token = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
    for each in [*pieces, piece]:
        kind, slash, rest = each.strip(" \t\r\n").partition("/")
        subtype = rest.partition(";")[0].rstrip(" \t\r\n")
        if slash and token.fullmatch(kind) and token.fullmatch(subtype):
            essence = f"{kind}/{subtype}".lower()
            found = found if essence == "*/*" else essence
    return found


# Content codings.


def coded(coding, body=TURN):
    return HEAD + f"Content-Encoding: {coding}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    "coding", ["none", "utf-8", "UTF-8", "chunked", "none, identity", "*", "aws-chunked", ", ,"]
)
def test_coding_that_http_does_not_have_changes_nothing(coding):
    assert types_of(seen(coded(coding)).items) == ["text", "done"]


@pytest.mark.parametrize(
    ("coding", "wbits"),
    [
        *[("gzip", GZIP), ("X-GZip", GZIP), ("none, gzip", GZIP), ("gzip, identity", GZIP)],
        *[("deflate", ZLIB), ("identity, deflate, utf-8", ZLIB), ("deflate", RAW)],
    ],
)
def test_one_coding_that_we_know_is_undone(coding, wbits):
    body = b"".join(deflated(wbits, TURN))
    assert types_of(seen(coded(coding, body)).items) == ["text", "done"]


@pytest.mark.parametrize(
    "coding",
    [
        *["br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi", "aes128gcm", "pack200-gzip"],
        *["gzip, gzip", "gzip, br", "deflate, x-gzip", "none, br", "BR"],
    ],
)
def test_coding_of_http_that_cannot_be_undone_is_a_failure(coding):
    items = seen(coded(coding, b"abc")).items
    assert items == [SseConnectFailed(200, "abc", "content-encoding")]


@every_adapter
def test_head_of_a_refused_response_can_be_asked_for(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(HEAD.replace(b"text/event-stream", b"text/html") + b"Content-Length: 0\r\n\r\n")

    with serving(handler) as server:
        stream = adapter.run_events(server.url).stream
    assert (stream.status, stream.headers["content-type"]) == (200, "text/html")
