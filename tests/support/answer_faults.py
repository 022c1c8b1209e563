"""Rows of the table of faults: answers that are not event streams, media types, content codings."""

import gzip

from .fault import BOTH, FaultRow, dropped, failed
from .fault_servers import (
    ALL,
    DONE,
    GOOD,
    GZIP,
    HERE,
    HI,
    MUCH,
    RAW,
    SHORT,
    UNFINISHED,
    ZLIB,
    answer,
    answers_and_does_not_read,
    coded,
    deflated,
    large_error_body,
    reads_only_the_head,
    redirecting,
    resets_after_the_head,
    streams_and_does_not_read,
    then_reset,
    trickling_error_body,
    typed,
)

ANSWER_FAULTS = [
    FaultRow("204", answer("204 No Content", length=False), [], failed("status", 204)),
    FaultRow("304 without Location", answer("304 Same", length=False), [], failed("status", 304)),
    FaultRow(
        "401 with JSON",
        answer("401 No", b'{"error": "bad key"}', "Content-Type: application/json"),
        [],
        failed("status", 401, '{"error": "bad key"}'),
    ),
    FaultRow("503", answer("503 Busy", b"later"), [], failed("status", 503, "later")),
    FaultRow(
        "an error with an event stream as its body",
        answer("500 Oops", HI, "Content-Type: text/event-stream"),
        [],
        failed("status", 500, HI.decode()),
    ),
    FaultRow("an error body of 1 MiB", large_error_body, [], failed("status", 500, "~")),
    FaultRow("an error body that trickles", trickling_error_body, [], failed("status", 500, "~")),
    FaultRow(
        "an error body that is cut short",
        answer("500 Oops", b"some", "Content-Length: 99", length=False),
        [],
        failed("status", 500, "some"),
    ),
    FaultRow(
        "an error body that is reset",
        then_reset(answer("500 Oops", b"some", "Content-Length: 99", length=False)),
        [],
        failed("status", 500, "some"),
    ),
    FaultRow(
        "413 while the request is going out, without reading it",
        answers_and_does_not_read,
        [],
        failed("status", 413, "too much"),
        except_on=BOTH,  # which send all before they read
        other_error=failed("read timeout"),
        options={"content": MUCH, "read_timeout": SHORT},
    ),
    FaultRow(
        "413 while the request is going out over TLS, without reading it",
        answers_and_does_not_read,
        [],
        failed("status", 413, "too much"),
        except_on=BOTH,
        other_error=failed("read timeout"),
        names=HERE,
        options={"content": MUCH, "read_timeout": SHORT},
    ),
    FaultRow(
        "a good answer while the request is going out, without reading it",
        streams_and_does_not_read,
        ALL,
        None,
        except_on=BOTH,
        other_error=failed("read timeout"),
        options={"content": MUCH, "read_timeout": SHORT},
    ),
    FaultRow(
        "no answer while the request is going out, without reading it",
        reads_only_the_head,
        [],
        failed("read timeout"),
        options={"content": MUCH, "read_timeout": SHORT},
    ),
    FaultRow(
        "a reset while the request is going out",
        resets_after_the_head,
        [],
        failed("closed"),
        options={"content": MUCH},
    ),
    *(
        FaultRow(
            f"{status} with Location",
            redirecting(status, "/next/./step?token=secret#part"),
            [],
            failed("redirect to http://HERE/next/step", status, "over there"),
        )
        for status in (301, 302, 303, 307, 308)
    ),
    FaultRow(
        "a redirect to another host, with credentials",
        redirecting(302, "https://user:secret@example.org/a?token=secret"),
        [],
        failed("redirect to https://example.org/a", 302, "over there"),
    ),
    FaultRow(
        "a redirect to what is no URL",
        redirecting(302, "http://[::1"),
        [],
        failed("redirect to somewhere that cannot be read", 302, "over there"),
        except_on=("httpx",),  # which reads Location even if it is not to follow it
        other_error=failed("redirect"),
    ),
]

TYPE_FAULTS = [
    *(
        FaultRow(f"`{media_type}`", typed(media_type), ALL, None)
        for media_type in (
            "text/event-stream;charset=utf-8",
            "Text/Event-Stream ; Charset=UTF-8",
            "text/event-stream;charset=latin-1",
            "text/event-stream;",
        )
    ),
    FaultRow(
        "`text/html`",
        typed("text/html", b"<p>Sign in"),
        [],
        failed("content-type", 200, "<p>Sign in"),
    ),
    FaultRow(
        "no media type",
        answer("200 OK", b"data: a\n\n"),
        [],
        failed("content-type", 200, "data: a\n\n"),
    ),
]

_ONE_PIECE = deflated(GZIP, HI + UNFINISHED)
CODING_FAULTS = [
    FaultRow("gzip, though not asked for", coded("GZip", gzip.compress(GOOD)), ALL, None),
    FaultRow(
        "gzip in two members",
        coded("x-gzip", *map(gzip.compress, (HI, DONE))),
        ["Hi", "done"],
        None,
    ),
    FaultRow("deflate", coded("deflate", *deflated(ZLIB, GOOD)), ALL, None),
    FaultRow("deflate without the zlib header", coded("deflate", *deflated(RAW, GOOD)), ALL, None),
    FaultRow("`identity`", coded("identity", GOOD), ALL, None),
    FaultRow(
        "gzip cut short",
        coded("gzip", *deflated(GZIP, HI), cut=-4),
        ["Hi"],
        dropped("cut body"),
    ),
    FaultRow(
        "gzip cut short in mid-frame",
        coded("gzip", _ONE_PIECE[0]),
        ["Hi"],
        dropped("cut body; unfinished event lost"),
    ),
    FaultRow(
        "gzip that is corrupt",
        coded("gzip", _ONE_PIECE[0], extra=b"\xff" * 20),
        ["Hi"],
        dropped("protocol; unfinished event lost"),
    ),
    FaultRow(
        "gzip with a wrong checksum",
        coded("gzip", *deflated(GZIP, HI), cut=-8, extra=b"\0" * 8),
        ["Hi"],
        dropped("protocol"),
    ),
    FaultRow("plain text under gzip", coded("gzip", GOOD), [], dropped("protocol", None)),
    FaultRow(
        "an unknown coding",
        coded("br", b"whatever"),
        [],
        failed("content-encoding", 200, "whatever"),
    ),
    FaultRow(
        "an error body in gzip",
        answer("500 Oops", gzip.compress(b"~" * 99999), "Content-Encoding: gzip"),
        [],
        failed("status", 500, "~"),
    ),
]
