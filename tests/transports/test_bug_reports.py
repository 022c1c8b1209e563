"""The bug reports among the vectors that are about a response, each over every adapter."""

import base64

import pytest
from support.adapters import ADAPTERS, every_adapter
from support.fault_servers import distrusting_context
from support.raw_server import serving
from support.reading import read_with_client
from support.vectors import chunks_of

from ratatoskr_proto import ServerSentEvent, SseConnectFailed
from ratatoskr_proto.testing import vectors

CASES = {case["name"]: case for case in vectors("bug_reports") if "response" in case}

REFUSED = {
    "json-error-body": SseConnectFailed(401, '{"error":{"message":"bad key"}}', "status"),
    "json-lines-instead-of-sse": SseConnectFailed(200, '{"a":1}\n{"a":2}\n', "content-type"),
    "ndjson-endpoint": SseConnectFailed(200, '{"m":"a"}\n{"m":"b"}\n', "content-type"),
    "204-means-stop": SseConnectFailed(204, "", "status"),
}


def head_of(response):
    lines = [f"HTTP/1.1 {response['status']} Said", "Connection: close"]
    if response["content_type"] is not None:
        lines.append(f"Content-Type: {response['content_type']}")
    lines += [f"{name}: {value}" for name, value in response["headers"].items()]
    return "\r\n".join([*lines, "", ""]).encode()


def events_of(case):
    return [ServerSentEvent(**event) for event in case["events"]]


def answering(case):
    def handler(peer):
        peer.read_request()
        peer.send(head_of(case["response"]), *chunks_of(case))

    return handler


def test_cases_are_all_here():
    good = {name for name, case in CASES.items() if case["response"]["is_event_stream"]}
    assert good | set(REFUSED) | {"relative-redirect"} == set(CASES)


@every_adapter
@pytest.mark.parametrize(
    "case", [case for case in CASES.values() if case["response"]["is_event_stream"]], ids=str
)
def test_stream_is_read(adapter, case):
    with serving(answering(case)) as server:
        outcome = adapter.run_events(server.url, verify=distrusting_context())
    assert (outcome.items, outcome.error) == (events_of(case), None)


@every_adapter
@pytest.mark.parametrize("name", REFUSED)
def test_answer_that_is_no_stream_is_not_parsed(adapter, name):
    with serving(answering(CASES[name])) as server:
        outcome = adapter.run_events(server.url, verify=distrusting_context())
    assert (outcome.items, outcome.error) == ([], REFUSED[name])


def redirecting(peer):
    """Answers as in the report, at the first address and at the second."""
    peer.read_request()
    case = CASES["relative-redirect"]
    [then] = case["then"]
    if f" {then['expect_path']} " in peer.head.decode():
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        peer.send(*map(base64.b64decode, then["chunks_b64"]))
    else:
        peer.send(head_of(case["response"]))


@every_adapter
def test_relative_redirect_is_resolved(adapter):
    with serving(redirecting) as server:
        outcome = adapter.run_events(server.url, verify=distrusting_context())
    target = server.url.replace("/turns", "/v2/stream")
    assert outcome.error == SseConnectFailed(307, "", f"redirect to {target}")


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each.is_httpx], ids=str)
def test_relative_redirect_is_followed_by_a_client_that_is_told_to(adapter):
    with serving(redirecting) as server:
        items = read_with_client(adapter, "stream_events", server.url, follow_redirects=True)
    [then] = CASES["relative-redirect"]["then"]
    assert items == events_of(then)
