"""The table of faults: what a server does, and the outcome on every adapter.

``FAULTS`` is what docs/faults.md shows and tests/transports/test_faults.py runs.
"""

from ratatoskr_proto import (
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    TurnIdFlip,
)

from .answer_faults import ANSWER_FAULTS, CODING_FAULTS, TYPE_FAULTS
from .fault import BOTH, FaultRow, dropped, failed
from .fault_servers import (
    ALL,
    BROKEN_OFF,
    DONE,
    GOOD,
    GOOD_CHUNKED,
    HERE,
    HI,
    SHORT,
    THERE,
    UNFINISHED,
    answer,
    breaks_tls_after,
    closes_in_handshake,
    closes_without_a_word,
    full_backlog,
    keep_alives_for_ever,
    many_headers,
    no_such_name,
    nobody_listening,
    nobody_listening_at_a_name,
    one_byte_per_packet,
    plain_server,
    resets_at_once,
    resets_in_handshake,
    silent_in_handshake,
    speaks_no_tls,
    then_reset,
    then_silence,
    unreachable,
)
from .frames import chunk, frame, text
from .raw_server import CHUNKED, HEAD, LAST_CHUNK, TO_CLOSE

BODY_FAULTS = [
    FaultRow("a good answer in chunks", GOOD_CHUNKED, ALL, None),
    FaultRow("one byte per packet", one_byte_per_packet, ALL, None),
    FaultRow("trailers after the last chunk", GOOD_CHUNKED[:-2] + b"A: b\r\n\r\n", ALL, None),
    FaultRow("an HTTP/1.0 answer", TO_CLOSE.replace(b"/1.1", b"/1.0", 1) + GOOD, ALL, None),
    FaultRow(
        "reset in mid-frame",
        then_reset(BROKEN_OFF + chunk(UNFINISHED)),
        ["Hi"],
        dropped("reset; unfinished event lost"),
    ),
    FaultRow("reset between frames", then_reset(BROKEN_OFF), ["Hi"], dropped("reset")),
    FaultRow("a chunk header cut in half", BROKEN_OFF + b"4", ["Hi"], dropped("cut body")),
    FaultRow(
        "a chunk cut in half",
        BROKEN_OFF + chunk(THERE)[:20],
        ["Hi"],
        dropped("cut body; unfinished event lost"),
    ),
    FaultRow(
        "trailers cut in half", BROKEN_OFF + LAST_CHUNK[:-2] + b"A: b", ["Hi"], dropped("cut body")
    ),
    FaultRow("a wrong chunk length", BROKEN_OFF + b"2\r\n\n\n\n\r\n", ["Hi"], dropped("protocol")),
    FaultRow(
        "a chunk length that is not a number", BROKEN_OFF + b"?\r\n", ["Hi"], dropped("protocol")
    ),
    FaultRow("a body without its last chunk", BROKEN_OFF, ["Hi"], dropped("cut body")),
    FaultRow(
        "a body shorter than its Content-Length",
        answer(
            "200 OK", HI, "Content-Type: text/event-stream", "Content-Length: 999", length=False
        ),
        ["Hi"],
        dropped("cut body"),
    ),
    FaultRow(
        "a clean end without terminal event",
        BROKEN_OFF + LAST_CHUNK,
        ["Hi"],
        dropped("end of stream"),
    ),
    FaultRow(
        "a clean end in mid-frame",
        BROKEN_OFF + chunk(UNFINISHED) + LAST_CHUNK,
        ["Hi"],
        dropped("end of stream; unfinished event lost"),
    ),
    FaultRow(
        "a body up to the close, without terminal event",
        TO_CLOSE + HI,
        ["Hi"],
        dropped("end of stream"),
    ),
    FaultRow("no event at all", CHUNKED + LAST_CHUNK, [], dropped("end of stream", None)),
    FaultRow(
        "silence after the head",
        then_silence(CHUNKED),
        [],
        dropped("read timeout", None),
        options={"read_timeout": SHORT},
    ),
    FaultRow(
        "keep-alives, then silence",
        then_silence(BROKEN_OFF + chunk(b": still here\n\n")),
        ["Hi"],
        dropped("read timeout"),
        options={"read_timeout": SHORT},
    ),
    FaultRow(
        "silence in mid-frame",
        then_silence(BROKEN_OFF + chunk(UNFINISHED)),
        ["Hi"],
        dropped("read timeout; unfinished event lost"),
        options={"read_timeout": SHORT},
    ),
    FaultRow(
        "keep-alives and no event for as long as event_timeout",
        keep_alives_for_ever,
        ["Hi"],
        dropped("event timeout"),
        options={"event_timeout": SHORT},
    ),
]

HEAD_FAULTS = [
    FaultRow(
        "silence before the head",
        then_silence(b""),
        [],
        failed("read timeout"),
        options={"read_timeout": SHORT},
    ),
    FaultRow("no answer", closes_without_a_word, [], failed("closed")),
    FaultRow("a reset in place of an answer", then_reset(b""), [], failed("closed")),
    FaultRow("a head cut in half", HEAD, [], failed("closed")),
    FaultRow("garbage in place of HTTP", b"SSH-2.0-OpenSSH_9.9\r\n\r\n", [], failed("protocol")),
    FaultRow("a head of 100 lines", many_headers(100, 50), ALL, None),
    FaultRow("a head larger than 100 KiB", many_headers(100, 2000), [], failed("protocol")),
    FaultRow(
        "informational answers before the head",
        answer("100 Continue", length=False)
        + answer("103 Early Hints", b"", "Link: </a.css>", length=False)
        + GOOD_CHUNKED,
        ALL,
        None,
    ),
    FaultRow(
        "more than 20 informational answers",
        answer("103 Early Hints", length=False) * 21 + GOOD_CHUNKED,
        [],
        failed("protocol"),
        except_on=BOTH,  # which do not count them
    ),
    FaultRow(
        "only informational answers", answer("100 Continue", length=False), [], failed("closed")
    ),
    FaultRow(
        "101 Switching Protocols",
        answer("101 Switching", b"", "Upgrade: x", "Connection: upgrade", length=False),
        [],
        failed("protocol"),
    ),
]

CONNECTION_FAULTS = [
    FaultRow("connection refused", b"", [], failed("refused"), where=nobody_listening),
    FaultRow(
        "connection refused at every address of a name",
        b"",
        [],
        failed("refused"),
        where=nobody_listening_at_a_name,
    ),
    FaultRow("a name that is not known", b"", [], failed("dns"), where=no_such_name),
    FaultRow("a network that is out of reach", b"", [], failed("unreachable"), where=unreachable),
    FaultRow(
        "a server that does not accept",
        b"",
        [],
        failed("connect timeout"),
        where=full_backlog,
        options={"connect_timeout": SHORT},
    ),
    FaultRow(
        "a server that is silent in the TLS handshake",
        b"",
        [],
        failed("connect timeout"),
        where=lambda: plain_server(silent_in_handshake),
        options={"connect_timeout": SHORT},
    ),
    FaultRow(
        "a server that closes in the TLS handshake",
        b"",
        [],
        failed("closed"),
        where=lambda: plain_server(closes_in_handshake),
    ),
    FaultRow(
        "a server that resets in the TLS handshake",
        b"",
        [],
        failed("closed"),
        where=lambda: plain_server(resets_in_handshake),
    ),
    FaultRow(
        "a server that resets the connection as it is made", resets_at_once, [], failed("closed")
    ),
    FaultRow(
        "a server that resets the connection as it is made, where TLS should be",
        b"",
        [],
        failed("closed"),
        where=lambda: plain_server(resets_at_once),
    ),
    FaultRow(
        "plain HTTP where TLS should be",
        b"",
        [],
        failed("tls"),
        where=lambda: plain_server(speaks_no_tls),
    ),
    FaultRow("TLS, trusted", GOOD_CHUNKED, ALL, None, names=HERE),
    FaultRow("TLS, not trusted", GOOD_CHUNKED, [], failed("tls"), trusted=False, names=HERE),
    FaultRow(
        "TLS, another host's certificate", GOOD_CHUNKED, [], failed("tls"), names="example.org"
    ),
    FaultRow(
        "TLS closed without `close_notify` before the head", b"", [], failed("closed"), names=HERE
    ),
    FaultRow(
        "TLS closed without `close_notify` in mid-turn",
        BROKEN_OFF,
        ["Hi"],
        dropped("cut body"),
        names=HERE,
    ),
    FaultRow(
        "TLS closed without `close_notify` after the terminal event",
        CHUNKED + chunk(GOOD),
        ALL,
        None,
        names=HERE,
    ),
    FaultRow(
        "TLS that breaks before the head",
        breaks_tls_after(b""),
        [],
        failed("tls"),
        names=HERE,
    ),
    FaultRow(
        "TLS that breaks in mid-turn",
        breaks_tls_after(BROKEN_OFF),
        ["Hi"],
        dropped("reset"),
        names=HERE,
    ),
]

TURN_FAULTS = [
    FaultRow(
        "data that is not JSON",
        TO_CLOSE + HI + b"id: 42:2\ndata: {oops\n\n" + DONE,
        ["Hi"],
        MalformedSseData("{oops"),
    ),
    FaultRow(
        "JSON that is not an event",
        TO_CLOSE + HI + b"id: 42:2\ndata: []\n\n" + DONE,
        ["Hi"],
        MalformedEnvelope("[]"),
    ),
    FaultRow(
        "a bad id",
        TO_CLOSE + HI + b'id: 42-2\ndata: {"type":"done"}\n\n',
        ["Hi"],
        MalformedSseId("42-2"),
    ),
    FaultRow(
        "another turn in mid-stream",
        TO_CLOSE + HI + b'id: 43:1\ndata: {"type":"done"}\n\n',
        ["Hi"],
        TurnIdFlip(42, 43),
    ),
    FaultRow(
        "an event that is too large",
        TO_CLOSE + HI + text(2, "x" * 200) + DONE,
        ["Hi"],
        EventTooLarge(100),
        options={"max_event_bytes": 100},
    ),
    FaultRow(
        "an `error` event of the server",
        TO_CLOSE + HI + frame(2, type="error", message="out of tokens"),
        ["Hi", "error"],
        None,
    ),
]

FAULTS = [
    *BODY_FAULTS,
    *HEAD_FAULTS,
    *ANSWER_FAULTS,
    *TYPE_FAULTS,
    *CODING_FAULTS,
    *CONNECTION_FAULTS,
    *TURN_FAULTS,
]
