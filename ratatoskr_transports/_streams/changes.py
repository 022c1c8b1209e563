"""Where an event stream changes its last event id or its reconnection time without an event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ratatoskr_proto import EventStreamDecoder, ServerSentEvent, WireItem


class Change(NamedTuple):
    """The last event id and the ``retry:`` in milliseconds, after one of them has changed."""

    last_event_id: str
    retry_ms: int | None


class ChangesDecoder:
    """An ``EventStreamDecoder`` whose items include each ``Change``, in its place.

    It is fed line by line, since a decoder tells what the id is, but not where it stood.
    """

    def __init__(self, decoder: EventStreamDecoder, retry_ms: int | None) -> None:
        """``retry_ms`` is that of the connections before."""
        self.over = False
        self._decoder = decoder
        self._last = Change(decoder.last_event_id, retry_ms)

    @property
    def last_event_id(self) -> str:
        return self._decoder.last_event_id

    @property
    def retry_ms(self) -> int | None:
        return self._decoder.retry_ms

    @property
    def pending(self) -> bool:
        return self._decoder.pending

    def receive_data(self, chunk: bytes) -> list[WireItem | Change]:
        items: list[WireItem | Change] = []
        for line in chunk.splitlines(keepends=True):
            items += self._with_change(self._decoder.receive_data(line))
        return items

    def receive_eof(self, reason: str = "end of stream") -> list[WireItem | Change]:
        self.over = True
        return list(self._with_change(self._decoder.receive_eof(reason)))

    def _with_change(self, items: Iterable[WireItem]) -> Iterator[WireItem | Change]:
        for item in items:
            yield item
            if isinstance(item, ServerSentEvent):  # it carries its id itself
                self._last = self._last._replace(last_event_id=item.id)
        retry_ms = self._decoder.retry_ms
        if retry_ms is None:
            retry_ms = self._last.retry_ms
        now = Change(self._decoder.last_event_id, retry_ms)
        if now != self._last:
            self._last = now
            yield now
