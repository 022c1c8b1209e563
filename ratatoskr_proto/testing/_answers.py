"""Strategies for the answers of model servers, whole and cut off, with what they say.

A *writer* for each bundled dialect makes the frames as real servers do, with the fields that are
there for others, fillers where a reason will be, and usage after the end.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

from .._encode import encode_comment
from ..dialects import ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES, TURN, Dialect

_FAILURE = "The model is overloaded."


class Answer(NamedTuple):
    """A whole answer as a server sends it, and what it says.

    ``stream`` (bytes) is the body. ``text`` and ``reasoning`` (str) are what a reader should have
    in the end. ``error`` (str or None) is the message of the error that the stream ends with; if
    there is none, the answer is complete, and ``stop_reason`` (str or None) says why it ended.
    """

    stream: bytes
    text: str
    reasoning: str
    stop_reason: str | None
    error: str | None


class CutAnswer(NamedTuple):
    """The first bytes of an answer.

    ``stream`` (bytes) is the part of the ``answer`` (``Answer``) that came, which may be all of it.
    ``complete`` (bool) is whether a frame in which the server says that the answer is complete came
    as a whole.
    """

    stream: bytes
    answer: Answer
    complete: bool


class _Piece(NamedTuple):
    text: str
    is_reasoning: bool


class _Ending(NamedTuple):
    """How an answer ends: ``way`` is a word of the dialect's own."""

    way: str
    stop_reason: str | None
    filler: Any  # in the place of a stop reason while there is none


class _Frame(NamedTuple):
    """What a frame holds, and whether it says that the answer is complete."""

    data: Any  # a str is sent unchanged
    event: str = ""
    id: str = ""
    completes: bool = False


class _Style(NamedTuple):
    """How a server writes."""

    line_end: str
    is_ascii: bool
    indent: int | None
    space: str
    unfinished: bool  # without the last blank line


_Writer = Callable[[Sequence[_Piece], _Ending], Iterator[_Frame]]


def _write_turn(pieces: Sequence[_Piece], ending: _Ending) -> Iterator[_Frame]:
    said = [{"type": "text", "text": piece.text} for piece in pieces]
    for seq, body in enumerate(said, 1):
        yield _Frame(body, id=f"42:{seq}")
        if ending.filler is not None:
            yield _Frame("", id=f"42:{seq}")
    last = f"42:{len(said) + 1}"
    if ending.way == "error":
        yield _Frame({"type": "error", "message": _FAILURE}, id=last)
    else:
        yield _Frame({"type": "done", "stop_reason": ending.stop_reason}, id=last, completes=True)


def _write_openai_chat(pieces: Sequence[_Piece], ending: _Ending) -> Iterator[_Frame]:
    def chunk(choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        kind = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1767225600}
        return {**kind, "model": "m", "choices": choices, **more}

    def choice(delta: dict[str, Any], reason: Any, index: int = 0) -> dict[str, Any]:
        return {"index": index, "delta": delta, "finish_reason": reason}

    yield _Frame(chunk([choice({"role": "assistant", "content": ""}, ending.filler)], usage=None))
    for place, piece in enumerate(pieces):
        key = ("reasoning_content", "reasoning")[place % 2] if piece.is_reasoning else "content"
        yield _Frame(chunk([choice({key: piece.text}, ending.filler)]))
    if ending.way == "error":
        yield _Frame({"error": {"message": _FAILURE, "code": 503}}, event="error")
        return
    if ending.way == "two choices":
        yield _Frame(chunk([choice({"content": "another"}, "length", index=1)]))
    if ending.way != "mark alone":
        yield _Frame(chunk([choice({}, ending.stop_reason)]), completes=True)
        yield _Frame(chunk([], usage={"prompt_tokens": 7, "completion_tokens": 2}))
    if ending.way != "no mark":
        yield _Frame("[DONE]", completes=True)


def _write_openai_responses(pieces: Sequence[_Piece], ending: _Ending) -> Iterator[_Frame]:
    def frame(kind: str, completes: bool = False, **more: Any) -> _Frame:
        return _Frame({"type": kind, "sequence_number": 7, **more}, kind, completes=completes)

    yield frame("response.created", response={"id": "resp_1", "status": "in_progress"})
    for place, piece in enumerate(pieces):
        kind = "output_text"
        if piece.is_reasoning:
            kind = ("reasoning_text", "reasoning_summary_text")[place % 2]
        yield frame(f"response.{kind}.delta", item_id="msg_1", delta=piece.text)
    yield frame("response.output_text.done", text="".join(piece.text for piece in pieces))
    if ending.way == "error":
        yield frame("error", code="server_error", message=_FAILURE)
    elif ending.way == "failed":
        failed = {"status": "failed", "error": {"code": "server_error", "message": _FAILURE}}
        yield frame("response.failed", response=failed)
    elif ending.stop_reason == "completed":
        yield frame("response.completed", True, response={"status": "completed"})
    else:
        details = None if ending.stop_reason == "incomplete" else {"reason": ending.stop_reason}
        response = {"status": "incomplete", "incomplete_details": details}
        yield frame("response.incomplete", True, response=response)


def _write_anthropic(pieces: Sequence[_Piece], ending: _Ending) -> Iterator[_Frame]:
    def frame(kind: str, completes: bool = False, **more: Any) -> _Frame:
        return _Frame({"type": kind, **more}, kind, completes=completes)

    usage = {"input_tokens": 7}
    yield frame("message_start", message={"id": "msg_1", "stop_reason": None, "usage": usage})
    yield frame("ping")
    for index, piece in enumerate(pieces):
        kind = "thinking" if piece.is_reasoning else "text"
        yield frame("content_block_start", index=index, content_block={"type": kind, kind: ""})
        delta = {"type": f"{kind}_delta", kind: piece.text}
        yield frame("content_block_delta", index=index, delta=delta)
        yield frame("content_block_stop", index=index)
    if ending.way == "error":
        yield frame("error", error={"type": "overloaded_error", "message": _FAILURE})
        return
    reason = {"stop_reason": ending.stop_reason, "stop_sequence": None}
    yield frame("message_delta", True, delta=reason, usage={"output_tokens": 2})
    if ending.way != "no mark":
        yield frame("message_stop", True)


def _write_gemini(pieces: Sequence[_Piece], ending: _Ending) -> Iterator[_Frame]:
    if ending.way == "blocked":
        blocked = {"blockReason": ending.stop_reason}
        yield _Frame({"promptFeedback": blocked}, completes=True)
    for place, piece in enumerate(pieces, 1):
        part = {"text": piece.text, **({"thought": True} if piece.is_reasoning else {})}
        candidate: dict[str, Any] = {"content": {"parts": [part], "role": "model"}, "index": 0}
        said = ending.way == "in each" or (ending.way == "in the last" and place == len(pieces))
        if said:
            candidate["finishReason"] = ending.stop_reason
        elif ending.filler is not None:
            candidate["finishReason"] = "FINISH_REASON_UNSPECIFIED"
        yield _Frame({"candidates": [candidate], "modelVersion": "m"}, completes=said)
    if ending.way == "error":
        yield _Frame({"error": {"code": 503, "message": _FAILURE, "status": "UNAVAILABLE"}})
    elif ending.way == "at the end" or not (pieces or ending.way == "blocked"):
        last = {"content": {"parts": [], "role": "model"}, "finishReason": ending.stop_reason}
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 2}
        yield _Frame({"candidates": [last], "usageMetadata": usage}, completes=True)


class _Server(NamedTuple):
    """Writes the answers of a dialect, which end in these ways, for these reasons."""

    write: _Writer
    ways: tuple[str, ...]
    stop_reasons: tuple[str | None, ...]
    reasons: bool = True  # whether there is reasoning in its answers


_SERVERS: dict[Dialect[Any], _Server] = {
    TURN: _Server(_write_turn, ("done", "error"), (None, "stop"), reasons=False),
    OPENAI_CHAT: _Server(
        _write_openai_chat,
        ("mark", "no mark", "mark alone", "two choices", "error"),
        ("stop", "length", "tool_calls"),
    ),
    OPENAI_RESPONSES: _Server(
        _write_openai_responses,
        ("response", "failed", "error"),
        ("completed", "max_output_tokens", "incomplete"),
    ),
    ANTHROPIC: _Server(
        _write_anthropic, ("mark", "no mark", "error"), ("end_turn", "max_tokens", "tool_use")
    ),
    GEMINI: _Server(
        _write_gemini,
        ("in the last", "at the end", "in each", "blocked", "error"),
        ("STOP", "MAX_TOKENS", "SAFETY"),
    ),
}


class _Sent(NamedTuple):
    """An answer, and how many of its bytes it takes to hold a frame that says it is complete."""

    answer: Answer
    complete_at: float


def _send(
    server: _Server,
    pieces: list[_Piece],
    ending: _Ending,
    style: _Style,
    quiet: list[str],
) -> _Sent:
    if ending.way == "blocked":
        pieces = []
    if ending.way == "mark alone":
        ending = ending._replace(stop_reason=None)
    frames = list(server.write(pieces, ending))
    blocks: list[bytes] = []
    complete_at = float("inf")
    sent = 0
    for frame, before in zip(frames, itertools.chain(quiet, itertools.repeat("")), strict=False):
        block = f"{before}{_fields(frame, style)}\n\n".replace("\n", style.line_end).encode()
        if frame.completes:
            complete_at = min(complete_at, sent + len(block) - 2 * len(style.line_end))
        blocks.append(block)
        sent += len(block)
    stream = b"".join(blocks)
    if style.unfinished:
        stream = stream.removesuffix(2 * style.line_end.encode())
    is_error = complete_at == float("inf")
    answer = Answer(
        stream,
        "".join(piece.text for piece in pieces if not piece.is_reasoning),
        "".join(piece.text for piece in pieces if piece.is_reasoning),
        None if is_error else ending.stop_reason,
        _FAILURE if is_error else None,
    )
    return _Sent(answer, complete_at)


def _fields(frame: _Frame, style: _Style) -> str:
    data = frame.data
    if not isinstance(data, str):
        data = json.dumps(data, ensure_ascii=style.is_ascii, indent=style.indent)
    lines = [f"id:{style.space}{frame.id}"] if frame.id else []
    lines += [f"event:{style.space}{frame.event}"] if frame.event else []
    return "\n".join([*lines, *(f"data:{style.space}{line}" for line in data.split("\n"))])


_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_fillers = st.sampled_from([None, "", "null", 0])
# Between two frames: nothing, comments, a blank line, and data that is empty.
_quiet = st.lists(
    st.sampled_from(["", encode_comment("ping").decode() + "\n", "\n", "data:\n\n"]), max_size=4
)
_STYLES = itertools.product(["\n", "\r\n"], [True, False], [None, 1], [" ", ""], [False, True])
_styles = st.sampled_from([_Style(*each) for each in _STYLES])


def _sent(dialect: Dialect[Any]) -> st.SearchStrategy[_Sent]:
    if not isinstance(dialect, Dialect):
        raise TypeError(f"dialect must be a Dialect, not {type(dialect).__name__}")
    server = _SERVERS.get(dialect)
    if server is None:
        names = ", ".join(each.name for each in _SERVERS)
        raise ValueError(f"there are answers for {names}, but not for {dialect.name}")
    kinds = st.booleans() if server.reasons else st.just(False)
    styles = (
        _styles if dialect.flush_unfinished else _styles.filter(lambda each: not each.unfinished)
    )
    return st.builds(
        _send,
        st.just(server),
        st.lists(st.builds(_Piece, _text, kinds), max_size=5),
        st.builds(
            _Ending,
            st.sampled_from(server.ways),
            st.sampled_from(server.stop_reasons),
            _fillers,
        ),
        styles,
        _quiet,
    )


def answers(dialect: Dialect[Any]) -> st.SearchStrategy[Answer]:
    """A strategy for whole answers (``Answer``) of the servers that speak a dialect.

    ``dialect`` (``Dialect``) is one of the bundled ones. The answers are complete or end with an
    error of the server. Reasoning, keep-alives, both line ends, ``event:`` lines, JSON over many
    data lines, usage after the end, missing end marks and fillers in the place of a stop reason
    occur; and where the dialect flushes, a last frame without its blank line. Raises ValueError for
    a dialect that is not bundled, and TypeError for anything else.
    """
    return _sent(dialect).map(lambda sent: sent.answer)


def cut_answers(dialect: Dialect[Any]) -> st.SearchStrategy[CutAnswer]:
    """A strategy for answers (``CutAnswer``) that are cut off, anywhere or not at all.

    ``dialect`` and the errors are those of ``answers``. A decoder may call an answer complete only
    where ``complete`` is true, whatever else it makes of the bytes.
    """

    def cut(sent: _Sent) -> st.SearchStrategy[CutAnswer]:
        stream = sent.answer.stream
        return st.integers(0, len(stream)).map(
            lambda place: CutAnswer(stream[:place], sent.answer, place >= sent.complete_at)
        )

    return _sent(dialect).flatmap(cut)
