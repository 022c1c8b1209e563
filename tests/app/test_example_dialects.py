"""The dialects of examples/dialects, on bytes of our own: whole, byte by byte, and cut anywhere."""

import json
from pathlib import Path

import pytest
from cohere_dialect import Cohere
from langgraph_dialect import LangGraph
from mcp_dialect import Mcp
from support.feeding import decode_turn

from ratatoskr_proto import (
    Done,
    MalformedEnvelope,
    ServerError,
    SseConnectionDropped,
    Text,
    TurnDecoder,
    Unknown,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "dialects"


def stream(*frames, line_end="\n"):
    text = "".join(f"event: {event}\ndata: {json.dumps(body)}\n\n" for event, body in frames)
    return (": ping\n\n" + text).replace("\n", line_end).encode()


def told(items):
    """The items without their ids and bodies."""
    names = {Text: "text", Done: "stop_reason", ServerError: "message", Unknown: "type"}
    return [(type(item), getattr(item, names[type(item)])) for item in items]


def cohere(kind, **delta):
    return kind, {"type": kind, "delta": delta}


COHERE = stream(
    cohere("message-start", message={"role": "assistant"}),
    cohere("content-delta", message={"content": {"text": "Good "}}),
    cohere("content-delta", message={"content": {"text": "day"}}),
    cohere("message-end", finish_reason="COMPLETE"),
)
NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
MCP = stream(
    ("message", NOTE),
    ("message", {"jsonrpc": "2.0", "id": 6, "result": {}}),
    ("message", {"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage"}),
    ("message", {"jsonrpc": "2.0", "id": 7, "result": {"content": []}}),
    line_end="\r\n",
)
MCP_ERROR = stream(("message", {"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "no"}}))
LANGGRAPH = stream(
    ("metadata", {"run_id": "1"}),
    ("messages|research:1", [{"content": "Good ", "type": "AIMessageChunk"}, {"step": 1}]),
    ("messages", [{"content": "day", "type": "AIMessageChunk"}, {"step": 1}]),
    ("values", {"messages": []}),
    ("end", None),
)
LANGGRAPH_ERROR = stream(("error", {"error": "ValueError", "message": "no such thread"}))

CASES = [
    (
        Cohere(),
        COHERE,
        [(Unknown, "message-start"), (Text, "Good "), (Text, "day"), (Done, "COMPLETE")],
    ),
    (
        Mcp(7),
        MCP,
        [
            (Unknown, "notifications/message"),
            (Unknown, "response"),
            (Unknown, "sampling/createMessage"),
            (Done, None),
        ],
    ),
    (Mcp(7), MCP_ERROR, [(ServerError, "no")]),
    (
        LangGraph(),
        LANGGRAPH,
        [(Unknown, "metadata"), (Text, "Good "), (Text, "day"), (Unknown, "values"), (Done, None)],
    ),
    (LangGraph(), LANGGRAPH_ERROR, [(ServerError, "no such thread")]),
]
every_case = pytest.mark.parametrize(("dialect", "data", "expected"), CASES)


@every_case
def test_answer_is_read_for_every_chunking(dialect, data, expected):
    assert told(decode_turn(data, end=True, dialect=dialect).items) == expected


@every_case
def test_answer_that_is_cut_is_dropped(dialect, data, expected):
    """The last frame is out with the first byte of its blank line's end."""
    last = len(data) - (2 if b"\r" in data else 1)
    for place in range(last):
        decoder = TurnDecoder(dialect=dialect)
        items = decoder.receive_data(data[:place])
        (end,) = decoder.receive_eof()
        assert isinstance(end, SseConnectionDropped)
        assert told(items) == expected[: len(items)]


@pytest.mark.parametrize("body", ["1", "null", '"text"', "[]", "{}", '{"type": "content-delta"}'])
@pytest.mark.parametrize("dialect", [Cohere(), Mcp(7), LangGraph()], ids=lambda each: each.name)
def test_any_json_is_unknown_or_malformed(dialect, body):
    (item,) = decode_turn(f"data: {body}\n\n".encode(), dialect=dialect).items
    assert isinstance(item, (Unknown, MalformedEnvelope))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_a_dialect_fits_on_a_screen(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 30
