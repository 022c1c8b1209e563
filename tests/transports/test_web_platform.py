"""The rules of EventSource for requests and answers, as the web platform's own tests have them.

What depends on a page, its origin or its clock has no counterpart here. Each test names the rule in
our words; docs/faults.md has the media types.
"""

import pytest
from support.adapters import ADAPTERS
from support.fault_servers import answer, distrusting_context, redirecting, typed
from support.raw_server import TO_CLOSE, serving
from support.reading import read_with_client

from ratatoskr_proto import (
    ReconnectPolicy,
    SseConnectFailed,
    SseConnectionDropped,
    encode_event,
)

# One of each kind: what is asked here is decided in code that all share.
ONE_OF_EACH = [each for each in ADAPTERS if str(each) in ("httpx", "httpx-sync", "trio")]
every_adapter = pytest.mark.parametrize("adapter", ONE_OF_EACH, ids=str)
FAST = ReconnectPolicy(attempts=2, floor=0.001, ceiling=0.002)
MESSAGE = encode_event("data")
BASE = {"verify": distrusting_context()}


class Script:
    """Answers each connection with the next of the answers, and the last one again and again."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, peer):
        peer.read_request()
        self.requests.append(peer)
        number = min(len(self.requests), len(self.answers)) - 1
        # Without this a client might use a connection again that is about to close.
        peer.send(self.answers[number].replace(b"\r\n", b"\r\nConnection: close\r\n", 1))

    def read(self, adapter, **options):
        with serving(self) as server:
            return adapter.run_events(server.url, **BASE, **options)

    def asked(self, header):
        return [peer.header(header) for peer in self.requests]


@every_adapter
def test_request_is_a_get_for_an_event_stream_past_all_caches(adapter):
    script = Script(typed("text/event-stream", MESSAGE))
    assert script.read(adapter).error is None
    assert script.requests[0].head.startswith(b"GET ")
    assert script.asked("accept") == ["text/event-stream"]
    assert script.asked("cache-control") == ["no-cache"]
    assert script.asked("last-event-id") == [None]


@every_adapter
@pytest.mark.parametrize("status", [204, 205, 210, 299, 404, 410])
def test_other_status_fails_for_good(adapter, status):
    script = Script(answer(f"{status} Other", b"", "Content-Type: text/event-stream"))
    outcome = script.read(adapter, reconnect=FAST)
    assert outcome.error == SseConnectFailed(status, "", "status")
    assert len(script.requests) == 1


@every_adapter
def test_server_that_is_busy_is_asked_again_where_a_browser_gives_up(adapter):
    busy = answer("503 Busy", b"", "Content-Type: text/event-stream")
    script = Script(busy, typed("text/event-stream", MESSAGE), answer("204 No", length=False))
    outcome = script.read(adapter, reconnect=FAST)
    assert [item.data for item in outcome.items] == ["data"]
    assert len(script.requests) == 3


@every_adapter
@pytest.mark.parametrize("media_type", ["text/x-bogus", "x bogus", "text/event-stream2", ""])
def test_other_media_type_fails_for_good(adapter, media_type):
    script = Script(typed(media_type, MESSAGE))
    outcome = script.read(adapter, reconnect=FAST)
    assert outcome.error == SseConnectFailed(200, MESSAGE.decode(), "content-type")
    assert len(script.requests) == 1


@every_adapter
@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "unknown"])
def test_charset_is_ignored(adapter, charset):
    body = "data: ok…\n\n".encode()
    script = Script(typed(f"text/event-stream;charset={charset}", body))
    assert [item.data for item in script.read(adapter).items] == ["ok…"]


@every_adapter
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_followed_where_the_client_follows_them(adapter, status):
    def handler(peer):
        peer.read_request()
        first = b" /turns " in peer.head
        peer.send(redirecting(status, "/else") if first else typed("text/event-stream", MESSAGE))

    with serving(handler) as server:
        if adapter.is_httpx:
            items = read_with_client(adapter, "stream_events", server.url, follow_redirects=True)
            assert [item.data for item in items] == ["data"]
        else:
            error = adapter.run_events(server.url).error
            assert (error.status, error.reason.word) == (status, "redirect")


@every_adapter
def test_204_ends_a_stream_that_reconnects(adapter):
    script = Script(typed("text/event-stream", MESSAGE), answer("204 No Content", length=False))
    outcome = script.read(adapter, reconnect=FAST)
    assert [item.data for item in outcome.items] == ["data"]
    assert len(script.requests) == 2
    assert outcome.error is None


@every_adapter
@pytest.mark.parametrize(
    ("body", "last"),
    [
        (encode_event("a", id="1"), "1"),
        (encode_event("a", id="1") + encode_event("b"), "1"),
        (encode_event("a", id="1") + encode_event("b", id=""), None),
        (encode_event("a", id="1") + b"id: 2\n\n", "2"),
        (encode_event("a", id="1") + b"id: 2\ndata: never finished\n", "1"),
        (encode_event("a", id="1") + b"id: 2\0\ndata: b\n\n", "1"),
        ("id: … é\ndata: a\n\n".encode(), "… é"),
        (MESSAGE, None),
    ],
)
def test_next_request_says_the_id_of_the_last_block_that_ended(adapter, body, last):
    script = Script(TO_CLOSE + body, answer("204 No Content", length=False))
    script.read(adapter, reconnect=FAST)
    assert script.asked("last-event-id") == [None, last]


@every_adapter
def test_id_stays_over_connections_that_bring_none(adapter):
    script = Script(
        TO_CLOSE + encode_event("a", id="1"), TO_CLOSE + MESSAGE, answer("204 No", length=False)
    )
    outcome = script.read(adapter, reconnect=FAST)
    assert script.asked("last-event-id") == [None, "1", "1"]
    assert [item.id for item in outcome.items] == ["1", "1"]


@every_adapter
def test_id_that_is_too_long_for_a_header_is_not_sent(adapter):
    script = Script(TO_CLOSE + encode_event("a", id="x" * 8193))
    outcome = script.read(adapter, reconnect=FAST)
    assert outcome.error.reason == "end of stream; reconnect failed: protocol"
    assert isinstance(outcome.error, SseConnectionDropped)
    assert len(script.requests) == 1


@every_adapter
def test_id_of_8_kib_is_sent_and_the_callers_own_may_not_be_longer(adapter):
    script = Script(TO_CLOSE + MESSAGE)
    script.read(adapter, last_event_id="é" * 4096)
    assert script.asked("last-event-id") == ["é" * 4096]
    with pytest.raises(ValueError, match="last_event_id must not be longer than 8 KiB"):
        script.read(adapter, last_event_id="é" * 4096 + "x")


@every_adapter
@pytest.mark.parametrize(
    ("field", "retry_ms"),
    [
        *[(b"retry: 5", 5), (b"retry:5", 5), (b"retry: 0", 0), (b"retry: 05", 5)],
        *[(b"retry: 5x", None), (b"retry: -5", None), (b"retry: 5.0", None), (b"retry", None)],
    ],
)
def test_retry_is_digits_only(adapter, field, retry_ms):
    script = Script(typed("text/event-stream", field + b"\n" + MESSAGE))
    assert script.read(adapter).stream.retry_ms == retry_ms


@every_adapter
def test_event_that_was_not_finished_is_dropped(adapter):
    script = Script(typed("text/event-stream", MESSAGE + b"data: half\n"))
    outcome = script.read(adapter)
    assert [item.data for item in outcome.items] == ["data"]
    assert outcome.error is None
