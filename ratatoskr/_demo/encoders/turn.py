"""The turn protocol, see docs/turn-protocol.md."""

from __future__ import annotations

from typing import Any

from .base import Encoder, Frame, to_json


class TurnEncoder(Encoder):
    """The turn protocol. ``number`` is that of the turn; ``after`` (int) frames of it have been
    written before.
    """

    dialect = "turn"

    def __init__(self, number: int, model: str = "", after: int = 0) -> None:
        super().__init__(number, model)
        self._seq = after

    def empty(self) -> Frame:
        """A frame with an id and no data, which says nothing."""
        self._seq += 1
        return Frame("", id=f"{self._number}:{self._seq}")

    def text(self, text: str) -> list[Frame]:
        return self._frame(type="text", text=text)

    def reasoning(self, text: str) -> list[Frame]:
        return self._frame(type="reasoning", text=text)

    def done(self, stop_reason: str | None = None) -> list[Frame]:
        why = {} if stop_reason is None else {"stop_reason": stop_reason}
        return self._frame(type="done", frames=self._seq + 1, **why)

    def error(self, message: str) -> list[Frame]:
        return self._frame(type="error", message=message)

    def _frame(self, **envelope: str | int) -> list[Frame]:
        return [self.empty()._replace(data=to_json(envelope))]

    @staticmethod
    def error_body(status: int, message: str) -> Any:
        return {"error": message}
