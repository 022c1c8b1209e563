"""A model of the turn layer: docs/turn-protocol.md read literally, one frame after the other.

It takes its frames from our wire decoder, which is compared with a reference of its own.
"""

import json
import re

from ratatoskr_proto import (
    Done,
    EventStreamDecoder,
    EventTooLarge,
    MalformedEnvelope,
    MalformedSseData,
    MalformedSseId,
    RatatoskrError,
    ServerError,
    SseConnectionDropped,
    SseId,
    Text,
    TurnIdFlip,
    TurnState,
    Unknown,
)


class TurnModel:
    """Everything that can be seen of a ``TurnDecoder``. It lets through any exception of ``loads``
    except ValueError and RecursionError.
    """

    def __init__(self, resume_from, limit, loads=json.loads):
        self.wire = EventStreamDecoder(limit)
        self.state = TurnState.STREAMING
        self.last_sse_id = resume_from
        self.turn_id = None if resume_from is None else resume_from.turn_id
        self.replay_end = None if resume_from is None else resume_from.seq
        self.loads = loads

    @property
    def retry_ms(self):
        return self.wire.retry_ms

    @property
    def pending(self):
        return self.state is TurnState.STREAMING and self.wire.pending

    def receive_data(self, data):
        """The items of some bytes, which count one by one up to the end of the turn."""
        items = []
        for byte in data:
            if self.state is TurnState.STREAMING:
                for frame in self.wire.receive_data(bytes([byte])):
                    items += self.receive_frame(frame)
        return items

    def receive_frame(self, frame):
        item = frame if isinstance(frame, EventTooLarge) else self.read_frame(frame.data, frame.id)
        if item is None:
            return []
        if isinstance(item, RatatoskrError):
            self.state = TurnState.FAILED
        else:
            self.last_sse_id = item.sse_id
            self.turn_id = item.sse_id.turn_id
            self.state = TurnState.DONE if item.terminal else self.state
        return [item]

    def read_frame(self, data, raw_id):
        if data == "":
            return None
        match = re.fullmatch("([0-9]{1,19}):([0-9]{1,19})", raw_id)
        if match is None:
            return MalformedSseId(raw_id)
        sse_id = SseId(int(match[1]), int(match[2]))
        if self.turn_id not in (None, sse_id.turn_id):
            return TurnIdFlip(self.turn_id, sse_id.turn_id)
        try:
            body = self.loads(data)
        except (ValueError, RecursionError):
            return MalformedSseData(data)
        except Exception:
            self.state = TurnState.FAILED
            raise
        event = self.event(sse_id, body)
        if event is None:
            return MalformedEnvelope(data)
        if self.replay_end is not None and not event.terminal:
            if sse_id.seq <= self.replay_end:
                return None
            self.replay_end = None
        return event

    def event(self, sse_id, body):
        match body:
            case {"type": "text", "text": str(text)}:
                return Text(text, sse_id=sse_id, body=body)
            case {"type": "error", "message": str(message)}:
                return ServerError(message, sse_id=sse_id, body=body)
            case {"type": "done"}:
                return Done(sse_id=sse_id, body=body)
            case {"type": str(name)} if name not in ("text", "error"):
                return Unknown(name, sse_id=sse_id, body=body)
        return None

    def receive_eof(self, reason="end of stream"):
        if self.state is not TurnState.STREAMING:
            return []
        lost = "; unfinished event lost" if self.pending else ""
        self.state = TurnState.FAILED
        return [SseConnectionDropped(self.last_sse_id, reason + lost)]
