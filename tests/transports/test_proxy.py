"""A proxy between a client of httpx and the server: what it refuses is its own answer."""

import pytest
from support.adapters import ADAPTERS
from support.fault_servers import answer
from support.modes import play
from support.raw_server import serving

from ratatoskr_proto import ReconnectPolicy, SseConnectFailed

HTTPX = [adapter for adapter in ADAPTERS if adapter.is_httpx]
every_httpx = pytest.mark.parametrize("adapter", HTTPX, ids=str)
FAST = ReconnectPolicy(attempts=2, floor=0.001, ceiling=0.002)


def outcome_over(adapter, handler, url):
    """The error on entering a resumed turn through a proxy, and how often that was asked."""

    async def scenario(open_stream):
        with pytest.raises(SseConnectFailed) as caught:
            async with open_stream("reconnect_turn", url, "42:0", reconnect=FAST):
                pass
        return caught.value

    with serving(handler) as server:
        proxy = f"http://127.0.0.1:{server.port}"
        return play(adapter, scenario, proxy=proxy), server.connections


@every_httpx
def test_connect_that_is_refused_for_good_is_its_status_and_final(adapter):
    def handler(peer):
        peer.read_head()
        assert peer.head.startswith(b"CONNECT example.invalid:443 ")
        peer.send(answer("407 Proxy Authentication Required", b"who?"))

    error, connections = outcome_over(adapter, handler, "https://example.invalid/")
    assert error == SseConnectFailed(407, "", "status")
    assert connections == 1


@every_httpx
def test_connect_that_is_refused_for_now_is_asked_again(adapter):
    def handler(peer):
        peer.read_head()
        peer.send(answer("503 Busy", b"later"))

    error, connections = outcome_over(adapter, handler, "https://example.invalid/")
    assert error == SseConnectFailed(503, "", "status")
    assert connections == 1 + FAST.attempts


@every_httpx
def test_refusal_of_a_request_that_a_proxy_forwards_is_an_answer_like_any_other(adapter):
    def handler(peer):
        peer.read_request()
        assert peer.head.startswith(b"GET http://example.invalid/ ")
        peer.send(answer("407 Proxy Authentication Required", b"who?"))

    error, connections = outcome_over(adapter, handler, "http://example.invalid/")
    assert error == SseConnectFailed(407, "who?", "status")
    assert connections == 1
