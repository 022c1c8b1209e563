"""Turns over sources that are open already, and the refusals that name the right function."""

import gzip
import io
import logging
import socket

import anyio
import anyio.abc
import httpx
import httpx2
import pytest
import trio
import trio.testing
from support.adapters import ADAPTERS
from support.frames import chunk, done, text
from support.raw_server import CHUNKED, LAST_CHUNK, serving

import ratatoskr_transports.anyio
import ratatoskr_transports.httpx
import ratatoskr_transports.trio
from ratatoskr_proto import SseConnectFailed, SseConnectionDropped, SseId
from ratatoskr_transports import SyncTurnStream, TurnStream

FIRST = text(1, "a", turn=7)
SECOND = text(2, "b", turn=7)
DONE = done(3, turn=7)
LIBRARIES = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
wrap = ratatoskr_transports.httpx.wrap
wrap_sync = ratatoskr_transports.httpx.wrap_sync
wrap_events = ratatoskr_transports.httpx.wrap_events
wrap_events_sync = ratatoskr_transports.httpx.wrap_events_sync


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_anyio_byte_stream_is_read_as_the_body(backend):
    async def main():
        ours, theirs = socket.socketpair()
        stream = await anyio.abc.SocketStream.from_socket(ours)
        theirs.sendall(FIRST + SECOND[:9])
        async with ratatoskr_transports.anyio.wrap(stream, resume_from=SseId(7, 0)) as turn:
            assert (turn.last_sse_id, turn.status, dict(turn.headers)) == ((7, 0), None, {})
            assert (await anext(turn)).text == "a"
            theirs.close()
            with pytest.raises(SseConnectionDropped) as caught:
                await anext(turn)
        expected = SseConnectionDropped(SseId(7, 1), "end of stream; unfinished event lost")
        assert caught.value == expected
        with pytest.raises(anyio.ClosedResourceError):
            await stream.receive()

    anyio.run(main, backend=backend)


def test_trio_stream_is_read_as_the_body():
    async def main():
        ours, theirs = trio.testing.memory_stream_pair()
        await theirs.send_all(FIRST + SECOND + DONE)
        async with ratatoskr_transports.trio.wrap(ours, resume_from=SseId(7, 1)) as turn:
            assert [event.sse_id.seq async for event in turn] == [2, 3]
        with pytest.raises(trio.ClosedResourceError):
            await ours.receive_some()

    trio.run(main)


@pytest.mark.parametrize("module", [ratatoskr_transports.anyio, ratatoskr_transports.trio])
def test_any_event_stream_can_be_wrapped(module):
    async def main():
        ours, theirs = trio.testing.memory_stream_pair()
        if module is ratatoskr_transports.anyio:
            sock, theirs = socket.socketpair()
            ours = await anyio.abc.SocketStream.from_socket(sock)
            theirs.sendall(b"data: a\n\ndata: b")
            theirs.close()
        else:
            await theirs.send_all(b"data: a\n\ndata: b")
            await theirs.aclose()
        async with module.wrap_events(ours, last_event_id="5", flush_unfinished=True) as events:
            assert [(event.data, event.id) async for event in events] == [("a", "5"), ("b", "5")]

    trio.run(main)


def test_trio_stream_that_breaks_is_a_dropped_connection():
    async def main():
        ours, theirs = trio.testing.memory_stream_pair()
        await theirs.send_all(FIRST)
        async with ratatoskr_transports.trio.wrap(ours) as turn:
            await anext(turn)
            await trio.aclose_forcefully(ours)
            with pytest.raises(SseConnectionDropped, match="closed"):
                await anext(turn)

    trio.run(main)


def answer(peer):
    peer.read_request()
    peer.send(CHUNKED, chunk(FIRST + SECOND + DONE), LAST_CHUNK)


@LIBRARIES
def test_response_of_an_async_client_is_read(library):
    async def main(url):
        async with library.AsyncClient(trust_env=False, verify=False) as client:
            request = client.build_request("GET", url)
            async with wrap(await client.send(request, stream=True)) as turn:
                assert isinstance(turn, TurnStream)
                assert [event.sse_id.seq async for event in turn] == [1, 2, 3]
                assert (turn.status, turn.headers["transfer-encoding"]) == (200, "chunked")

    with serving(answer) as server:
        anyio.run(main, server.url)


@LIBRARIES
def test_response_of_a_sync_client_is_read(library):
    with serving(answer) as server, library.Client(trust_env=False, verify=False) as client:
        request = client.build_request("GET", server.url)
        with wrap_sync(client.send(request, stream=True), resume_from=SseId(7, 1)) as turn:
            assert isinstance(turn, SyncTurnStream)
            assert [event.sse_id.seq for event in turn] == [2, 3]


def respond_with(library, *, chunks=(FIRST + DONE,), **response):
    """A sync client without a network, and what it answers."""

    class Stream(library.SyncByteStream):  # type: ignore[name-defined]
        def __iter__(self):
            return iter(chunks)

    def handler(request):
        return library.Response(stream=Stream(), **response)

    client = library.Client(transport=library.MockTransport(handler))
    return client.send(client.build_request("GET", "http://test/path?secret"), stream=True)


STREAM_HEADERS = {"content-type": "text/event-stream"}


@LIBRARIES
@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (503, STREAM_HEADERS, "status"),
        (200, {"content-type": "text/html"}, "content-type"),
        (200, {**STREAM_HEADERS, "content-encoding": "br"}, "content-encoding"),
        (302, {"location": "//else/where?secret"}, "redirect to http://else/where"),
    ],
)
def test_response_that_is_no_stream_is_refused(library, status, headers, reason, caplog):
    response = respond_with(library, status_code=status, headers=headers)
    try:
        raise ValueError("what the caller is at")
    except ValueError:
        with pytest.raises(SseConnectFailed) as caught:
            wrap_sync(response)
    assert caught.value == SseConnectFailed(status, "", reason)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    ours = [each for each in caplog.records if each.name == "ratatoskr_transports"]
    assert [(each.levelno, each.getMessage()) for each in ours] == [
        (logging.WARNING, f"[connect_failed] status={status} reason={reason!r} body=''")
    ]
    response.close()


@LIBRARIES
def test_response_of_any_type_is_read_if_asked_for(library):
    for function in (wrap_sync, wrap_events_sync):
        response = respond_with(library, status_code=200, headers={"content-type": "text/plain"})
        with function(response, any_media_type=True) as stream:
            assert len(list(stream)) == 2
        response = respond_with(library, status_code=201, headers=STREAM_HEADERS)
        with pytest.raises(SseConnectFailed, match="status 201"):
            function(response, any_media_type=True)
        response.close()


@LIBRARIES
@pytest.mark.parametrize("coding", ["identity", "gzip", "br"])
def test_response_that_was_read_is_read_from_its_content(library, coding):
    """Whatever its header says of a coding, and whatever kind of client it is of."""
    headers = {**STREAM_HEADERS, "content-encoding": coding}
    content = FIRST + DONE
    if coding == "gzip":
        content = gzip.compress(content)
    if coding == "br":
        response = library.Response(200, headers=STREAM_HEADERS, content=content)
        response.headers = library.Headers(headers)
    else:
        response = library.Response(200, headers=headers, content=content)
    response.request = library.Request("GET", "http://test/")

    async def main():
        async with wrap(response) as turn:
            assert [event.type async for event in turn] == ["text", "done"]
            assert turn.headers["content-encoding"] == coding
        async with wrap_events(response) as events:
            assert [event.id async for event in events] == ["7:1", "7:3"]

    anyio.run(main)
    with wrap_sync(response) as turn:
        assert [event.type for event in turn] == ["text", "done"]
    with wrap_events_sync(response, last_event_id="5") as events:
        assert events.last_event_id == "5"
        assert [event.id for event in events] == ["7:1", "7:3"]


@LIBRARIES
def test_response_needs_no_request(library):
    """As one made by hand in a test has none."""
    head = {"status_code": 200, "headers": STREAM_HEADERS}

    async def chunks():
        yield FIRST
        yield DONE

    async def main():
        for body in ({"content": FIRST + DONE}, {"content": chunks()}):
            async with wrap(library.Response(**head, **body)) as turn:
                assert [event.type async for event in turn] == ["text", "done"]

    anyio.run(main)
    for body in ({"content": FIRST + DONE}, {"content": iter([FIRST, DONE])}):
        with wrap_sync(library.Response(**head, **body)) as turn:
            assert [event.type for event in turn] == ["text", "done"]
    for location, target in [("http://test/a?secret", "http://test/a"), ("/b", "/b")]:
        response = library.Response(307, headers={"location": location}, content=b"")
        with pytest.raises(SseConnectFailed) as caught:
            wrap_sync(response)
        assert caught.value == SseConnectFailed(307, "", f"redirect to {target}")


@LIBRARIES
def test_response_of_both_kinds_is_read_by_either_function(library):
    def response():
        stream = library.ByteStream(FIRST + DONE)
        return library.Response(200, headers=STREAM_HEADERS, stream=stream)

    async def main():
        async with wrap(response()) as turn:
            assert [event.type async for event in turn] == ["text", "done"]

    anyio.run(main)
    with wrap_sync(response()) as turn:
        assert [event.type for event in turn] == ["text", "done"]


@LIBRARIES
def test_response_that_was_closed_unread_is_refused(library):
    def consumed(response):
        list(response.iter_raw())

    for use in (lambda each: each.close(), consumed):
        response = respond_with(library, status_code=200, headers=STREAM_HEADERS)
        use(response)
        with pytest.raises(ValueError, match="send it with stream=True"):
            wrap_sync(response)


@LIBRARIES
def test_response_of_the_other_kind_is_told_the_right_function(library):
    async def main():
        async with library.AsyncClient(trust_env=False, verify=False) as client:
            request = client.build_request("GET", server.url)
            response = await client.send(request, stream=True)
            for function in (wrap_sync, wrap_events_sync):
                right = function.__name__.removesuffix("_sync")
                with pytest.raises(TypeError, match=rf"{function.__name__}\(\) .* {right}\(\)$"):
                    function(response)
            async with wrap_events(response) as events:
                assert [event.id async for event in events] == ["7:1", "7:2", "7:3"]

    with serving(answer) as server:
        anyio.run(main)
    response = respond_with(library, status_code=200, headers=STREAM_HEADERS)
    for function in (wrap, wrap_events):
        with pytest.raises(TypeError, match=rf"use {function.__name__}_sync\(\)$"):
            function(response)
    response.close()


@LIBRARIES
def test_mocked_answer_is_read_in_every_way(library):
    """The stock way to test code over httpx: a response that has its content from the start."""

    def handler(request):
        if request.url.path == "/refused":
            return library.Response(503, headers={"retry-after": "7"}, content=b"busy")
        return library.Response(200, headers=STREAM_HEADERS, content=FIRST + DONE)

    module = ratatoskr_transports.httpx
    transport = library.MockTransport(handler)

    async def main():
        async with library.AsyncClient(transport=transport) as client:
            async with module.stream_turn(client, "http://test/") as turn:
                assert [event.type async for event in turn] == ["text", "done"]
            with pytest.raises(SseConnectFailed) as caught:
                await module.stream_events(client, "http://test/refused").__aenter__()
            assert caught.value == SseConnectFailed(503, "busy", "status")

    anyio.run(main)
    with library.Client(transport=transport) as client:
        with module.stream_turn_sync(client, "http://test/") as turn:
            assert [event.type for event in turn] == ["text", "done"]
        with pytest.raises(SseConnectFailed) as caught:
            module.stream_events_sync(client, "http://test/refused").__enter__()
        assert caught.value == SseConnectFailed(503, "busy", "status")


@LIBRARIES
def test_hook_that_reads_the_body_of_an_error_does_not_lose_it(library):
    async def read(response):
        await response.aread()

    def refuse(peer):
        peer.read_request()
        peer.send(b"HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nsorry")

    async def main():
        hooks = {"response": [read]}
        async with library.AsyncClient(trust_env=False, verify=False, event_hooks=hooks) as client:
            with pytest.raises(SseConnectFailed) as caught:
                await ratatoskr_transports.httpx.stream_turn(client, server.url).__aenter__()
            assert caught.value == SseConnectFailed(500, "sorry", "status")

    with serving(refuse) as server:
        anyio.run(main)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (function, rf"^{function.__name__}\(\) takes a Response of httpx, not BytesIO")
        for function in (wrap, wrap_sync, wrap_events, wrap_events_sync)
    ]
    + [
        (getattr(module, name), rf"^{name}\(\) takes {kind}, not BytesIO")
        for module, kind in [
            (ratatoskr_transports.anyio, "an anyio ByteStream"),
            (ratatoskr_transports.trio, "a trio Stream"),
        ]
        for name in ("wrap", "wrap_events")
    ],
)
def test_wrap_refuses_what_it_cannot_read(function, words):
    with pytest.raises(TypeError, match=words):
        function(io.BytesIO())


@pytest.mark.parametrize("module", [ratatoskr_transports.anyio, ratatoskr_transports.trio])
def test_wrap_refuses_bad_options(module):
    async def main():
        ours, _ = trio.testing.memory_stream_pair()
        send, receive = anyio.create_memory_object_stream[bytes]()
        with send, receive:
            stream = ours
            if module is ratatoskr_transports.anyio:
                stream = anyio.streams.stapled.StapledByteStream(send, receive)
            with pytest.raises(ValueError, match="read_timeout"):
                module.wrap(stream, read_timeout=0)
            with pytest.raises(TypeError, match="resume_from"):
                module.wrap(stream, resume_from="7:1")

    trio.run(main)


FUNCTIONS = {"stream_turn": (), "reconnect_turn": ("7:1",), "stream_events": ()}


@LIBRARIES
@pytest.mark.parametrize("function", FUNCTIONS)
def test_client_of_the_wrong_kind_is_told_the_right_function(library, function):
    module, args = ratatoskr_transports.httpx, FUNCTIONS[function]
    sync_client = library.Client(verify=False)
    async_client = library.AsyncClient(verify=False)

    class Derived(library.Client):  # type: ignore[name-defined]
        pass

    with pytest.raises(TypeError, match=rf"use {function}_sync\(\)"):
        getattr(module, function)(sync_client, "http://x/", *args)
    with pytest.raises(TypeError, match=rf"use {function}_sync\(\)"):
        getattr(module, function)(Derived(verify=False), "http://x/", *args)
    with pytest.raises(TypeError, match=rf"use {function}\(\)"):
        getattr(module, f"{function}_sync")(async_client, "http://x/", *args)
    getattr(module, function)(async_client, "http://x/", *args)
    getattr(module, f"{function}_sync")(Derived(verify=False), "http://x/", *args)


@pytest.mark.parametrize("client", [None, "http://x/", object(), httpx, 1])
def test_what_is_no_client_is_told_what_is(client):
    with pytest.raises(TypeError, match=r"client must be an httpx\.AsyncClient, not "):
        ratatoskr_transports.httpx.stream_turn(client, "http://x/")
    with pytest.raises(TypeError, match=r"client must be an httpx\.Client, not "):
        ratatoskr_transports.httpx.stream_turn_sync(client, "http://x/")


@pytest.mark.parametrize("adapter", [each for each in ADAPTERS if not each.is_httpx], ids=str)
def test_adapters_without_clients_refuse_one(adapter):
    with pytest.raises(TypeError, match="the URL must be a str, not AsyncClient"):
        adapter.module.stream_turn(httpx.AsyncClient(verify=False))
