"""assel for ``ratatoskr check-decoder``. It takes chunks of bytes, so events come at once."""

from typing import Any

import assel


class Assel:
    def __init__(self) -> None:
        self.feed = assel.Parser().receive_bytes

    def receive_data(self, chunk: bytes) -> list[Any]:
        return list(self.feed(chunk))

    def receive_eof(self) -> list[Any]:
        return []
