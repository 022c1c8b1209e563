"""What type checkers make of streams and of the calls that give them: nothing here is run.

mypy and pyright read it with the packages. Of a line that is marked to be ignored, mypy complains
once there is nothing to ignore any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never, assert_type

import httpx
import httpx2

import ratatoskr_transports.anyio
import ratatoskr_transports.trio
from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Comment,
    Done,
    Event,
    EventStreamDecoder,
    RatatoskrError,
    Reasoning,
    ServerError,
    ServerSentEvent,
    SseId,
    Text,
    Unknown,
)
from ratatoskr_proto.dialects import OPENAI_CHAT
from ratatoskr_transports import EventStream, SseExchange, SyncTurnStream, TurnStream
from ratatoskr_transports.httpx import (
    reconnect_turn,
    reconnect_turn_sync,
    stream_events,
    stream_events_sync,
    stream_turn,
    stream_turn_sync,
    wrap,
    wrap_events_sync,
    wrap_sync,
)

URL = "http://host/"
TurnEvents = Text | Done | ServerError | Unknown


@dataclass(frozen=True)
class ToolCall(Event):
    """An event type of one's own."""

    type = "tool_call"
    name: str


async def clients_of_both_libraries(one: httpx.AsyncClient, two: httpx2.AsyncClient) -> None:
    async with stream_turn(one, URL, json={}) as turn, stream_turn(two, httpx2.URL(URL)) as other:
        async for event in turn:
            assert_type(event, TurnEvents)
        async for event in other:
            assert_type(event, TurnEvents)
    async with reconnect_turn(one, httpx.URL(URL), SseId(7, 1)) as turn:
        assert_type(await anext(turn), TurnEvents)
    async with stream_events(two, URL, headers=lambda: {"X-Token": "fresh"}) as events:
        assert_type(await anext(events), ServerSentEvent | Comment)


def sync_clients_of_both_libraries(one: httpx.Client, two: httpx2.Client) -> None:
    with stream_turn_sync(one, URL) as turn, stream_events_sync(two, URL) as events:
        assert_type(next(turn), TurnEvents)
        assert_type(next(events), ServerSentEvent | Comment)
    with reconnect_turn_sync(two, URL, "7:1") as turn:
        assert_type(next(turn), TurnEvents)


def events_of_other_kinds(client: httpx.AsyncClient, sync_client: httpx.Client) -> None:
    types = DEFAULT_EVENT_TYPES.with_types(ToolCall)
    assert_type(stream_turn(client, URL, event_types=types), TurnStream[TurnEvents | ToolCall])
    assert_type(
        reconnect_turn(client, URL, "7:1", event_types=types), TurnStream[TurnEvents | ToolCall]
    )
    answer = stream_turn_sync(sync_client, URL, dialect=OPENAI_CHAT)
    assert_type(answer, SyncTurnStream[Text | Reasoning | Done | ServerError | Unknown])
    assert_type(
        ratatoskr_transports.anyio.stream_turn(URL, dialect=OPENAI_CHAT),
        TurnStream[Text | Reasoning | Done | ServerError | Unknown],
    )
    assert_type(ratatoskr_transports.trio.stream_turn(URL), TurnStream[TurnEvents])


def responses(one: httpx.Response, two: httpx2.Response) -> None:
    assert_type(wrap(one), TurnStream[TurnEvents])
    with wrap_sync(two) as turn, wrap_events_sync(one) as events:
        assert_type(next(turn), TurnEvents)
        assert_type(next(events), ServerSentEvent | Comment)


def exchanges(chunk: bytes) -> None:
    for item in SseExchange("POST", URL).receive_data(chunk):
        match item:
            case Text() | Done() | ServerError() | Unknown() | RatatoskrError():
                pass
            case _:
                assert_never(item)
    events = SseExchange("GET", URL, decoder=EventStreamDecoder())
    for event in events.receive_data(chunk):
        match event:
            case ServerSentEvent() | RatatoskrError():
                pass
            case _:
                assert_never(event)


def names_without_parameters(turn: TurnStream, events: EventStream) -> Iterator[object]:
    yield from (turn.last_sse_id, events.last_event_id)


def refused(client: httpx.AsyncClient, sync_client: httpx.Client) -> None:
    stream_turn(3, URL)  # type: ignore[arg-type]
    stream_turn(sync_client, URL)  # type: ignore[arg-type]
    stream_turn_sync(client, URL)  # type: ignore[arg-type]
    stream_events(None, URL)  # type: ignore[arg-type]
    reconnect_turn_sync(URL, URL, "7:1")  # type: ignore[arg-type]
    stream_turn(client, 3)  # type: ignore[arg-type]
    stream_turn(client, URL, dialect="openai-chat")  # type: ignore[arg-type]
    stream_turn(client, URL, speed=1)  # type: ignore[call-arg]
    wrap("response")  # type: ignore[arg-type]
