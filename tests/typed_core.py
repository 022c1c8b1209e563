"""What type checkers know of the core. Nothing runs here: mypy and pyright read it.

Each ``match`` ends in ``assert_never``, so a union that is wider than it should be is an error.
"""

from dataclasses import dataclass, field
from typing import Any, assert_never, assert_type

from ratatoskr_proto import (
    DEFAULT_EVENT_TYPES,
    Comment,
    Done,
    Event,
    EventStreamDecoder,
    EventTooLarge,
    EventTypes,
    RatatoskrError,
    Reasoning,
    ServerError,
    ServerSentEvent,
    SseConnectionDropped,
    SseId,
    Text,
    TurnDecoder,
    TurnItem,
    Unknown,
    WireItem,
)
from ratatoskr_proto.dialects import (
    ANTHROPIC,
    DIALECTS,
    GEMINI,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    TURN,
    Complete,
    Dialect,
)

# The wire layer


def without_comments(chunk: bytes) -> None:
    for item in EventStreamDecoder().receive_data(chunk):
        match item:
            case ServerSentEvent(event, data, id):
                assert_type((event, data, id), tuple[str, str, str])
            case EventTooLarge(limit):
                assert_type(limit, int)
            case _:
                assert_never(item)


def with_comments(chunk: bytes, asked: bool) -> None:
    for item in EventStreamDecoder(comments=True).receive_data(chunk):
        match item:
            case ServerSentEvent() | EventTooLarge():
                pass
            case Comment(text):
                assert_type(text, str)
            case _:
                assert_never(item)
    assert_type(EventStreamDecoder(100, "", asked).receive_eof("reset"), list[WireItem])
    assert_type(
        EventStreamDecoder(100, "", False, True).receive_eof(),
        list[ServerSentEvent | EventTooLarge],
    )


def takes_any(decoder: EventStreamDecoder, turn: TurnDecoder) -> TurnItem:
    """Bare names are valid."""
    assert_type(decoder.receive_data(b""), list[WireItem])
    assert_type(turn.receive_data(b""), list[Event | RatatoskrError])
    return turn.receive_data(b"")[0]


takes_any(EventStreamDecoder(), TurnDecoder())
takes_any(EventStreamDecoder(comments=True), TurnDecoder(dialect=GEMINI))

# The turn layer


def turn(chunk: bytes) -> None:
    for item in TurnDecoder(SseId(42, 1)).receive_data(chunk):
        match item:
            case Text(text):
                assert_type(text, str)
            case Done(stop_reason):
                assert_type(stop_reason, str | None)
            case ServerError(message):
                assert_type(message, str)
            case Unknown(type):
                assert_type(type, str)
            case SseConnectionDropped(last_sse_id, reason):
                assert_type(last_sse_id, SseId | None)
                assert_type(reason.word, str)
            case RatatoskrError():
                raise item
            case _:
                assert_never(item)


def chat(chunk: bytes) -> None:
    decoder = TurnDecoder(dialect=OPENAI_CHAT)
    for item in decoder.receive_data(chunk) + decoder.receive_eof("reset"):
        match item:
            case Text(text) | Reasoning(text):
                assert_type(text, str)
            case Done() | ServerError() | Unknown():
                pass
            case RatatoskrError():
                raise item
            case _:
                assert_never(item)


Said = Text | Reasoning | Done | ServerError | Unknown | RatatoskrError
assert_type(TurnDecoder(dialect=OPENAI_RESPONSES).receive_data(b""), list[Said])
assert_type(TurnDecoder(dialect=ANTHROPIC).receive_sse(None), list[Said])
assert_type(TurnDecoder(dialect=GEMINI).receive_eof(), list[Said])
assert_type(
    TurnDecoder(dialect=TURN).receive_data(b""),
    list[Text | Done | ServerError | Unknown | RatatoskrError],
)
TurnDecoder(dialect=DIALECTS["anthropic"]).receive_data(b"")


class Own(Dialect[Text | Done]):
    name = "own"

    def read(self, sse_id: SseId, event: str, body: Any) -> list[Text | Complete]:
        return [Text(body["text"], sse_id=sse_id, body=body), Complete("stop")]


class Silent(Dialect):
    """A dialect that does not say what it gives."""

    name = "silent"

    def read(self, sse_id: SseId, event: str, body: Any) -> None:
        return None


assert_type(TurnDecoder(dialect=Own()).receive_data(b""), list[Text | Done | RatatoskrError])
assert_type(TurnDecoder(dialect=Silent()).receive_data(b""), list[Event | RatatoskrError])

# Event types


@dataclass(frozen=True)
class ToolCall(Event):
    type = "tool_call"
    name: str


@dataclass(frozen=True)
class Usage(Event):
    type = "usage"
    tokens: int = 0


TYPES = DEFAULT_EVENT_TYPES.with_types(ToolCall, Usage)
assert_type(TYPES, EventTypes[Text | Done | ServerError | ToolCall | Usage])


def own_types(chunk: bytes) -> None:
    for item in TurnDecoder(event_types=TYPES).receive_data(chunk):
        match item:
            case Text() | Done() | ServerError() | Unknown():
                pass
            case ToolCall(name):
                assert_type(name, str)
            case Usage(tokens):
                assert_type(tokens, int)
            case RatatoskrError():
                raise item
            case _:
                assert_never(item)


@dataclass(frozen=True)
class Settings:
    """A table is hashable, so it can be a default."""

    event_types: EventTypes = DEFAULT_EVENT_TYPES
    others: EventTypes[Event] = TYPES
    names: list[str] = field(default_factory=list)
