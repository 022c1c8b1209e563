"""The checks of ``check_transport``: what the server does, and what the client must see of it.

They are written for async streams. A sync stream gets the face of one; nothing in it ever waits, so
the same checks run through without an event loop.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Self, TypeAlias

from ratatoskr_proto import (
    Event,
    RatatoskrError,
    SseConnectFailed,
    SseConnectionDropped,
    SseId,
    TurnDecoder,
    TurnState,
    encode_comment,
    encode_event,
)

from .server import (
    CHUNKED,
    DONE,
    EMPTY,
    LAST_CHUNK,
    ONE,
    TURN,
    TWO,
    CheckServer,
    Peer,
    Visit,
    chunk,
    frame,
    gzip,
    head,
    sends,
    sends_and_resets,
    sends_bytes,
    sends_nonsense_and_stays_open,
    stays_open,
    waits_between_events,
)

_MESSAGE = {"message": "Grüße"}
_MAX_EVENTS = 100  # no check sends as many


class Misuse(Exception):
    """What ``connect`` returned is no stream that could be checked."""


class RuleBroken(Exception):
    """A transport did not do what it must."""


def require(condition: object, message: str) -> None:
    """Raise RuleBroken unless the condition holds."""
    if not condition:
        raise RuleBroken(message)


class _SyncFace:
    """A sync stream with the face of an async one."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    async def __aenter__(self) -> Self:
        self._stream = self._manager.__enter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return self._manager.__exit__(*error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return next(self._stream)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Client:
    """Opens the streams of one check."""

    def __init__(
        self, connect: Callable[..., Any], server: CheckServer, check: Check, sync_only: bool
    ) -> None:
        self._connect = connect
        self._server = server
        self._sync_only = sync_only
        self._url, self.visit = server.expect(check.serve)

    def open(self) -> Any:
        """An async context manager that gives the stream."""
        return self._open(self._url)

    def _open(self, url: str) -> Any:
        manager = self._connect(url, json=_MESSAGE)
        if hasattr(manager, "__aenter__"):
            if self._sync_only:
                raise Misuse("connect() returns an async stream; use 'await check_transport(...)'")
            return manager
        if hasattr(manager, "__enter__"):
            return _SyncFace(manager)
        raise Misuse(f"connect() must return a context manager, not {type(manager).__name__}")

    async def require_closed(self) -> None:
        """Fail unless the server sees the connection closed.

        The server tells by a stream of its own, so that the client's event loop can run meanwhile.
        """

        def tell(peer: Peer) -> None:
            answer = "yes" if self.visit.closed.wait(self.visit.seconds) else "no"
            peer.send(CHUNKED + chunk(frame(1, answer) + DONE) + LAST_CHUNK)

        url, _ = self._server.expect(tell)
        async with self._open(url) as turn:
            event = await anext(aiter(turn))
            require(getattr(event, "text", "") == "yes", "the connection was not closed")


async def _read(turn: Any, visit: Visit) -> tuple[list[Event], RatatoskrError | None]:
    """Read a stream to its end, telling the server of each event."""
    events: list[Event] = []
    try:
        async for event in turn:
            events.append(event)
            visit.go_on.set()
            require(len(events) < _MAX_EVENTS, "the stream does not end")
    except RatatoskrError as error:
        return events, error
    return events, None


Run: TypeAlias = Callable[[Client], Awaitable[None]]


def _gives(body: bytes, error: RatatoskrError | None = None) -> Run:
    """The events of this body, then this error, or that of the body itself, or a good end."""
    items = TurnDecoder().receive_data(body)
    expected = [item for item in items if isinstance(item, Event)]
    for item in items:
        if isinstance(item, RatatoskrError):
            error = item

    async def run(client: Client) -> None:
        async with client.open() as turn:
            events, got = await _read(turn, client.visit)
            _compare(events, expected)
            _compare_error(got, error)
            require(not client.visit.late, "an event was held back until the next one was sent")
            last_id = expected[-1].sse_id if expected else None
            require(turn.last_sse_id == last_id, "last_sse_id is not that of the last event")
            state = TurnState.DONE if error is None else TurnState.FAILED
            require(turn.state is state, f"the state is {turn.state}, not {state}")
            for _ in range(2):
                more, again = await _read(turn, client.visit)
                require(more == [], "events came after the end")
                require(got is None or again is not got, "the same error object was raised twice")
                require(again == got, f"then came {again!r} in place of {got!r}")

    return run


def _fails(error: SseConnectFailed) -> Run:
    """No stream, with this error."""

    async def run(client: Client) -> None:
        try:
            async with client.open():
                pass
        except RatatoskrError as got:
            _compare_error(got, error)
        else:
            raise RuleBroken(f"no error on entering, where {error!r} was due")

    return run


def _compare(events: list[Event], expected: list[Event]) -> None:
    require(events == expected, f"the events are {events!r}, not {expected!r}")


def _compare_error(got: RatatoskrError | None, expected: RatatoskrError | None) -> None:
    if got is None or expected is None:
        require(got is expected, f"it ended with {got!r}, not with {expected!r}")
        return
    same = type(got) is type(expected)
    for name in expected.__match_args__:
        ours, theirs = getattr(expected, name), getattr(got, name, None)
        if name == "reason":  # it may hold the name of a foreign exception in brackets
            theirs = re.sub(r" \(\w+\)", "", str(theirs))
        same &= theirs == ours
    require(same, f"it ended with {got!r}, not with {expected!r}")
    hidden = got.__cause__ is None and got.__context__ is None
    require(hidden, "another exception stands behind the error")


async def _sees_what_it_was_handed(client: Client) -> None:
    async with client.open() as turn:
        require(turn.status == 200, f"the status is {turn.status}")
        kind = turn.headers.get("content-type")
        require(kind == "text/event-stream", f"the header content-type is {kind!r}")
        require((turn.last_sse_id, turn.turn_id) == (None, None), "an id before the first event")
        count = 0
        async for event in turn:
            count += 1
            require(count <= _MAX_EVENTS, "the stream does not end")
            require(turn.last_sse_id == event.sse_id, "last_sse_id is not that of the event")
            require(turn.turn_id == 42, f"the turn_id is {turn.turn_id}")
            state = TurnState.DONE if event.terminal else TurnState.STREAMING
            require(turn.state is state, f"the state is {turn.state} after {event!r}")
        require(count == 3, f"there were {count} events in place of 3")


async def _asks_for_what_it_was_told(client: Client) -> None:
    async with client.open() as turn:
        await _read(turn, client.visit)
    request_head, _, body = client.visit.request.partition(b"\r\n\r\n")
    lines = [line.lower() for line in request_head.split(b"\r\n")]
    require(lines[0].startswith(b"post "), "the method is not POST")
    require(b"accept: text/event-stream" in lines, "the header Accept: text/event-stream misses")
    require(body.startswith(b"{") and json.loads(body) == _MESSAGE, "the body is not the JSON")


async def _closes_when_left(client: Client) -> None:
    async with client.open() as turn:
        await anext(aiter(turn))
    await client.require_closed()


async def _closes_on_exception(client: Client) -> None:
    class OfTheCaller(Exception):
        pass

    try:
        async with client.open() as turn:
            await anext(aiter(turn))
            raise OfTheCaller
    except OfTheCaller:
        pass
    else:
        raise RuleBroken("an exception of the caller was swallowed")
    await client.require_closed()


async def _closes_after_error(client: Client) -> None:
    async with client.open() as turn:
        await _read(turn, client.visit)
    await client.require_closed()


async def _is_closed_by_aclose(client: Client) -> None:
    async with client.open() as turn:
        event = await anext(aiter(turn))
        await turn.aclose()
        for _ in range(2):
            more, error = await _read(turn, client.visit)
            _compare(more, [])
            _compare_error(error, SseConnectionDropped(event.sse_id, "closed"))
        await client.require_closed()


class Check(NamedTuple):
    """A name for the report, what the server does, and what the client does and must see."""

    name: str
    serve: Callable[[Peer], None]
    run: Run


_whole = sends(CHUNKED + chunk(TURN) + LAST_CHUNK)
_answer = sends(head(b"Content-Length: 4", status=b"503 Busy", media=b"text/plain") + b"Busy")
_length = head(b"Content-Length: %d" % len(TURN))
_comments = encode_comment("alive") * 3
_cut = SseConnectionDropped(SseId(42, 1), "cut body")
_lost = SseConnectionDropped(SseId(42, 1), "cut body; unfinished event lost")
_ended = SseConnectionDropped(SseId(42, 2), "end of stream")


def _bad(bad_frame: bytes, name: str) -> Check:
    body = ONE + bad_frame + DONE
    return Check(name, sends(CHUNKED + chunk(body) + LAST_CHUNK), _gives(body))


CHECKS = (
    Check("a turn in one write", _whole, _gives(TURN)),
    Check("a turn byte by byte", sends_bytes(CHUNKED + chunk(TURN) + LAST_CHUNK), _gives(TURN)),
    Check(
        "a turn in chunks of one byte",
        sends(CHUNKED, *[chunk(TURN[n : n + 1]) for n in range(len(TURN))], LAST_CHUNK),
        _gives(TURN),
    ),
    Check("a body with a length", sends(_length, TURN), _gives(TURN)),
    Check("a body that ends with the connection", sends(head(), TURN), _gives(TURN)),
    Check(
        "a body in gzip",
        sends(head(b"Content-Encoding: gzip"), gzip(ONE, TWO, DONE)),
        _gives(TURN),
    ),
    Check(
        "empty frames and comments",
        sends(CHUNKED, chunk(EMPTY + ONE + _comments + EMPTY + TWO + EMPTY + DONE), LAST_CHUNK),
        _gives(TURN),
    ),
    Check("each event before the next is sent", waits_between_events, _gives(TURN)),
    Check("where the stream stands", _whole, _sees_what_it_was_handed),
    Check("the request", _whole, _asks_for_what_it_was_told),
    _bad(encode_event('{"type": "text", ', id="42:2"), "bad JSON"),
    _bad(encode_event('{"type": "text", "text": "x"}', id="42"), "a bad id"),
    _bad(encode_event('{"type": "text"}', id="42:2"), "a bad envelope"),
    _bad(frame(2, "x", turn=43), "another turn"),
    Check("a chunked body that is cut", sends(CHUNKED, chunk(ONE)), _gives(ONE, _cut)),
    Check("a body cut in an event", sends(CHUNKED, chunk(ONE + TWO[:9])), _gives(ONE, _lost)),
    Check("a body shorter than its length", sends(_length, ONE), _gives(ONE, _cut)),
    Check(
        "a connection that is reset",
        sends_and_resets,
        _gives(ONE, SseConnectionDropped(SseId(42, 1), "reset")),
    ),
    Check(
        "an end without a terminal event",
        sends(CHUNKED, chunk(ONE + TWO), LAST_CHUNK),
        _gives(ONE + TWO, _ended),
    ),
    Check("the status 503", _answer, _fails(SseConnectFailed(503, "Busy", "status"))),
    Check(
        "another content type",
        sends(head(media=b"text/html; charset=utf-8"), b"<p>"),
        _fails(SseConnectFailed(200, "<p>", "content-type")),
    ),
    Check("no answer", lambda peer: None, _fails(SseConnectFailed(None, "", "closed"))),
    Check("leaving closes the connection", stays_open, _closes_when_left),
    Check("an exception closes the connection", stays_open, _closes_on_exception),
    Check("an error closes the connection", sends_nonsense_and_stays_open, _closes_after_error),
    Check("aclose() closes the stream", stays_open, _is_closed_by_aclose),
)


async def run_checks(connect: Callable[..., Any], seconds: float, sync_only: bool) -> list[str]:
    """Run every check and return what failed, a line each."""
    failures: list[str] = []
    with CheckServer(seconds) as server:
        for check in CHECKS:
            try:
                await check.run(Client(connect, server, check, sync_only))
            except Misuse as misuse:
                raise TypeError(str(misuse)) from None
            except RuleBroken as failure:
                failures.append(f"{check.name}: {failure}")
            except Exception as error:
                failures.append(f"{check.name}: raised {type(error).__name__}: {error}")
    return failures
