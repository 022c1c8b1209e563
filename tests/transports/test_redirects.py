"""Redirects that an httpx client follows, and redirects that lead nowhere."""

import pytest
from support.adapters import ADAPTERS
from support.fault_servers import ALL, answer, redirecting, typed
from support.raw_server import serving
from support.reading import read_with_client

from ratatoskr_proto import SseConnectFailed

HTTPX = [adapter for adapter in ADAPTERS if adapter.is_httpx]
every_httpx = pytest.mark.parametrize("adapter", HTTPX, ids=str)
CASES = [(adapter, False) for adapter in ADAPTERS] + [(adapter, True) for adapter in HTTPX]

BAD_TARGETS = [
    "http://[::1",
    "http://a:b/",
    "http://a\x01b/",
    "http://xn--/",
    "http://127.0.0.1:99999/",
    f"http://{'a' * 70}.invalid/",
    "http://.invalid/",
    "https:",
    "mailto:someone",
    "ftp://127.0.0.1/file",
    "?" + "a" * 70000,
]


def read(adapter, url, **options):
    items = read_with_client(adapter, "stream_turn", url, **options)
    return [getattr(item, "text", item.type) for item in items]


@every_httpx
@pytest.mark.parametrize(
    ("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
)
def test_client_follows_a_redirect_if_it_is_told_to(adapter, status, method):
    lines = []

    def handler(peer):
        peer.read_request()
        lines.append(peer.head.split(b"\r\n")[0].decode())
        first = len(lines) == 1
        peer.send(redirecting(status, "/else?a=b") if first else typed("text/event-stream"))

    with serving(handler) as server:
        assert read(adapter, server.url, follow_redirects=True, json={}) == ALL
    assert lines == ["POST /turns HTTP/1.1", f"{method} /else?a=b HTTP/1.1"]


@every_httpx
def test_redirects_without_end_are_a_redirect_error(adapter):
    def handler(peer):
        peer.read_request()
        peer.send(redirecting(307, "/turns"))

    with serving(handler) as server, pytest.raises(SseConnectFailed) as caught:
        read(adapter, server.url, follow_redirects=True)
    assert caught.value == SseConnectFailed(None, "", "redirect (TooManyRedirects)")


@every_httpx
def test_error_after_a_redirect_is_reported_as_it_is(adapter):
    def handler(peer):
        peer.read_request()
        first = b" /turns " in peer.head
        peer.send(redirecting(307, "/login") if first else answer("401 No", b"who?"))

    with serving(handler) as server, pytest.raises(SseConnectFailed) as caught:
        read(adapter, server.url, follow_redirects=True)
    assert caught.value == SseConnectFailed(401, "who?", "status")


@pytest.mark.parametrize(("adapter", "follow"), CASES, ids=str)
@pytest.mark.parametrize("target", BAD_TARGETS, ids=lambda target: target[:30])
def test_redirect_to_nowhere_is_an_error_of_the_family(adapter, follow, target):
    def handler(peer):
        peer.read_request()
        peer.send(redirecting(302, target))

    with serving(handler) as server, pytest.raises(SseConnectFailed) as caught:
        read(adapter, server.url, follow_redirects=follow)
    words = ("redirect", "dns", "unreachable", "refused", "protocol") if follow else "redirect"
    assert caught.value.reason.startswith(words)
    assert caught.value.__cause__ is None
