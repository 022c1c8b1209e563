"""Heads of responses, and who reads an event stream after them: we, Chromium and Firefox.

What the browsers do was seen by running them. docs/faults.md shows the table.
"""

import gzip
import zlib
from typing import NamedTuple

from .frames import chunk

BODY = "data: ok…\n\n".encode()
SSE = "Content-Type: text/event-stream"


class Head(NamedTuple):
    """A head, and whether it starts an event stream: for us, and for the browsers."""

    lines: str  # between them a line end, or what stands in `line_end`
    opens: bool
    in_chromium: bool
    in_firefox: bool
    status: str = "200 OK"
    body: bytes = BODY
    version: str = "1.1"
    line_end: str = "\r\n"
    note: str = ""

    def __str__(self) -> str:
        status = "" if self.status == "200 OK" else self.status
        version = "" if self.version == "1.1" else "HTTP/1.0"
        ending = "" if self.line_end == "\r\n" else "line ends of LF"
        lines = self.lines.replace("\n", " · ")
        return " · ".join(filter(None, [version, status, ending, lines, self.note])) or "no header"

    def response(self) -> bytes:
        """The whole response; the connection closes after it."""
        every = [f"HTTP/{self.version} {self.status}", *self.lines.split("\n")]
        head = self.line_end.join([*filter(None, every), "Connection: close", "", ""])
        return head.encode("latin-1") + self.body

    def row(self) -> str:
        """The row of docs/faults.md."""
        opens = ["opens" if each else "no" for each in self[1:4]]
        return "| " + " | ".join([f"`{self}`" if self.lines else str(self), *opens]) + " |"


def opens(lines: str, **more: str | bytes) -> Head:
    return Head(lines, True, True, True, **more)


def refused(lines: str, **more: str | bytes) -> Head:
    return Head(lines, False, False, False, **more)


HEADS = [
    opens(SSE),
    opens("Content-Type: TEXT/EVENT-STREAM"),
    opens("Content-Type: \ttext/event-stream  "),
    opens(f"{SSE};"),
    opens(f"{SSE}; charset=utf-8"),
    opens(f"{SSE} ; charset=utf-8"),
    Head(f"{SSE}; charset=utf-16", True, False, True),
    opens(f'{SSE};a="b;c",d'),
    opens(f"{SSE};;;=;x"),
    opens("Content-Type: application/json, text/event-stream; charset=utf-8"),
    opens("Content-Type: text/html, text/event-stream"),
    opens(f"{SSE}, junk"),
    opens(f"{SSE}, */*"),
    opens(f"{SSE}\n{SSE}"),
    opens(f"Content-Type: text/html\n{SSE}"),
    opens(f"Content-Type: junk\n{SSE}"),
    refused(f"{SSE}, text/html"),
    refused(f"{SSE}\nContent-Type: text/html"),
    refused(""),
    refused("Content-Type:"),
    refused("Content-Type: */*"),
    refused("Content-Type: text/plain"),
    refused("Content-Type: application/octet-stream"),
    refused("Content-Type: text/event-stream+x"),
    refused("Content-Type: xtext/event-stream"),
    refused("Content-Type: text/ event-stream"),
    refused('Content-Type: "text/event-stream"'),
    *(
        refused(SSE, status=status)
        for status in ("201 Created", "202 Accepted", "203 Other", "206 Partial", "300 Many")
    ),
    refused(SSE, status="304 Same", body=b""),
    *(
        refused(SSE, status=status)
        for status in ("401 No", "408 Late", "429 Many", "500 Oops", "502 Bad", "503 Busy")
    ),
    opens(SSE, status="200"),
    opens(SSE, version="1.0"),
    opens(SSE, line_end="\n"),
    opens(f"{SSE};\n charset=utf-8"),
    opens(f"{SSE}\nX-A: \xe9"),
    Head(f"{SSE}\nX-A : 1", False, True, True),
    Head(f"{SSE}\njunk", False, True, True),
    opens(f"{SSE}\nContent-Encoding: gzip", body=gzip.compress(BODY)),
    opens(f"{SSE}\nContent-Encoding: deflate", body=zlib.compress(BODY)),
    opens(f"{SSE}\nContent-Encoding: identity"),
    opens(f"{SSE}\nContent-Encoding: none"),
    opens(f"{SSE}\nContent-Encoding: utf-8"),
    opens(f"{SSE}\nContent-Encoding: foo"),
    opens(f"{SSE}\nContent-Encoding:"),
    refused(f"{SSE}\nContent-Encoding: gzip", note="a plain body"),
    opens(f"{SSE}\nContent-Length: 99"),
    opens(f"{SSE}\nContent-Length: {len(BODY)}, {len(BODY)}"),
    opens(f"{SSE}\nTransfer-Encoding: chunked", body=chunk(BODY)),
    opens(f"{SSE}\nRefresh: 0"),
    opens(f"{SSE}\nContent-Disposition: attachment"),
]
