"""Every vector that is a question of parsing, for every chunking and as it came."""

import base64

import pytest
from support.feeding import decode_wire, feed_wire
from support.vectors import chunks_of, is_parsed

from ratatoskr_proto import EventStreamDecoder
from ratatoskr_proto.testing import vectors

CONFORMANCE = vectors("conformance")
BUG_REPORTS = [case for case in vectors("bug_reports") if is_parsed(case)]


def as_dicts(items):
    return [item._asdict() for item in items]


@pytest.mark.parametrize("case", CONFORMANCE, ids=lambda case: case["name"])
def test_conformance(case):
    result = decode_wire(base64.b64decode(case["input_b64"]))
    assert as_dicts(result.items) == case["events"]
    assert result.retry_ms == case["retry"]


@pytest.mark.parametrize("case", BUG_REPORTS, ids=lambda case: case["name"])
def test_bug_report(case):
    chunks = chunks_of(case)
    result = decode_wire(b"".join(chunks))
    assert as_dicts(result.items) == case["events"]
    assert feed_wire(chunks) == result
    if "retry" in case:
        assert result.retry_ms == case["retry"]


@pytest.mark.parametrize(
    "case", [case for case in BUG_REPORTS if "then" in case], ids=lambda case: case["name"]
)
def test_bug_report_resumes_with_the_last_event_id(case):
    last_event_id = feed_wire(chunks_of(case)).last_event_id
    for connection in case["then"]:
        if "expect_last_event_id_header" in connection:
            assert (last_event_id or None) == connection["expect_last_event_id_header"]
        if not connection.get("response", {"is_event_stream": True})["is_event_stream"]:
            continue
        result = decode_wire(b"".join(chunks_of(connection)), last_event_id=last_event_id)
        assert as_dicts(result.items) == connection["events"]
        last_event_id = result.last_event_id


@pytest.mark.parametrize(
    "case",
    [case for case in BUG_REPORTS if case["ending"] in ("stall", "open")],
    ids=lambda case: case["name"],
)
def test_bug_report_holds_nothing_back(case):
    decoder = EventStreamDecoder()
    items = [item for chunk in chunks_of(case) for item in decoder.receive_data(chunk)]
    assert as_dicts(items) == case["events"]
