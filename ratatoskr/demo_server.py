"""A stand-in for a chat server, for trying and testing clients of event streams on loopback.

    POST /turns {"message": "…"}           starts a turn and streams it
    GET  /turns  Last-Event-ID: 93:1077    resumes it behind that frame
    GET  /turns                            starts one without a message

A query adds faults to one request, such as ``/turns?bad-json&at=5`` or ``/turns?status=503``; and
``events=N`` and ``pace=SECONDS`` change the turn. docs/command-line.md lists the faults.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.abc
import h11

from ratatoskr_proto import SseId

from ._demo.faults import SLOW_SECONDS, End, Faults
from ._demo.mimir import Turn

DEFAULT_EVENTS = 1100
FIRST_TURN = 93

_KEPT_TURNS = 1000
_MAX_REQUEST = 1024 * 1024
_READ = 65536
_STREAM = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]


class Script(NamedTuple):
    """What the server does with every request, unless its query says otherwise.

    ``events`` (int) is the length of a turn, ``pace`` (float) the seconds between its frames.
    ``recording`` is, in place of turns, what every request gets: pairs of the seconds since its
    start and the bytes, which go out in pieces of ``chunk_size`` (None: as they are), and then
    how the body ends.
    """

    faults: Faults = Faults()
    events: int = DEFAULT_EVENTS
    pace: float = 0.0
    recording: tuple[tuple[float, bytes], ...] | None = None
    recording_end: End = End.CLEAN
    chunk_size: int | None = None


class _Hangup(Exception):
    """The connection is to be closed now."""


class DemoServer:
    """Serves turns, many clients at once. It keeps the last thousand of them to be resumed."""

    def __init__(self, script: Script | None = None) -> None:
        self._script = Script() if script is None else script
        self._turns: OrderedDict[int, Turn] = OrderedDict()
        self._next_turn = FIRST_TURN

    @contextlib.asynccontextmanager
    async def listening(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """Serve while the block is open; gives the URL of the turns. Port 0 takes a free one.

        Raises OSError if it cannot listen there.
        """
        listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
        bound = listener.extra(anyio.abc.SocketAttribute.local_port)
        failure = None
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, self._serve)
            try:
                yield f"http://{f'[{host}]' if ':' in host else host}:{bound}/turns"
            except Exception as error:  # which is not to come out in an exception group
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _serve(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            connection = _Connection(stream)
            try:
                while await self._answer(connection):
                    pass
            except (_Hangup, anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass

    async def _answer(self, connection: _Connection) -> bool:
        """Answer one request; return whether the connection can serve another one."""
        try:
            request = await connection.receive_request()
            if request is None:
                return False
            script, message, resume_from = self._understand(request)
        except _Refusal as refusal:
            await connection.send_json(refusal.status, {"error": str(refusal)})
            return connection.next_request()
        if "status" in script.faults:
            await connection.send_json(script.faults.number("status"), {"error": "as you wished"})
        elif "html" in script.faults:
            page = b"<!doctype html>\n<title>Sign in</title>\n"
            await connection.send(200, [("Content-Type", "text/html")], page)
        elif script.recording is not None:
            await connection.send_head(200, _STREAM)
            await self._replay(connection, script, script.recording)
        else:
            turn = self._turn(message, script, resume_from)
            await connection.send_head(200, _STREAM)
            await self._stream(connection, turn, script, resume_from.seq if resume_from else 0)
        return connection.next_request()

    def _understand(self, request: _Request) -> tuple[Script, str, SseId | None]:
        """What a request asks for. Raises _Refusal."""
        try:
            target = urlsplit(request.target)
        except ValueError:
            raise _Refusal(404, "the turns are at /turns") from None
        if target.path != "/turns" and self._script.recording is None:
            raise _Refusal(404, "the turns are at /turns")
        if request.method not in ("GET", "POST"):
            raise _Refusal(405, "use POST to start a turn and GET to resume one")
        try:
            script = _with_query(self._script, parse_qsl(target.query, keep_blank_values=True))
        except ValueError as error:
            raise _Refusal(400, str(error)) from None
        if script.recording is not None:
            return script, "", None
        if request.method == "POST":
            return script, _message(request.body), None
        id = request.headers.get("last-event-id", "")
        # A browser's EventSource can only GET, and has no id at first.
        return script, "", self._resume_point(id) if id else None

    def _resume_point(self, id: str) -> SseId:
        try:
            resume_from = SseId.parse(id)
        except ValueError:
            message = "resume a turn with a Last-Event-ID such as 93:1077"
            raise _Refusal(400, message) from None
        turn = self._turns.get(resume_from.turn_id)
        if turn is None:
            raise _Refusal(404, "there is no such turn, or not any more")
        if resume_from.seq > turn.frames:
            message = f"the turn has frames up to {turn.number}:{turn.frames} only"
            raise _Refusal(404, message)
        return resume_from

    def _turn(self, message: str, script: Script, resume_from: SseId | None) -> Turn:
        if resume_from is not None:
            return self._turns[resume_from.turn_id]
        turn = Turn(self._next_turn, message, script.events)
        self._next_turn += 1
        self._turns[turn.number] = turn
        if len(self._turns) > _KEPT_TURNS:
            self._turns.popitem(last=False)
        return turn

    async def _stream(
        self, connection: _Connection, turn: Turn, script: Script, after: int
    ) -> None:
        faults = script.faults
        place = faults.at or max(1, turn.frames // 2)
        if after and after + 1 == place:
            place = 0  # what happens there has happened, and now the turn goes on
        pace = max(script.pace, SLOW_SECONDS if "slow" in faults else 0.0)
        start = anyio.current_time()
        for sent, (seq, chunk) in enumerate(turn.chunks(after)):
            # Without a pace, too, so that other clients have their turn.
            await anyio.sleep_until(start + sent * pace)
            end = faults.end_at(seq, place, turn.frames, sent)
            if end is not None:
                await connection.end_body(end)
                return
            chunk = faults.instead_of(turn.number, seq, place, turn.frames, chunk)
            await connection.send_body(chunk)
            if "error" in faults and seq == place:
                break
        await connection.end_body(End.CLEAN)

    async def _replay(
        self, connection: _Connection, script: Script, recording: Iterable[tuple[float, bytes]]
    ) -> None:
        start = anyio.current_time()
        for seconds, data in recording:
            size = script.chunk_size or len(data) or 1
            for place in range(0, len(data), size):
                await anyio.sleep_until(start + seconds)
                await connection.send_body(data[place : place + size])
        await connection.end_body(script.recording_end)


class _Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _message(body: bytes) -> str:
    """The message in the body of a request, "" without a body. Raises _Refusal."""
    try:
        message = json.loads(body or b"{}").get("message", "")
        message.encode()
    except (ValueError, AttributeError, RecursionError):
        raise _Refusal(400, 'the body must be JSON such as {"message": "Hi"}') from None
    return str(message)


def _with_query(script: Script, query: Iterable[tuple[str, str]]) -> Script:
    """The script with what a query changes. Raises ValueError for what it cannot mean."""
    specs = []
    at = None
    for name, value in query:
        if name == "at":
            at = _number(name, value)
        elif name == "events":
            script = script._replace(events=_number(name, value))
        elif name == "pace":
            script = script._replace(pace=_seconds(value))
        elif name == "fault":
            specs.append(value)
        else:
            specs.append(f"{name}={value}" if value else name)
    return script._replace(faults=script.faults | Faults(tuple(specs), at))


def _number(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 10 and 1 <= int(value) <= 10**9):
        raise ValueError(f"{name} must be a number from 1 to {10**9}")
    return int(value)


def _seconds(value: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(value) <= 3600:
            return float(value)
    raise ValueError("pace must be a number of seconds from 0 to 3600")


class _Request(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


async def _wait_until_sent(raw: socket.socket) -> None:
    """Wait for what is on its way, since a reset would throw it away, but not for ever."""
    for _ in range(100):
        if not _unsent(raw):
            return
        await anyio.sleep(0.01)


def _unsent(raw: socket.socket) -> int:
    """The bytes that have not arrived at the other side, 0 where the system does not tell."""
    try:
        import fcntl
        import termios

        answer = fcntl.ioctl(raw.fileno(), termios.TIOCOUTQ, bytes(struct.calcsize("i")))
    except (ImportError, OSError):
        return 0
    (unsent,) = struct.unpack("i", answer)
    return int(unsent)


class _Connection:
    """HTTP/1.1 on one connection, the server's side."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream
        self._http = h11.Connection(h11.SERVER)
        self._without_body = False  # as an answer to HEAD

    async def receive_request(self) -> _Request | None:
        """Read the next request; None if the client has left. Raises _Refusal."""
        head = await self._next_event()
        if not isinstance(head, h11.Request):
            return None
        self._without_body = head.method == b"HEAD"
        body = bytearray()
        size = 0
        while isinstance(event := await self._next_event(), h11.Data):
            size += len(event.data)
            if size <= _MAX_REQUEST:
                body += event.data
        if size > _MAX_REQUEST:  # now that all is read, it can hear our answer
            raise _Refusal(413, f"at most {_MAX_REQUEST} bytes, please")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
        target = head.target.decode("latin-1")
        return _Request(head.method.decode("latin-1"), target, headers, bytes(body))

    async def _next_event(self) -> object:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                try:
                    self._http.receive_data(await self._stream.receive(_READ))
                except anyio.EndOfStream:
                    self._http.receive_data(b"")
            return event
        except h11.RemoteProtocolError:
            raise _Refusal(400, "this is no request of HTTP/1.1") from None

    def next_request(self) -> bool:
        """Get ready for another request; return whether there can be one."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    async def send(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Send a whole response."""
        await self.send_head(status, [*headers, ("Content-Length", str(len(body)))])
        if not self._without_body:
            await self._send(h11.Data(data=body))
        await self._send(h11.EndOfMessage())

    async def send_json(self, status: int, body: dict[str, str]) -> None:
        """Send a whole response with a JSON body."""
        text = b"" if status in (204, 304) else json.dumps(body).encode()
        await self.send(status, [("Content-Type", "application/json")], text)

    async def send_head(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Send the head of a response; without a length its body is chunked."""
        await self._send(h11.Response(status_code=status, headers=headers))

    async def send_body(self, data: bytes) -> None:
        """Send a piece of the body."""
        await self._send(h11.Data(data=data))

    async def end_body(self, end: End) -> None:
        """End the body in a good way or in a bad one."""
        if end is End.CLEAN:
            await self._send(h11.EndOfMessage())
            return
        if end is End.CUT:
            await self._stream.send(b"4")
        elif end is End.RESET:
            raw = self._stream.extra(anyio.abc.SocketAttribute.raw_socket)
            await _wait_until_sent(raw)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif end is End.STALL:
            await self._wait_until_left()
        raise _Hangup

    async def _wait_until_left(self) -> None:
        try:
            while True:
                await self._stream.receive(_READ)
        except anyio.EndOfStream:
            return

    async def _send(self, event: h11.Event) -> None:
        await self._stream.send(self._http.send(event) or b"")
