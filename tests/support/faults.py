"""The table of faults: what a server does, and what becomes of it on every adapter.

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
from .fault import BOTH, Fault, dropped, failed
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
    frame,
    full_backlog,
    keep_alives_for_ever,
    many_headers,
    no_such_name,
    nobody_listening,
    nobody_listening_at_a_name,
    one_byte_per_packet,
    plain_server,
    silent_in_handshake,
    speaks_no_tls,
    then_reset,
    then_silence,
    unreachable,
)
from .raw_server import CHUNKED, HEAD, LAST_CHUNK, TO_CLOSE, chunk

BODY_FAULTS = [
    Fault("a good answer in chunks", GOOD_CHUNKED, ALL, None),
    Fault("one byte per packet", one_byte_per_packet, ALL, None),
    Fault("trailers after the last chunk", GOOD_CHUNKED[:-2] + b"A: b\r\n\r\n", ALL, None),
    Fault("an HTTP/1.0 answer", TO_CLOSE.replace(b"/1.1", b"/1.0", 1) + GOOD, ALL, None),
    Fault(
        "reset in mid-frame",
        then_reset(BROKEN_OFF + chunk(UNFINISHED)),
        ["Hi"],
        dropped("reset; unfinished event lost"),
    ),
    Fault("reset between frames", then_reset(BROKEN_OFF), ["Hi"], dropped("reset")),
    Fault("a chunk header cut in half", BROKEN_OFF + b"4", ["Hi"], dropped("cut body")),
    Fault(
        "a chunk cut in half",
        BROKEN_OFF + chunk(THERE)[:20],
        ["Hi"],
        dropped("cut body; unfinished event lost"),
    ),
    Fault(
        "trailers cut in half", BROKEN_OFF + LAST_CHUNK[:-2] + b"A: b", ["Hi"], dropped("cut body")
    ),
    Fault("a wrong chunk length", BROKEN_OFF + b"2\r\n\n\n\n\r\n", ["Hi"], dropped("protocol")),
    Fault("a chunk length that is no number", BROKEN_OFF + b"?\r\n", ["Hi"], dropped("protocol")),
    Fault("a body without its last chunk", BROKEN_OFF, ["Hi"], dropped("cut body")),
    Fault(
        "a body shorter than its Content-Length",
        answer(
            "200 OK", HI, "Content-Type: text/event-stream", "Content-Length: 999", length=False
        ),
        ["Hi"],
        dropped("cut body"),
    ),
    Fault(
        "a clean end without terminal event",
        BROKEN_OFF + LAST_CHUNK,
        ["Hi"],
        dropped("end of stream"),
    ),
    Fault(
        "a clean end in mid-frame",
        BROKEN_OFF + chunk(UNFINISHED) + LAST_CHUNK,
        ["Hi"],
        dropped("end of stream; unfinished event lost"),
    ),
    Fault(
        "a body up to the close, without terminal event",
        TO_CLOSE + HI,
        ["Hi"],
        dropped("end of stream"),
    ),
    Fault("no event at all", CHUNKED + LAST_CHUNK, [], dropped("end of stream", None)),
    Fault(
        "silence after the head",
        then_silence(CHUNKED),
        [],
        dropped("read timeout", None),
        options={"read_timeout": SHORT},
    ),
    Fault(
        "keep-alives, then silence",
        then_silence(BROKEN_OFF + chunk(b": still here\n\n")),
        ["Hi"],
        dropped("read timeout"),
        options={"read_timeout": SHORT},
    ),
    Fault(
        "silence in mid-frame",
        then_silence(BROKEN_OFF + chunk(UNFINISHED)),
        ["Hi"],
        dropped("read timeout; unfinished event lost"),
        options={"read_timeout": SHORT},
    ),
    Fault(
        "keep-alives and no event for as long as event_timeout",
        keep_alives_for_ever,
        ["Hi"],
        dropped("event timeout"),
        options={"event_timeout": SHORT},
    ),
]

HEAD_FAULTS = [
    Fault(
        "silence before the head",
        then_silence(b""),
        [],
        failed("read timeout"),
        options={"read_timeout": SHORT},
    ),
    Fault("no answer", closes_without_a_word, [], failed("closed")),
    Fault("a reset in place of an answer", then_reset(b""), [], failed("closed")),
    Fault("a head cut in half", HEAD, [], failed("closed")),
    Fault("garbage in place of HTTP", b"SSH-2.0-OpenSSH_9.9\r\n\r\n", [], failed("protocol")),
    Fault("a head of 100 lines", many_headers(100, 50), ALL, None),
    Fault("a head larger than 100 KiB", many_headers(100, 2000), [], failed("protocol")),
    Fault(
        "informational answers before the head",
        answer("100 Continue", length=False)
        + answer("103 Early Hints", b"", "Link: </a.css>", length=False)
        + GOOD_CHUNKED,
        ALL,
        None,
    ),
    Fault(
        "more than 20 informational answers",
        answer("103 Early Hints", length=False) * 21 + GOOD_CHUNKED,
        [],
        failed("protocol"),
        except_on=BOTH,  # which do not count them
    ),
    Fault("only informational answers", answer("100 Continue", length=False), [], failed("closed")),
    Fault(
        "101 Switching Protocols",
        answer("101 Switching", b"", "Upgrade: x", "Connection: upgrade", length=False),
        [],
        failed("protocol"),
    ),
]

CONNECTION_FAULTS = [
    Fault("connection refused", b"", [], failed("refused"), where=nobody_listening),
    Fault(
        "connection refused at every address of a name",
        b"",
        [],
        failed("refused"),
        where=nobody_listening_at_a_name,
    ),
    Fault("a name that is not known", b"", [], failed("dns"), where=no_such_name),
    Fault("a network that is out of reach", b"", [], failed("unreachable"), where=unreachable),
    Fault(
        "a server that does not accept",
        b"",
        [],
        failed("connect timeout"),
        where=full_backlog,
        options={"connect_timeout": SHORT},
    ),
    Fault(
        "a server that is silent in the TLS handshake",
        b"",
        [],
        failed("connect timeout"),
        where=lambda: plain_server(silent_in_handshake),
        options={"connect_timeout": SHORT},
    ),
    Fault(
        "a server that closes in the TLS handshake",
        b"",
        [],
        failed("tls"),
        where=lambda: plain_server(closes_in_handshake),
    ),
    Fault(
        "plain HTTP where TLS should be",
        b"",
        [],
        failed("tls"),
        where=lambda: plain_server(speaks_no_tls),
    ),
    Fault("TLS, trusted", GOOD_CHUNKED, ALL, None, names=HERE),
    Fault("TLS, not trusted", GOOD_CHUNKED, [], failed("tls"), trusted=False, names=HERE),
    Fault("TLS, another host's certificate", GOOD_CHUNKED, [], failed("tls"), names="example.org"),
    Fault("TLS closed without a goodbye before the head", b"", [], failed("closed"), names=HERE),
    Fault(
        "TLS closed without a goodbye in mid-turn",
        BROKEN_OFF,
        ["Hi"],
        dropped("cut body"),
        names=HERE,
    ),
    Fault(
        "TLS closed without a goodbye after the terminal event",
        CHUNKED + chunk(GOOD),
        ALL,
        None,
        names=HERE,
    ),
    Fault(
        "TLS that breaks before the head",
        breaks_tls_after(b""),
        [],
        failed("tls"),
        names=HERE,
    ),
    Fault(
        "TLS that breaks in mid-turn",
        breaks_tls_after(BROKEN_OFF),
        ["Hi"],
        dropped("reset"),
        names=HERE,
    ),
]

TURN_FAULTS = [
    Fault(
        "data that is not JSON",
        TO_CLOSE + HI + b"id: 42:2\ndata: {oops\n\n" + DONE,
        ["Hi"],
        MalformedSseData("{oops"),
    ),
    Fault(
        "JSON that is no event",
        TO_CLOSE + HI + b"id: 42:2\ndata: []\n\n" + DONE,
        ["Hi"],
        MalformedEnvelope("[]"),
    ),
    Fault(
        "a bad id",
        TO_CLOSE + HI + b'id: 42-2\ndata: {"type":"done"}\n\n',
        ["Hi"],
        MalformedSseId("42-2"),
    ),
    Fault(
        "another turn in mid-stream",
        TO_CLOSE + HI + b'id: 43:1\ndata: {"type":"done"}\n\n',
        ["Hi"],
        TurnIdFlip(42, 43),
    ),
    Fault(
        "an event that is too large",
        TO_CLOSE + HI + frame(2, type="text", text="x" * 200) + DONE,
        ["Hi"],
        EventTooLarge(100),
        options={"max_event_bytes": 100},
    ),
    Fault(
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
