"""The checks of ``check_transport``: what the server does, and what the client must see of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeAlias

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

from .client import (
    MAX_EVENTS,
    MESSAGE,
    Client,
    Counted,
    Misuse,
    RuleBroken,
    SyncFace,
    compare,
    compare_error,
    read,
    require,
)
from .server import (
    CHUNKED,
    DONE,
    EMPTY,
    KEEP_ALIVES,
    LAST_CHUNK,
    ONE,
    TURN,
    TWO,
    CheckPeer,
    CheckServer,
    chunk,
    frame,
    gzip,
    head,
    sends,
    sends_a_head_that_drips,
    sends_and_resets,
    sends_bytes,
    sends_keep_alives_for_ever,
    sends_nonsense_and_stays_open,
    stays_open,
    waits_between_events,
)

_PIECES = 16  # of 64 KiB, that a few bytes of gzip stand for
_SHORT = 0.1  # seconds: a timeout that is meant to pass


Run: TypeAlias = Callable[[Client], Awaitable[None]]


def _gives(body: bytes, error: RatatoskrError | None = None) -> Run:
    """The events of this body, then this error, or the error in the body, or a good end."""
    items = TurnDecoder().receive_data(body)
    expected: list[Event] = [item for item in items if isinstance(item, Event)]
    for item in items:
        if isinstance(item, RatatoskrError):
            error = item

    async def run(client: Client) -> None:
        async with client.open() as turn:
            events, got = await read(turn, client.visit)
            compare(events, expected)
            compare_error(got, error)
            require(not client.visit.late, "an event was held back until the next one was sent")
            last_id = expected[-1].sse_id if expected else None
            require(turn.last_sse_id == last_id, "last_sse_id is not that of the last event")
            state = TurnState.DONE if error is None else TurnState.FAILED
            require(turn.state is state, f"the state is {turn.state}, not {state}")
            for _ in range(2):
                more, again = await read(turn, client.visit)
                require(more == [], "events came after the end")
                require(got is None or again is not got, "the same error object was raised twice")
                require(again == got, f"then came {again!r} instead of {got!r}")

    return run


def _fails(error: SseConnectFailed) -> Run:
    """No stream, with this error."""

    async def run(client: Client) -> None:
        try:
            async with client.open():
                pass
        except RatatoskrError as got:
            compare_error(got, error)
        else:
            raise RuleBroken(f"no error on entering, where {error!r} was due")

    return run


async def _sees_what_it_was_handed(client: Client) -> None:
    async with client.open() as turn:
        require(turn.status == 200, f"the status is {turn.status}")
        kind = turn.headers.get("content-type")
        require(kind == "text/event-stream", f"the header content-type is {kind!r}")
        require((turn.last_sse_id, turn.turn_id) == (None, None), "an id before the first event")
        count = 0
        async for event in turn:
            count += 1
            require(count <= MAX_EVENTS, "the stream does not end")
            require(turn.last_sse_id == event.sse_id, "last_sse_id is not that of the event")
            require(turn.turn_id == 42, f"the turn_id is {turn.turn_id}")
            state = TurnState.DONE if event.terminal else TurnState.STREAMING
            require(turn.state is state, f"the state is {turn.state} after {event!r}")
        require(count == 3, f"there were {count} events instead of 3")


async def _asks_for_what_it_was_told(client: Client) -> None:
    async with client.open() as turn:
        await read(turn, client.visit)
    request_head, _, body = client.visit.request.partition(b"\r\n\r\n")
    lines = [line.lower() for line in request_head.split(b"\r\n")]
    require(lines[0].startswith(b"post "), "the method is not POST")
    require(b"accept: text/event-stream" in lines, "no header Accept: text/event-stream")
    require(body.startswith(b"{") and json.loads(body) == MESSAGE, "the body is not the JSON")


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
        await read(turn, client.visit)
    await client.require_closed()


async def _is_closed_by_aclose(client: Client) -> None:
    async with client.open() as turn:
        event = await anext(aiter(turn))
        await turn.aclose()
        for _ in range(2):
            more, error = await read(turn, client.visit)
            compare(more, [])
            compare_error(error, SseConnectionDropped(event.sse_id, "closed"))
        await client.require_closed()


async def _ends_after_the_event_timeout(client: Client) -> None:
    if not client.takes("event_timeout"):
        return
    for patience in (1, 5, 25):  # on a busy machine, the first event alone may take longer
        try:
            async with client.open(event_timeout=patience * _SHORT) as turn:
                events, error = await read(turn, client.visit)
        except SseConnectFailed as failure:
            events, error = [], failure
        if events:
            break
    require([event.sse_id for event in events] == [(42, 1)], f"the events are {events!r}")
    # Whether a keep-alive was cut in half at that moment is a matter of chance.
    reason = getattr(error, "reason", "").partition(";")[0]
    require(reason == "event timeout", f"it ended with {error!r}, not with an event timeout")


async def _lets_others_run(client: Client) -> None:
    async with client.open() as turn:
        await anext(aiter(turn))
        counted = Counted(anext(aiter(turn)))
        await counted
        if isinstance(turn, SyncFace):
            return  # there are no others
        turns = f"{counted.turns} times while it decoded {_PIECES} pieces of 64 KiB"
        require(counted.turns >= _PIECES - 1, f"the event loop ran {turns}")


async def _waits_for_no_dripping_head(client: Client) -> None:
    timeouts = {"event_timeout": _SHORT, "read_timeout": _SHORT}
    opening = client.open(**timeouts)
    # A sync client of httpx only has a timeout for each read, and an event timeout is for later.
    if isinstance(opening, SyncFace) or not any(map(client.takes, timeouts)):
        return
    try:
        async with opening:
            pass
    except RatatoskrError as got:
        compare_error(got, SseConnectFailed(None, "", "read timeout"))
    else:
        raise RuleBroken("no error on entering, though the head took longer than the timeout")


class Check(NamedTuple):
    """A name for the report, what the server does, and what the client does and must see."""

    name: str
    serve: Callable[[CheckPeer], None]
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
        "keep-alives for ever",
        sends_keep_alives_for_ever,
        _ends_after_the_event_timeout,
    ),
    Check(
        "many keep-alives in a few bytes",
        sends(head(b"Content-Encoding: gzip"), gzip(ONE, KEEP_ALIVES * _PIECES, TWO, DONE)),
        _lets_others_run,
    ),
    Check("a head that drips", sends_a_head_that_drips, _waits_for_no_dripping_head),
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
                await check.run(Client(connect, server, check.serve, sync_only))
            except Misuse as misuse:
                raise TypeError(str(misuse)) from None
            except RuleBroken as failure:
                failures.append(f"{check.name}: {failure}")
            except Exception as error:
                failures.append(f"{check.name}: raised {type(error).__name__}: {error}")
    return failures
