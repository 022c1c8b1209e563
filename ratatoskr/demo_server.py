"""A stand-in for a chat server, for trying and testing clients of event streams on loopback.

    POST /turns {"message": "…"}           starts a turn and streams it
    GET  /turns  Last-Event-ID: 93:1077    resumes it after that frame
    GET  /turns                            starts one without a message

It also answers where the servers of OpenAI, Anthropic and Google do, so that their SDKs read it as
their own::

    POST /v1/chat/completions
    POST /v1/responses
    POST /v1/messages
    POST /v1beta/models/MODEL:streamGenerateContent

A query adds faults to one request, such as ``/turns?bad-json&at=5`` or ``/turns?status=503``, and
so does a header, such as ``X-Fault: ends-early,at=5``. docs/testing-clients.md lists the faults.
``PATHS`` has the path of each dialect.
"""

from __future__ import annotations

import contextlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.abc

from ratatoskr_proto import SseId

from ._demo.answers import DEFAULT_EVENTS, Answer, TurnAnswer
from ._demo.connection import BadRequest, BodyEnd, Connection, ConnectionOver, Request
from ._demo.encoders import ENCODERS
from ._demo.faults import SLOW_SECONDS, Faults
from ._demo.questions import DEFAULT_MODEL, PATHS, Question, dialect_at, read_question
from ._demo.recording import Recording
from ._demo.script import Script, changed_by_query

__all__ = ["DEFAULT_EVENTS", "FIRST_TURN", "PATHS", "DemoServer", "Faults", "Recording", "Script"]

FIRST_TURN = 93

_KEPT_TURNS = 1000
_KEPT_REQUESTS = 1000
_NOTHING_HERE = f"there is nothing here; answers are at {', '.join(PATHS.values())}"
_RETRY_STATUSES = (429, 503)
_STREAM = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]

_logger = logging.getLogger(__name__)


class _Task(NamedTuple):
    """What to send to one client, and after which frame to start."""

    dialect: str
    script: Script
    answer: Answer | Recording
    after: int = 0


class DemoServer:
    """Answers many clients at once. It keeps the last thousand turns to be resumed.

    ``script`` says what it does with every request.
    """

    def __init__(self, script: Script | None = None) -> None:
        self._script = Script() if script is None else script
        self._turns: OrderedDict[int, TurnAnswer] = OrderedDict()
        self._next_number = FIRST_TURN
        self._requests_with: OrderedDict[str, int] = OrderedDict()  # by the faults they ask for

    @contextlib.asynccontextmanager
    async def listening(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block is open; gives the base URL, such as ``http://127.0.0.1:8000``.

        Port 0 takes a free one. Raises OSError if it cannot listen there.
        """
        listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
        bound = listener.extra(anyio.abc.SocketAttribute.local_port)
        failure = None
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, self._serve)
            try:
                yield f"http://{f'[{host}]' if ':' in host else host}:{bound}"
            except Exception as error:  # the task group would wrap it in an exception group
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _serve(self, stream: anyio.abc.SocketStream) -> None:
        """Serve one connection. Whatever happens to it, the others continue."""
        try:
            async with stream:
                connection = Connection(stream)
                while await self._respond(connection):
                    pass
        except (ConnectionOver, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        except Exception:
            _logger.exception("one connection failed")

    async def _respond(self, connection: Connection) -> bool:
        """Respond to one request; return whether the connection can serve another one."""
        dialect = "turn"
        try:
            request = await connection.receive_request()
            if request is None:
                return False
            path, query = _split_target(request.target)
            dialect = dialect_at(path) or dialect
            task = self._understand(request, path, query)
        except BadRequest as error:
            body = ENCODERS[dialect].error_body(error.status, str(error))
            await connection.send_json(error.status, body, error.headers)
            return connection.next_request()
        faults = task.script.faults
        if status := faults.number("status"):
            body = ENCODERS[dialect].error_body(status, f"status {status} was asked for")
            wait = [("Retry-After", "1")] if status in _RETRY_STATUSES else []
            await connection.send_json(status, body, wait)
        elif "html" in faults:
            page = b"<!doctype html>\n<title>Sign in</title>\n"
            await connection.send(200, [("Content-Type", "text/html")], page)
        else:
            await connection.send_head(200, _STREAM)
            if isinstance(task.answer, Recording):
                await _replay(connection, task.answer)
            else:
                await _stream(connection, task.answer, task.script, task.after)
        return connection.next_request()

    def _understand(self, request: Request, path: str, query: str) -> _Task:
        """Return what a request asks for. Raises BadRequest."""
        dialect = dialect_at(path)
        recording = self._script.recording
        if dialect is None and recording is None:
            raise BadRequest(404, _NOTHING_HERE)
        allowed = ("GET", "POST") if recording or dialect == "turn" else ("POST",)
        if request.method not in allowed:
            message = f"the method here is {' or '.join(allowed)}"
            raise BadRequest(405, message, [("Allow", ", ".join(allowed))])
        dialect = dialect or "turn"
        script = self._script_for(request, query, dialect, strict=path == PATHS["turn"])
        if recording is not None:
            return _Task(dialect, script, recording)
        if dialect == "turn":
            return self._turn_task(request, script)
        question = read_question(dialect, request, path)
        if script.model is not None and question.model != script.model:
            status = 404 if question.model else 400
            raise BadRequest(status, f"the model must be {script.model!r}")
        model = question.model or DEFAULT_MODEL
        answer = Answer(dialect, self._number(), model, script.prompt(question.message))
        return _Task(dialect, script, answer)

    def _script_for(self, request: Request, query: str, dialect: str, *, strict: bool) -> Script:
        """The script with the changes of a request. Raises BadRequest."""
        header = request.headers.get("x-fault")
        try:
            parameters = parse_qsl(query, keep_blank_values=True)
            script, by_query = changed_by_query(self._script, parameters, strict=strict)
            by_header = Faults() if header is None else Faults(header)
            faults = (
                self._still(self._script.faults, "")
                | self._still(by_query, f"?{query}")
                | self._still(by_header, header or "")
            )
            faults.check_dialect(dialect)
            if script.recording is not None:
                faults.check_replay()
        except ValueError as error:
            raise BadRequest(400, str(error)) from None
        return replace(script, faults=faults)

    def _still(self, faults: Faults, asked_by: str) -> Faults:
        """The faults, or none if they have happened to all the requests that they are for.

        ``asked_by`` is the text that asks for them.
        """
        if not faults.times:
            return faults
        count = self._requests_with.pop(asked_by, 0) + 1
        self._requests_with[asked_by] = count
        if len(self._requests_with) > _KEPT_REQUESTS:
            self._requests_with.popitem(last=False)
        return faults if count <= faults.times else Faults()

    def _turn_task(self, request: Request, script: Script) -> _Task:
        # A browser's EventSource can only GET, and has no id at first.
        id = request.headers.get("last-event-id") if request.method == "GET" else None
        if id:
            resume_from = self._resume_point(id)
            return _Task("turn", script, self._turns[resume_from.turn_id], resume_from.seq)
        is_get = request.method == "GET"
        question = Question("") if is_get else read_question("turn", request, PATHS["turn"])
        turn = TurnAnswer(self._number(), script.prompt(question.message))
        self._turns[turn.number] = turn
        if len(self._turns) > _KEPT_TURNS:
            self._turns.popitem(last=False)
        return _Task("turn", script, turn)

    def _number(self) -> int:
        number = self._next_number
        self._next_number += 1
        return number

    def _resume_point(self, id: str) -> SseId:
        try:
            resume_from = SseId.parse(id)
        except ValueError:
            message = "resume a turn with a Last-Event-ID such as 93:1077"
            raise BadRequest(400, message) from None
        turn = self._turns.get(resume_from.turn_id)
        if turn is None:
            raise BadRequest(404, "there is no such turn, or not any more")
        if resume_from.seq > turn.frames:
            message = f"the turn has frames up to {turn.number}:{turn.frames} only"
            raise BadRequest(404, message)
        return resume_from


def _split_target(target: str) -> tuple[str, str]:
    """The path and the query of a request's target. Raises BadRequest."""
    try:
        parts = urlsplit(target)
    except ValueError:
        raise BadRequest(404, _NOTHING_HERE) from None
    return parts.path, parts.query


async def _stream(connection: Connection, answer: Answer, script: Script, after: int) -> None:
    """Send the frames of an answer after the first ``after``, with the faults of the script."""
    faults, last = script.faults, answer.frames
    at = faults.at or max(1, last // 2)
    if after and after + 1 == at:
        at = 0  # the fault has happened already, and now the turn continues
    pace = max(script.pace, SLOW_SECONDS if "slow" in faults else 0.0)
    encoder = answer.new_encoder()
    start = anyio.current_time()
    for sent, (seq, frame) in enumerate(answer.numbered_frames(after)):
        # Without a pace, too, so that other clients have their turn.
        await anyio.sleep_until(start + sent * pace)
        end = faults.end_before(seq, at, sent)
        if end is not None:
            unfinished = frame.encode() if "cut-in-frame" in faults and seq == at else b""
            await connection.end_body(end, unfinished)
            return
        await connection.send_body(faults.write(frame, seq, at, last, encoder))
        if "error" in faults and seq == at:
            break
    await connection.end_body(BodyEnd.WHOLE)


async def _replay(connection: Connection, recording: Recording) -> None:
    """Send a recording at its own pace."""
    start = anyio.current_time()
    for seconds, data in recording.chunks:
        size = recording.chunk_size or len(data) or 1
        for place in range(0, len(data), size):
            await anyio.sleep_until(start + seconds)
            await connection.send_body(data[place : place + size])
    await connection.end_body(recording.end)
