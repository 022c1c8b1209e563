"""HTTP/2, which clients of httpx speak if they are told to: the same words as over HTTP/1.1."""

import pytest
from h2.errors import ErrorCodes
from support.adapters import HTTP2_ADAPTERS
from support.fault import compared, shown
from support.fault_servers import SHORT, trusting_context
from support.frames import done, text
from support.http2_faults import HTTP2_FAULTS
from support.http2_server import serving_http2
from support.modes import play

from ratatoskr_proto import RatatoskrError, ReconnectPolicy

every_adapter = pytest.mark.parametrize("adapter", HTTP2_ADAPTERS, ids=str)


async def read(open_stream, server, **options):
    """Read a turn to its end; the server is told of each event."""
    items = []
    try:
        async with open_stream("stream_turn", server.url, **options) as turn:
            async for event in turn:
                items.append(shown(event))
                server.signal.set()
    except RatatoskrError as error:
        return items, compared(error)
    return items, None


@every_adapter
@pytest.mark.parametrize("fault", HTTP2_FAULTS, ids=str)
def test_fault_has_its_outcome(adapter, fault):
    options = dict(fault.options)
    timeout = options.pop("read_timeout", 10.0)
    for patience in (1, 5, 25):  # on a machine under load the handshake may take longer than SHORT

        async def scenario(open_stream, server):
            return await read(open_stream, server, **options)

        with fault.serving() as server:
            got = play(
                adapter,
                scenario,
                server,
                verify=trusting_context(),
                read_timeout=timeout * patience,
            )
        if got in fault.expected(adapter.is_sync) or timeout != SHORT:
            break
    assert got in fault.expected(adapter.is_sync)


@every_adapter
def test_turn_resumes_over_refused_streams_and_lost_connections(adapter):
    asked = []

    def handler(peer):
        asked.append(len(asked))
        if len(asked) in (1, 4):
            peer.reset_stream(ErrorCodes.REFUSED_STREAM)
        elif len(asked) == 2:
            peer.go_away(ErrorCodes.NO_ERROR)
        elif len(asked) == 3:
            peer.head()
            peer.data(text(1))
        else:
            peer.head()
            peer.data(text(2) + done(3), end=True)

    async def scenario(open_stream, url):
        policy = ReconnectPolicy(attempts=3, floor=0.001, ceiling=0.002)
        async with open_stream("reconnect_turn", url, "42:0", reconnect=policy) as turn:
            return [shown(event) async for event in turn]

    with serving_http2(handler) as server:
        got = play(adapter, scenario, server.url, verify=trusting_context())
    assert got == ["1", "2", "done"]
    assert len(asked) == 5
