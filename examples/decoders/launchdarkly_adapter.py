"""launchdarkly-eventsource for ``ratatoskr check-decoder``.

This is the reader below its client, which is private there; the client would open a connection.
"""

from typing import Any

from ld_eventsource.actions import Event
from ld_eventsource.reader import _BufferedLineReader, _SSEReader


class LaunchDarkly:
    """All events come with the end, since the reader pulls its bytes from a connection."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def receive_data(self, chunk: bytes) -> list[Any]:
        self.chunks.append(chunk)
        return []

    def receive_eof(self) -> list[Any]:
        reader = _SSEReader(_BufferedLineReader.lines_from(iter(self.chunks)))
        return [
            # Its `id` is that of the event's own block.
            (each.event, each.data, each.last_event_id)
            for each in reader.events_and_comments()
            if isinstance(each, Event)
        ]
