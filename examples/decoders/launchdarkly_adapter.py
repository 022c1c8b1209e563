"""launchdarkly-eventsource for ``ratatoskr check-decoder``.

This is the reader below its client, which is private there; the client would open a connection.
"""

from collections.abc import Iterator

from ld_eventsource.actions import Event
from ld_eventsource.reader import _BufferedLineReader, _SSEReader
from whole_stream import WholeStream


class LaunchDarkly(WholeStream):
    def events(self) -> Iterator[tuple[str, str, str | None]]:
        reader = _SSEReader(_BufferedLineReader.lines_from(iter(self.chunks)))
        for each in reader.events_and_comments():
            if isinstance(each, Event):
                # Its `id` is that of the event's own block.
                yield each.event, each.data, each.last_event_id
