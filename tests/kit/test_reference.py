"""The reference agrees with the vectors, which were written without it, and ``explain`` with it."""

import base64
import io
import re

import pytest
from hypothesis import given

from ratatoskr_proto import Comment, EventTooLarge, ServerSentEvent
from ratatoskr_proto.testing import explain, hostile_bytes, reference_decode, vectors


def test_conformance():
    for case in vectors("conformance"):
        events = reference_decode(base64.b64decode(case["input_b64"]))
        assert [event._asdict() for event in events] == case["events"], case["name"]


def test_vectors_of_another_name_are_a_value_error():
    with pytest.raises(ValueError, match="named conformance and bug_reports, but not 'other'"):
        vectors("other")


def test_options():
    data = b": hi\ndata: 1234\n\ndata: b\n\n"
    assert reference_decode(data, last_event_id="7") == [
        ("message", "1234", "7"),
        ("message", "b", "7"),
    ]
    assert reference_decode(data, comments=True)[0] == Comment("hi")
    assert reference_decode(data, max_event_bytes=9) == [
        EventTooLarge(9),
        ServerSentEvent("message", "b", ""),
    ]
    assert reference_decode(b"data: 12345", max_event_bytes=9) == [EventTooLarge(9)]


EXPLAINED = """\
                             a leading BOM is dropped
   1  'id: 7'                the id from the next blank line on: '7'
   2  'data: hel\\x1b[31mlo'  data: 'hel\\x1b[31mlo'
   3  'data: b'              data: LF and 'b'
   4  'DATA: x'              ignored: there is no field 'DATA'; did the server mean data?
   5  'other'                ignored: there is no field 'other'
   6  'retry: x'             ignored: 'x' is not a number of ASCII digits that we take
   7  'retry: 5'             the time to wait before reconnecting: '5' ms
   8  ':hi'                  ignored: a comment
   9  ''                     a blank line: event 'message', data 'hel\\x1b[31mlo\\nb', id '7'
  10  'event: done'          the type of the event: 'done'
  11  ''                     a blank line: no event, since there is no data
  12  'id: \\x00'             ignored: there is a NUL in the id
  13  'data: x'              data: 'x'
  14  'da'                   dropped: the line has no end
                             dropped: an event that no blank line has ended
"""


def test_explain_tells_what_each_line_does(capsys):
    data = (
        b"\xef\xbb\xbfid: 7\ndata: hel\x1b[31mlo\rdata: b\r\nDATA: x\nother\nretry: x\nretry: 5\n"
        b":hi\n\nevent: done\n\nid: \0\ndata: x\nda"
    )
    assert explain(data) == EXPLAINED
    assert capsys.readouterr().out == EXPLAINED


def test_explain_cuts_long_lines_and_writes_what_the_file_can_take():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="\n")
    text = explain("data: é{}\n".format("x" * 1000).encode(), file=file)
    file.flush()
    assert file.buffer.getvalue() == text.encode("ascii")
    assert r"'data: \xe9xxx" in text
    assert max(map(len, text.splitlines())) < 200
    assert explain(b"", file=io.StringIO()) == ""


@given(hostile_bytes(max_size=80))
def test_explain_prints_no_control_characters_and_dispatches_as_the_reference_does(data):
    text = explain(data, file=io.StringIO())
    assert all(line.isprintable() for line in text.split("\n"))
    assert len(re.findall("  a blank line: event ", text)) == len(reference_decode(data))
