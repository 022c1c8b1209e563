"""The read loops for async and for sync code are twins: what differs between them stands here."""

import difflib
import inspect
import re

from ratatoskr_transports._streams import loops

# From the async text to the sync one.
WORDS = {
    r"\basync (?=def|with|for)": "",
    r"\bawait ": "",
    r"\b__a(?=enter__|exit__|iter__)": "__",
    r"\baclose\b": "close",
    r"\bAsync(?=Stream|Opening)": "Sync",
    r"\bStopAsyncIteration\b": "StopIteration",
    r"\bSource\b": "SyncSource",
    r"for async code": "for sync code",
}

# The lines that only one of them has, on purpose: an async stream lets the event loop run as it
# decodes, can be given a limit for each read, and drains the body, so that a pool gets its
# connection back.
ONLY_ASYNC = """
self._decoded = 0  # bytes since the last checkpoint
self._drain()
self._decoded += len(piece)
if self._decoded > PIECE:
self._pause()
self._decoded = len(piece)
exact = self._event_timeout is not None and hasattr(source, "receive_within")
data = (self._receive_in_time(source) if exact else source.receive())
if exact and isinstance(error, TimeoutError):
error = SourceLost("event timeout")
except BaseException:  # cancelled: bytes that have just been read may be lost
def _receive_in_time(self, source: Any) -> Awaitable[bytes]:
received: Awaitable[bytes] = source.receive_within(max(0.0, self._seconds_left()))
return received
def _pause(self) -> None:
\"""Let the event loop run, however much there is to be decoded.\"""
try:
checkpoint()
except BaseException:  # cancelled, as in a read
self._cursor.close()
raise
def _drain(self) -> None:
if isinstance(self._source, AsyncBody):
self._source.drain()
"""
ONLY_SYNC = """
data = source.receive()
except BaseException:
"""


def test_sync_loop_is_the_async_one_but_for_the_lines_that_stand_here():
    text = inspect.getsource(loops.AsyncStream)
    for word, sync_word in WORDS.items():
        text = re.sub(word, sync_word, text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    sync_text = inspect.getsource(loops.SyncStream)
    sync_lines = [line.strip() for line in sync_text.splitlines() if line.strip()]
    different = [each for each in difflib.ndiff(lines, sync_lines) if each[0] in "-+"]
    assert [each[2:] for each in different if each[0] == "-"] == ONLY_ASYNC.strip().splitlines()
    assert [each[2:] for each in different if each[0] == "+"] == ONLY_SYNC.strip().splitlines()
