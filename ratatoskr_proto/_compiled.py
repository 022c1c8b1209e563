"""The wire layer in C: the decoders of ``_wire``, over ``_wire_c``.

Arguments are checked here, in the words of the Python version; everything else is in ``_wire_c.c``.
"""

from __future__ import annotations

from typing import ClassVar, Generic

from . import _arguments, _wire
from ._frames import Frame
from ._wire import DEFAULT_MAX_EVENT_BYTES, Item
from ._wire_c import Decoder


class EventStreamDecoder(Decoder, Generic[Item]):
    __doc__ = _wire.EventStreamDecoder.__doc__

    implementation: ClassVar[str] = "c"
    _plain_frames: ClassVar[bool] = False

    def __init__(
        self,
        max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES,
        last_event_id: str = "",
        comments: bool = False,
        flush_unfinished: bool = False,
    ) -> None:
        """Raises TypeError or ValueError for an argument that is not as described above."""
        super().__init__(
            _arguments.integer("max_event_bytes", max_event_bytes, least=1),
            _arguments.text("last_event_id", last_event_id),
            _arguments.flag("comments", comments),
            _arguments.flag("flush_unfinished", flush_unfinished),
            self._plain_frames,
        )

    __reduce_ex__ = _wire.EventStreamDecoder.__reduce_ex__


class FrameDecoder(EventStreamDecoder[Frame]):
    __doc__ = _wire.FrameDecoder.__doc__

    _plain_frames = True

    def __init__(self, max_event_bytes: int, flush_unfinished: bool) -> None:
        super().__init__(max_event_bytes, flush_unfinished=flush_unfinished)

    @property
    def begun(self) -> bool:
        """Whether anything but a comment is unfinished."""
        return self._begun
