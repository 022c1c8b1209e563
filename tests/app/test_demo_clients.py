"""What our own transports make of the demo server's faults, in the dialects of model servers."""

import anyio
import pytest
from support.demo import answering

from ratatoskr._requests import Said, request_body
from ratatoskr.demo_server import PATHS, Script
from ratatoskr_proto import Done, RatatoskrError, Reasoning, ServerError, Text
from ratatoskr_proto.dialects import DIALECTS
from ratatoskr_transports import error_label
from ratatoskr_transports.anyio import stream_turn

TEXT = "All is well, says the squirrel. 🐿️"
MODELS = [dialect for dialect in DIALECTS if dialect != "turn"]
REASONS = {
    "openai-chat": "stop",
    "openai-responses": "completed",
    "anthropic": "end_turn",
    "gemini": "STOP",
}
# The fault in the middle of the answer, and what the label says then; None: the answer is whole.
ENDINGS = [
    ("", None),
    ("keepalive", None),
    ("empty", None),
    ("no-end-mark", None),
    ("ends-early", "reason='end of stream'"),
    ("cut-at-frame", "reason='cut body'"),
    ("cut-in-frame", "reason='cut body; unfinished event lost'"),
    ("reset", "reason='reset"),
    ("stall", "reason='read timeout'"),
    ("error", "[error] message='out of mead'"),
    ("bad-json", "[malformed_sse_data] raw='not-json'"),
    ("status=429", "[connect_failed] status=429 reason='status'"),
    ("html", "[connect_failed] status=200 reason='content-type'"),
]


@pytest.fixture(scope="module")
def url():
    with answering(Script(text=TEXT, reasoning="A squirrel?", events=30)) as base_url:
        yield base_url


async def read(url, dialect, fault):
    """The text that came, and how the answer ended."""
    text = reasoning = ""
    turn = stream_turn(
        url + PATHS[dialect],
        json=request_body(dialect, [Said("user", "Hi")]),
        headers={"X-Fault": fault} if fault else None,
        dialect=DIALECTS[dialect],
        read_timeout=0.5 if fault == "stall" else 30,
    )
    try:
        async with turn:
            async for event in turn:
                match event:
                    case Text(piece):
                        text += piece
                    case Reasoning(piece):
                        reasoning += piece
                    case Done(stop_reason):
                        assert (reasoning, stop_reason) == ("A squirrel?", REASONS[dialect])
                        return text, None
                    case ServerError(message):
                        return text, f"[error] message={message!r}"
    except RatatoskrError as error:
        return text, error_label(error)
    raise AssertionError("a turn ended without a terminal event")


def check(url, dialect, faults, **options):
    async def main():
        for fault, ending in faults:
            if fault == "no-end-mark" and dialect not in ("openai-chat", "anthropic"):
                continue
            text, label = await read(url, dialect, fault)
            if ending is None:
                assert (fault, text, label) == (fault, TEXT, None)
            else:
                assert (fault, ending in label) == (fault, True), label
                assert TEXT.startswith(text)
                assert text != TEXT

    anyio.run(main, **options)


@pytest.mark.parametrize("dialect", MODELS)
def test_each_fault_is_seen_by_our_own_client(url, dialect):
    check(url, dialect, ENDINGS)


@pytest.mark.parametrize("dialect", MODELS)
def test_it_is_the_same_on_trio(url, dialect):
    check(url, dialect, ENDINGS[:5], backend="trio")
