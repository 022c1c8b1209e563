"""sseclient-py for ``ratatoskr check-decoder``."""

from collections.abc import Iterator
from typing import Any

from sseclient import SSEClient
from whole_stream import WholeStream


class SseclientPy(WholeStream):
    def events(self) -> Iterator[Any]:
        return SSEClient(iter(self.chunks)).events()
