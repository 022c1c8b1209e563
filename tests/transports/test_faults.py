"""Every fault in the table has the same outcome over every adapter, and docs/faults.md shows it."""

import gc
import threading
from pathlib import Path

import httpx2
import pytest
from support.adapters import ADAPTERS, collect, collect_async, every_adapter, reset_before_tls
from support.fault import compared, failed, shown
from support.fault_servers import (
    BROKEN_OFF,
    DONE,
    HERE,
    MUCH,
    SHORT,
    answer,
    distrusting_context,
    server_context,
    then_silence,
    typed,
)
from support.faults import FAULTS
from support.http2_faults import HTTP2_FAULTS
from support.raw_server import TIMEOUT, serving
from support.reading import read_with_client

import ratatoskr_transports.anyio as anyio_adapter
from ratatoskr_proto import SseConnectFailed

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_left_to_the_garbage_collector():
    yield
    gc.collect()


@pytest.fixture
def brief_error_bodies(monkeypatch):
    for module in ("connections", "httpx_client"):
        monkeypatch.setattr(f"ratatoskr_transports._adapters.{module}.ERROR_BODY_SECONDS", 0.2)


def cases():
    """Every fault on every adapter. The default run leaves out the second generation of httpx,
    whose exceptions have the same names, and waits for a timeout over three adapters only.
    """
    for fault in FAULTS:
        for adapter in ADAPTERS:
            slow = adapter.library is httpx2 or (fault.waits and adapter.module is anyio_adapter)
            marks = [pytest.mark.slow] if slow else []
            if adapter.is_sync and fault.name.endswith("as it is made, where TLS should be"):
                marks.append(reset_before_tls)
            yield pytest.param(fault, adapter, id=f"{fault}-{adapter}", marks=marks)


@pytest.mark.parametrize(("fault", "adapter"), list(cases()))
def test_fault_has_its_outcome(fault, adapter, request):
    if "trickles" in fault.name:
        request.getfixturevalue("brief_error_bodies")
    expected = fault.expected(adapter)
    # On a machine under load a server may need longer for its answer than a short timeout is.
    for patience in (1, 5, 25):
        timeouts = {
            name: patience * SHORT for name, value in fault.options.items() if value is SHORT
        }
        with fault.serve() as url:
            options = {**fault.options, **timeouts}
            outcome = adapter.run_turn(url, verify=fault.client_context(), **options)
        got = [shown(item) for item in outcome.items], compared(outcome.error)
        if got == expected or not timeouts:
            break
    assert got == expected


def test_page_shows_the_table():
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    rows = [line for line in page.split("## Heads")[0].split("\n") if line.startswith("| ")]
    assert rows[1:] == [fault.row() for fault in [*FAULTS, *HTTP2_FAULTS]]


@every_adapter
def test_answer_of_a_server_that_closes_without_reading_all_is_kept_if_it_was_had(adapter):
    # Its reset may overtake its answer, which then is lost for good.
    def handler(peer):
        peer.read_head()
        peer.send(answer("413 Too Large", b"too much"))

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, content=MUCH, verify=distrusting_context())
    assert outcome.items == []
    assert compared(outcome.error) in (failed("status", 413, "too much"), failed("closed"))


@every_adapter
def test_leaving_the_block_does_not_wait_for_a_tls_peer_that_is_silent(adapter):
    gone = threading.Event()

    def handler(peer):
        peer.read_request()
        peer.send(BROKEN_OFF)
        # An end without close_notify is all that the server gets to see.
        peer.wait_for_close()
        gone.set()
        peer.wait_for_the_end()

    with serving(handler, server_context(HERE)) as server:
        [item] = read_with_client(adapter, "stream_turn", server.url, limit=1)
        assert gone.wait(TIMEOUT)
    assert item.text == "Hi"


@every_adapter
def test_media_type_does_not_choose_the_charset(adapter):
    body = 'id: 42:1\ndata: {"type": "text", "text": "ok…"}\n\n'.encode() + DONE

    def handler(peer):
        peer.read_request()
        peer.send(typed("text/event-stream; charset=iso-8859-1", body))

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, verify=distrusting_context())
    assert [shown(item) for item in outcome.items] == ["ok…", "done"]


@every_adapter
def test_error_is_raised_once_and_logged_once(adapter, caplog):
    def handler(peer):
        peer.read_request()
        peer.send(BROKEN_OFF)

    with serving(handler) as server:
        outcome = adapter.run_turn(server.url, verify=distrusting_context())
    assert outcome.error.__cause__ is None
    assert outcome.error.__context__ is None
    assert [record.levelname for record in caplog.records if "transports" in record.name] == [
        "WARNING"
    ]


def waiting_client(adapter):
    """A client with one connection, which does not wait long for it."""
    library = adapter.library
    return (library.Client if adapter.is_sync else library.AsyncClient)(
        limits=library.Limits(max_connections=1),
        timeout=library.Timeout(10, pool=SHORT),
        verify=distrusting_context(),
        trust_env=False,
    )


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if each.is_httpx], ids=str)
def test_client_whose_connections_are_all_in_use_is_a_pool_timeout(adapter):
    async def main():
        async with waiting_client(adapter) as client, adapter.module.stream_turn(client, url):
            return await collect_async(lambda: adapter.module.stream_turn(client, url))

    with serving(then_silence(BROKEN_OFF)) as server:
        url = server.url
        if adapter.is_sync:
            with waiting_client(adapter) as client, adapter.module.stream_turn_sync(client, url):
                outcome = collect(lambda: adapter.module.stream_turn_sync(client, url))
        else:
            outcome = adapter.run(main)
    assert outcome.error == SseConnectFailed(None, "", "pool timeout (PoolTimeout)")
