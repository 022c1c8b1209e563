"""A server that restarts loses connections as they are made. A stream with a policy reconnects."""

import contextlib

import pytest
from support.adapters import every_adapter, reset_before_tls
from support.fault import shown
from support.fault_servers import (
    ALL,
    GOOD_CHUNKED,
    HERE,
    resets_at_once,
    resets_in_handshake,
    server_context,
    trusting_context,
)
from support.raw_server import serving

from ratatoskr_proto import ReconnectPolicy

FAST = ReconnectPolicy(attempts=3, floor=0.001, ceiling=0.002)


def close(peer):
    """Returning closes the connection."""


def close_in_handshake(peer):
    peer.receive_some()


@reset_before_tls
@every_adapter
@pytest.mark.parametrize(
    ("scheme", "fault"),
    [
        *[("http", resets_at_once), ("http", close)],
        *[("https", resets_at_once), ("https", close)],
        *[("https", resets_in_handshake), ("https", close_in_handshake)],
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_turn_resumes_once_the_server_is_well(adapter, scheme, fault):
    connections = []

    def handler(peer):
        connections.append(peer)
        if len(connections) <= 2:
            fault(peer)
            return
        tls = scheme == "https"
        with peer.speaking_tls(server_context(HERE)) if tls else contextlib.nullcontext():
            peer.read_request()
            peer.send(GOOD_CHUNKED)

    with serving(handler) as server:
        url = server.url.replace("http:", f"{scheme}:")
        outcome = adapter.run_resumed(url, "42:0", reconnect=FAST, verify=trusting_context())
    assert outcome.error is None
    assert [shown(item) for item in outcome.items] == ALL
    assert len(connections) == 3
