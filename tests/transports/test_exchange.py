"""SseExchange without any connection: heads, bodies and ends of responses.

Every response is fed whole, byte by byte and at random cuts, with the same outcome.
"""

import gzip
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.exchanging import (
    DONE,
    HEAD,
    TEXT,
    TURN,
    chunk,
    chunked,
    feed,
    seen,
    types_of,
    with_length,
)
from support.feeding import cut

from ratatoskr_proto import (
    EventStreamDecoder,
    EventTooLarge,
    MalformedSseData,
    ServerSentEvent,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    encode_event,
)
from ratatoskr_transports import SseExchange

LIMIT = 102400  # bytes of a head


def failed(response, reason="end of stream", **options):
    """The failure that a response gives, and nothing else."""
    [error] = seen(response, reason, **options).items
    assert type(error) is SseConnectFailed
    return error


def dropped(response, reason="end of stream"):
    """The reason why a turn ended after its first event."""
    items = seen(response, reason).items
    assert types_of(items) == ["text", "SseConnectionDropped"]
    assert items[-1].last_sse_id == (42, 1)
    return items[-1].reason


# Bodies that come to their end.


@pytest.mark.parametrize(
    "response",
    [
        chunked(TURN, b""),
        chunked(*[TURN[place : place + 1] for place in range(len(TURN))], b""),
        chunked(TURN[:7], TURN[7:50], TURN[50:], b""),
        chunked(TURN)[:-2] + b"\r\n0\r\nX-Trailer: a\r\nX-Other: b\r\n\r\n",
        HEAD + b"Transfer-Encoding: Chunked\r\n\r\n%X;a=b\r\n%s\r\n0\r\n\r\n" % (len(TURN), TURN),
        with_length(TURN),
        with_length(TURN, len(TURN) + 99),
        HEAD + b"\r\n" + TURN,
        HEAD.replace(b"1.1", b"1.0") + b"\r\n" + TURN,
        HEAD.replace(b"\r\n", b"\n") + b"\n" + TURN,
        HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(TURN), TURN),
        with_length(TURN) + b"HTTP/1.1 200 OK\r\n\r\n",
        chunked(TURN) + b"nonsense after the terminal event\r\n",
    ],
)
def test_turn_comes_out_of_every_kind_of_body(response):
    result = seen(response)
    assert types_of(result.items) == ["text", "done"]
    assert result.items[0].text == "Grüße"
    assert (result.status, result.finished) == (200, True)
    assert result.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize("code", [100, 102, 103, 199])
@pytest.mark.parametrize("number", [1, 20])
def test_up_to_20_informational_responses_are_passed_over(code, number):
    informational = b"HTTP/1.1 %d Wait\r\nLink: </a>\r\n\r\n" % code
    assert types_of(seen(informational * number + with_length(TURN)).items) == ["text", "done"]


def test_21_informational_responses_are_nonsense():
    informational = b"HTTP/1.1 103 Early Hints\r\n\r\n"
    assert failed(informational * 21 + with_length(TURN)) == SseConnectFailed(None, "", "protocol")


def test_headers_are_joined_by_name_and_read_only():
    result = feed([HEAD + "X-A: 1\r\nx-a: ü\r\nX-B:\r\n\r\n".encode()])
    assert result.headers == {"content-type": "text/event-stream", "x-a": "1, ü", "x-b": ""}


# Bodies that do not.


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (chunked(TEXT, b""), "end of stream"),
        (with_length(TEXT), "end of stream"),
        (HEAD + b"\r\n" + TEXT, "end of stream"),
        (HEAD + b"\r\n" + TEXT + b"data: x", "end of stream; unfinished event lost"),
        (with_length(TEXT + b":"), "end of stream; unfinished event lost"),
        (chunked(TEXT), "cut body"),
        (chunked(TEXT) + b"5", "cut body"),
        (chunked(TEXT) + b"5\r\n", "cut body"),
        (chunked(TEXT) + b"5\r\ndat", "cut body; unfinished event lost"),
        (chunked(TEXT) + b"0\r\n", "cut body"),
        (chunked(TEXT) + b"0\r\nX-Trailer: a", "cut body"),
        (chunked(TEXT)[:-2], "cut body"),
        (with_length(TEXT, 9999), "cut body"),
        (with_length(TEXT + b"data", 9999), "cut body; unfinished event lost"),
        (chunked(TEXT) + b"zz\r\n", "protocol"),
        (chunked(TEXT) + b"-5\r\n", "protocol"),
        (chunked(TEXT) + b"f" * 21 + b"\r\n", "protocol"),
        (chunked(TEXT)[:-2] + b"xx", "protocol"),
        (chunked(TEXT) + b"0\r\nno trailer\r\n\r\n", "protocol"),
        (chunked(TEXT) + b"1;" + b"a" * LIMIT + b"\r\n", "protocol"),
    ],
)
def test_body_that_ends_too_early_gives_its_events_and_one_error(response, reason):
    chunks = [response[:300], response[300:]]
    if len(response) > LIMIT:
        items = feed(chunks).items
        assert types_of(items) == ["text", "SseConnectionDropped"]
        assert items[-1].reason == reason
    else:
        assert dropped(response) == reason


READING = ["cut body", "reset", "protocol", "read timeout", "event timeout", "closed"]


@pytest.mark.parametrize("reason", [*READING, "reset (ReadError)"])
def test_reason_for_the_end_is_kept_after_the_head(reason):
    assert dropped(chunked(TEXT), reason) == reason
    assert dropped(HEAD + b"\r\n" + TEXT + b"d", reason) == f"{reason}; unfinished event lost"
    assert seen(HEAD + b"\r\n", reason).items == [SseConnectionDropped(None, reason)]


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Type: te"])
@pytest.mark.parametrize(
    ("reason", "word"),
    [
        *[("end of stream", "closed"), ("cut body", "closed"), ("reset", "closed")],
        *[("reset (ReadError)", "closed (ReadError)"), ("closed", "closed")],
        *[("read timeout", "read timeout"), ("tls (SSLError)", "tls (SSLError)")],
        *[("protocol", "protocol"), ("dns", "dns"), ("refused", "refused")],
    ],
)
def test_end_before_the_head_is_a_failure_to_connect(start, reason, word):
    assert failed(start, reason) == SseConnectFailed(None, "", word)


@pytest.mark.parametrize(
    "response",
    [
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 042 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
        HEAD + b"no header\r\n\r\n",
        HEAD + b"X-A: a\0b\r\n\r\n",
        HEAD + b"Content-Length: x\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        HEAD + b"Transfer-Encoding: br\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_nonsense_in_place_of_a_head_is_a_protocol_failure(response):
    assert failed(response + TURN) == SseConnectFailed(None, "", "protocol")


@pytest.mark.parametrize("informational", [b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"])
@pytest.mark.parametrize("size", [LIMIT, LIMIT + 1, LIMIT + 2, 2 * LIMIT])
@pytest.mark.parametrize("cuts", ["whole", "before the limit", "every byte at the limit"])
def test_limit_of_a_head_is_the_same_however_it_is_cut(informational, size, cuts):
    head = HEAD + b"X-Filler: "
    head += b"a" * (size - len(head) - 4) + b"\r\n\r\n"
    response = informational + head + TURN
    places = {
        "whole": [],
        "before the limit": [LIMIT - 10],
        "every byte at the limit": list(range(LIMIT - 10, len(informational) + LIMIT + 10)),
    }
    items = feed(cut(response, places[cuts])).items
    if size <= LIMIT + 1:
        assert types_of(items) == ["text", "done"]
    else:
        assert items == [SseConnectFailed(None, "", "protocol")]


def test_hundred_header_lines_are_no_problem():
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"a" * 900) for number in range(100))
    assert types_of(feed([HEAD + lines + b"\r\n" + TURN]).items) == ["text", "done"]


# Answers that are not event streams.


def answer(status=b"200 OK", media=b"text/event-stream", body=b"", lines=b""):
    head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\n%s" % (status, media, lines)
    return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.parametrize("status", [201, 204, 205, 304, 400, 401, 404, 413, 429, 500, 503, 999])
def test_another_status_is_a_failure_with_the_body(status):
    body = b"" if status in (204, 304) else '{"why": "ü"}'.encode()
    error = failed(answer(b"%d Some" % status, body=body))
    assert error == SseConnectFailed(status, body.decode(), "status")


@pytest.mark.parametrize(
    "media",
    [
        *[b"text/event-stream", b"TEXT/Event-Stream", b"text/event-stream;charset=latin-1"],
        *[b"text/event-stream ; a=b", b"\ttext/event-stream "],
    ],
)
def test_event_stream_is_known_in_any_case_and_with_parameters(media):
    assert types_of(seen(answer(media=media, body=TURN)).items) == ["text", "done"]


@pytest.mark.parametrize(
    "media",
    [b"", b"text/html", b"application/json", b"text/event-streams", b"text / event-stream"],
)
def test_another_media_type_is_a_failure_with_the_body(media):
    assert failed(answer(media=media, body=b"<p>")) == SseConnectFailed(200, "<p>", "content-type")


def test_missing_media_type_is_a_failure():
    assert failed(b"HTTP/1.1 200 OK\r\n\r\n<p>") == SseConnectFailed(200, "<p>", "content-type")


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        (b"/b", "http://example.test/b"),
        (b"b?c#d", "http://example.test/a/b"),
        (b"?c", "http://example.test/a/turns"),
        (b"https://me:secret@other.test:81/b?key=2#c", "https://other.test:81/b"),
        (b"//other.test/b", "http://other.test/b"),
        ("/ü".encode(), "http://example.test/%C3%BC"),
        (b"/\xff", "http://example.test/%EF%BF%BD"),
        (b'/<b>"', "http://example.test/%3Cb%3E%22"),
        (b"http://[x/", "somewhere that cannot be read"),
        (b"/" + b"a" * 5000, ("http://example.test/" + "a" * 5000)[:200]),
    ],
)
def test_redirect_says_where_to_without_secrets(location, shown):
    response = answer(b"302 Found", lines=b"Location: %s\r\n" % location)
    error = failed(response, url="http://me:secret@example.test/a/turns?key=1#top")
    assert error == SseConnectFailed(302, "", f"redirect to {shown}")


def test_redirect_without_a_location_is_another_status():
    assert failed(answer(b"302 Found")).reason == "status"


@pytest.mark.parametrize("reason", ["end of stream", "reset", "read timeout", "closed"])
def test_error_body_that_is_cut_is_kept_as_far_as_it_came(reason):
    response = answer(b"500 Oh", body=b"a" * 50)[:-20]
    assert failed(response, reason) == SseConnectFailed(500, "a" * 30, "status")


def test_error_body_that_is_nonsense_is_kept_as_far_as_it_came():
    response = b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"abc") + b"zz\r\n"
    assert failed(response) == SseConnectFailed(500, "abc", "status")


def test_no_more_than_4096_bytes_of_an_error_body_are_waited_for():
    response = answer(b"500 Oh", body=b"\xff" * 5000)
    head_end = response.index(b"\r\n\r\n") + 4
    before, after = response[: head_end + 4095], response[head_end + 4095 :]
    exchange = SseExchange("GET", "http://a/")
    assert exchange.receive_data(before) == []
    assert not exchange.finished
    assert exchange.receive_data(after) == [SseConnectFailed(500, "\ufffd" * 1024, "status")]
    assert exchange.finished


# Whatever the bytes.

BODIES = st.lists(
    st.sampled_from(
        [
            *[TEXT, DONE, TEXT[:20], b"data: {\n\n", b"id: x\n", b"\n", b":\n", b"\xff", b"\r"],
            encode_event('{"type": "x"}', id="42:3"),
        ]
    )
    | st.binary(max_size=20),
    max_size=6,
)


@st.composite
def responses(draw):
    pieces = draw(BODIES)
    response = draw(
        st.sampled_from(
            [
                chunked(*[piece for piece in pieces if piece], b""),
                with_length(b"".join(pieces)),
                HEAD + b"\r\n" + b"".join(pieces),
                answer(b"500 Oh", body=b"".join(pieces)),
                with_length(gzip.compress(b"".join(pieces), mtime=0), coding="gzip"),
                with_length(zlib.compress(b"".join(pieces)), coding="deflate"),
            ]
        )
    )
    if draw(st.booleans()):
        place = draw(st.integers(0, len(response)))
        width = draw(st.integers(0, 3))
        response = response[:place] + draw(st.binary(max_size=6)) + response[place + width :]
    return response


@given(
    responses() | st.binary().map(b"HTTP/1.1 ".__add__),
    st.lists(st.integers(0, 1000), max_size=8),
    st.sampled_from(["end of stream", "reset"]),
)
@example(b"", [], "reset")
def test_no_bytes_raise_and_the_items_are_the_same_for_every_chunking(response, cuts, reason):
    whole = feed([response], reason)
    assert whole.finished
    pieces = cut(response, [min(place, len(response)) for place in cuts])
    assert feed(pieces, reason) == whole
    assert feed([response[n : n + 1] for n in range(len(response))], reason) == whole


def test_any_event_stream_may_be_read():
    body = b"retry: 5\nevent: a\ndata: 1\n\n" + b"data: " + b"x" * 50 + b"\n\ndata: 2\n\n"
    result = seen(with_length(body), decoder=lambda: EventStreamDecoder(40))
    first, error, last = result.items
    assert first == ServerSentEvent("a", "1", "")
    assert error == EventTooLarge(40)
    assert last == ServerSentEvent("message", "2", "")
    cut_body = seen(chunked(body + b"da"), decoder=EventStreamDecoder).items[-1]
    assert cut_body == SseConnectionDropped(None, "cut body; unfinished event lost")


def test_error_of_the_turn_is_the_last_item():
    body = TEXT + encode_event("{", id="42:2") + DONE
    result = seen(with_length(body))
    assert result.items[1:] == [MalformedSseData("{")]
    assert result.items[0].sse_id == SseId(42, 1)
