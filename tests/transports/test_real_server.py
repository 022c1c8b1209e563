"""Every adapter against an event stream server that others wrote: uvicorn and sse-starlette."""

import asyncio
import threading

import anyio.to_thread
import pytest
import uvicorn
from sse_starlette import EventSourceResponse, JSONServerSentEvent, ServerSentEvent
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from support.adapters import ADAPTERS, every_adapter
from support.modes import play
from support.raw_server import TIMEOUT

from ratatoskr_proto import Comment, SseConnectFailed, SseConnectionDropped, SseId, TurnState

TURN = [{"type": "text", "text": f"{n} → ä\u2028"} for n in range(1, 20)] + [{"type": "done"}]


class Site:
    """The application, and what it has noticed."""

    def __init__(self):
        self.left = threading.Event()
        self.requests = []
        self.app = Starlette(
            routes=[
                Route("/turn", self.turn, methods=["GET", "POST"]),
                Route("/ticks", self.ticks),
                Route("/endless", self.endless),
                Route("/broken", self.broken),
                Route("/json", lambda request: JSONResponse({"error": "no key"}, 401)),
            ]
        )

    async def turn(self, request):
        """A turn of 20 events, after the id that the client has seen."""
        seen = request.headers.get("last-event-id", "7:0")
        self.requests.append((request.method, await request.body(), seen))

        async def events():
            for number, body in enumerate(TURN, 1):
                if number > int(seen.split(":")[1]):
                    yield JSONServerSentEvent(body, id=f"7:{number}")
                    await asyncio.sleep(0)

        return EventSourceResponse(events())

    async def ticks(self, request):
        async def events():
            yield ServerSentEvent("a\nb", event="tick", id="1", retry=70, comment="so far")
            yield {"data": "c"}

        return EventSourceResponse(events(), sep="\r")

    async def endless(self, request):
        """Nothing but pings, and then a look at whether the client is still there."""

        async def events():
            try:
                yield {"data": "first"}
                await asyncio.sleep(TIMEOUT)
            finally:
                self.left.set()

        return EventSourceResponse(events(), ping=0.05, ping_message_factory=ping)

    async def broken(self, request):
        async def events():
            yield JSONServerSentEvent(TURN[0], id="7:1")
            raise ConnectionAbortedError

        return EventSourceResponse(events())


def ping():
    return ServerSentEvent(comment="ping")


@pytest.fixture(scope="module")
def served():
    site = Site()
    config = uvicorn.Config(
        site.app, port=0, log_level="critical", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    started = threading.Event()
    startup = server.startup

    async def announced_startup(sockets=None):
        await startup(sockets)
        started.set()

    server.startup = announced_startup
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert started.wait(TIMEOUT)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield site, f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(TIMEOUT)
    assert not thread.is_alive()


@pytest.fixture
def site(served):
    site, _ = served
    site.left.clear()
    site.requests.clear()
    return site


@pytest.fixture
def url(served):
    return served[1]


@every_adapter
def test_turn_is_whole(adapter, site, url):
    outcome = adapter.run_turn(f"{url}/turn", json={"message": "Hällo"})
    assert outcome.error is None
    assert [event.sse_id.seq for event in outcome.items] == list(range(1, 21))
    assert [event.text for event in outcome.items[:-1]] == [each["text"] for each in TURN[:-1]]
    assert outcome.stream.state is TurnState.DONE
    assert site.requests == [("POST", '{"message": "Hällo"}'.encode(), "7:0")]


@every_adapter
def test_turn_is_taken_up_where_it_was_broken_off(adapter, site, url):
    async def scenario(open_stream):
        async with open_stream("stream_turn", f"{url}/turn") as turn:
            async for event in turn:
                if event.sse_id.seq == 7:
                    break
        assert turn.last_sse_id == (7, 7)
        async with open_stream("reconnect_turn", f"{url}/turn", turn.last_sse_id) as turn:
            return [event.sse_id.seq async for event in turn]

    assert play(adapter, scenario) == list(range(8, 21))
    assert [request[2] for request in site.requests] == ["7:0", "7:7"]


@every_adapter
def test_events_come_with_their_fields(adapter, url):
    outcome = adapter.run_events(f"{url}/ticks", comments=True)
    assert outcome.items == [Comment("so far"), ("tick", "a\nb", "1"), ("message", "c", "1")]
    assert (outcome.error, outcome.stream.retry_ms) == (None, 70)


@every_adapter
def test_server_notices_that_the_client_has_left(adapter, site, url):
    async def scenario(open_stream):
        async with open_stream("stream_events", f"{url}/endless") as events:
            assert (await anext(events)).data == "first"
        left = await anyio.to_thread.run_sync(site.left.wait, TIMEOUT)
        assert left, "the server still thinks that the client is there"

    play(adapter, scenario)


@pytest.mark.parametrize("adapter", [a for a in ADAPTERS if str(a) in ("httpx", "trio")], ids=str)
def test_pings_come_as_comments(adapter, url):
    async def scenario(open_stream):
        async with open_stream("stream_events", f"{url}/endless", comments=True) as events:
            assert (await anext(events)).data == "first"
            assert await anext(events) == Comment("ping")

    play(adapter, scenario)


@every_adapter
def test_server_that_fails_within_a_turn_has_dropped_the_connection(adapter, url):
    outcome = adapter.run_turn(f"{url}/broken")
    assert [event.sse_id for event in outcome.items] == []
    assert isinstance(outcome.error, SseConnectFailed)
    assert outcome.error.status == 405  # it takes GET only
    outcome = adapter.run_resumed(f"{url}/broken", "7:0")
    assert [event.sse_id for event in outcome.items] == [(7, 1)]
    assert type(outcome.error) is SseConnectionDropped
    assert outcome.error.last_sse_id == SseId(7, 1)


@every_adapter
def test_answer_that_is_no_stream_is_told(adapter, url):
    outcome = adapter.run_events(f"{url}/json")
    assert outcome.error == SseConnectFailed(401, '{"error":"no key"}', "status")
    assert adapter.run_turn(f"{url}/nowhere").error.status == 404
