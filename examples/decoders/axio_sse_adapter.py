"""axio-sse for ``ratatoskr check-decoder``. It takes chunks of bytes, so events come at once."""

import axio_sse


class AxioSse:
    def __init__(self) -> None:
        self.feed = axio_sse.Decoder().decode

    def receive_data(self, chunk: bytes) -> list[tuple[str | None, str, str]]:
        # An event that the stream gave no type has the type "" there.
        return [(each.event or None, each.data, each.id) for each in self.feed(chunk)]

    def receive_eof(self) -> list[tuple[str | None, str, str]]:
        return []
