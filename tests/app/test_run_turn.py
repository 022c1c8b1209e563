"""The body of ``ratatoskr turn``: what is shown of a turn, and the exit code it gives."""

import asyncio
import json

import pytest
from support.demo import demo_turn
from support.endings import ENDS, IDS

from ratatoskr.cli import _run_turn
from ratatoskr_proto import Done, RatatoskrError, SseId, Text, Unknown, encode_event
from ratatoskr_transports import TurnStream

HI = encode_event('{"type": "text", "text": "Hi"}', id="42:1")
DONE = encode_event('{"type": "done"}', id="42:2")
DONE_EVENT = Done(sse_id=SseId(42, 9), body={})


class Source:
    """A body that comes in these pieces."""

    def __init__(self, *pieces):
        self._pieces = iter(pieces)

    async def receive(self):
        return next(self._pieces, b"")

    async def aclose(self):
        pass


class ScriptedTurn:
    """A turn that gives these events, and raises those that are errors."""

    def __init__(self, *script):
        self._script = iter(script)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        return None

    def __aiter__(self):
        return self

    async def __anext__(self):
        for item in self._script:
            if isinstance(item, Exception):
                raise item
            return item
        raise StopAsyncIteration


@pytest.fixture
def show(capsys):
    """Shows a turn; gives the exit code, the text on stdout and the lines on stderr."""

    def show(turn, **options):
        code = asyncio.run(_run_turn(turn, **options))
        out, err = capsys.readouterr()
        return code, out, err.split("\n")[:-1]

    return show


def text(text, seq=1):
    return Text(text, sse_id=SseId(42, seq), body={"type": "text", "text": text})


def test_the_text_goes_to_stdout_and_the_end_to_stderr(show):
    assert show(TurnStream(Source(HI, DONE))) == (0, "Hi", ["[done]"])


def test_data_that_is_no_json_is_said_after_the_text_and_gives_22(show):
    turn = TurnStream(Source(HI, b"data: not-json\n\n"))
    assert show(turn) == (22, "Hi", ["[malformed_sse_data] raw='not-json'"])


def test_the_raw_data_is_cut_at_200_characters(show):
    turn = TurnStream(Source(HI, b"data: " + b"x" * 201 + b"\n\n"))
    assert show(turn) == (22, "Hi", [f"[malformed_sse_data] raw='{'x' * 200}'"])


@pytest.mark.no_cover  # no line that other tests do not reach
@pytest.mark.parametrize("size", [7, 10**6])
def test_a_long_turn_with_the_frame_that_once_crashed_comes_to_its_end(show, size):
    body = demo_turn()
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    code, out, said = show(TurnStream(Source(*pieces)), as_json=True)
    events = [json.loads(line) for line in out.splitlines()]
    assert (code, said, len(events)) == (0, ["[done]"], 1099)
    assert [event["sse_id"] for event in events[1076:1078]] == ["93:1077", "93:1079"]


@pytest.mark.parametrize(("end", "code", "line"), ENDS, ids=IDS)
def test_every_end_is_said_by_its_label_and_gives_its_exit_code(show, end, code, line):
    assert show(ScriptedTurn(text("Hi"), end)) == (code, "Hi", [line])


@pytest.mark.parametrize(("end", "code", "line"), ENDS, ids=IDS)
def test_with_json_the_end_is_the_same(show, end, code, line):
    shown_code, out, said = show(ScriptedTurn(text("Hi"), end), as_json=True)
    assert (shown_code, said) == (code, [line])
    assert len(out.splitlines()) == (1 if isinstance(end, RatatoskrError) else 2)


def test_an_event_of_an_unknown_type_is_one_label_line(show):
    tool = Unknown("tool", sse_id=SseId(42, 1), body={"type": "tool", "name": "fetch"})
    code, out, said = show(ScriptedTurn(tool, text("Hi", 2), Done(sse_id=SseId(42, 3), body={})))
    assert (code, out, said[1:]) == (0, "Hi", ["[done]"])
    assert said[0] == (
        '[tool] {"type": "tool", "sse_id": "42:1", "body": {"type": "tool", "name": "fetch"}}'
    )


def test_the_label_of_an_unknown_event_is_bounded(show):
    tool = Unknown("t" * 10**6, sse_id=SseId(42, 1), body={"type": "t" * 10**6})
    _, _, said = show(ScriptedTurn(tool))
    assert len(said[0]) < 600


def test_the_label_of_an_unknown_event_is_one_harmless_line(show):
    name = "\x1b[31m\n\r\u202e\ud800[bold]"
    _, _, said = show(ScriptedTurn(Unknown(name, sse_id=SseId(42, 1), body={"type": name})))
    assert len(said) == 2
    assert all(line.isprintable() for line in said)
    assert said[0].startswith(r"[\x1b[31m\n\r\u202e\ud800[bold]] {")


def test_a_character_that_comes_in_two_halves_is_shown_whole(show):
    assert show(ScriptedTurn(text("a\ud83d"), text("\udc3f\ud83d", 2), DONE_EVENT)) == (
        (0, "a\U0001f43f\\ud83d", ["[done]"])
    )


def test_a_foreign_turn_without_a_terminal_event_is_a_drop_after_its_last_event(show):
    label = "[connection_dropped] last_sse_id=42:7 reason='end of stream'"
    assert show(ScriptedTurn(text("Hi", 7))) == (21, "Hi", [label])


def test_a_foreign_turn_without_any_event_is_a_drop_without_an_id(show):
    label = "[connection_dropped] last_sse_id=None reason='end of stream'"
    assert show(ScriptedTurn()) == (21, "", [label])


def test_a_failure_that_is_none_of_a_stream_is_let_through(show):
    with pytest.raises(ZeroDivisionError):
        show(ScriptedTurn(text("Hi"), ZeroDivisionError()))


def test_text_is_shown_before_the_next_event_is_waited_for(capsys):
    class Watched(ScriptedTurn):
        async def __anext__(self):
            seen.append(capsys.readouterr().out)
            return await super().__anext__()

    seen = []
    asyncio.run(_run_turn(Watched(text("H"), text("i"), text("!"))))
    assert seen == ["", "H", "i", "!"]
