"""What a dialect is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from .. import _arguments
from .._events import E
from .._sse_id import SseId


@dataclass(frozen=True, slots=True)
class Complete:
    """Says that the answer is whole, though frames may follow. It is not an event: a decoder does
    not put it out.

    ``stop_reason`` (str or None) is why the answer ended, in the server's word. ``certain`` (bool)
    is False where a server says so with every piece, so that only the end of the body tells.
    Raises TypeError for other values.
    """

    stop_reason: str | None
    certain: bool = True

    def __post_init__(self) -> None:
        if self.stop_reason is not None:
            _arguments.text("stop_reason", self.stop_reason)
        _arguments.flag("certain", self.certain)


class Dialect(ABC, Generic[E]):
    """What the frames of one kind of server mean. ``E`` is the union of the events it gives.

    A dialect of your own is a subclass with a ``name`` (str) and ``read``. It is stateless: one
    instance serves any number of streams. See docs/dialects.md.

    ``end_marks`` (a set of str) is data that is not JSON and ends the answer, such as ``[DONE]``.
    ``flush_unfinished`` (bool) is for servers that forget the last blank line of a body.
    ``numbered`` (bool) is True for ``TURN`` only, where ids are ``<turn>:<seq>``.
    """

    name: ClassVar[str]
    end_marks: ClassVar[Set[str]] = frozenset()
    flush_unfinished: ClassVar[bool] = False
    numbered: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Raises TypeError for attributes that are not as described above."""
        super().__init_subclass__()
        setter = next(each for each in cls.__mro__ if "numbered" in vars(each))
        if cls.numbered and (setter is cls or not issubclass(setter, Dialect)):
            raise TypeError(f"{cls.__name__} must not set numbered; only TURN has ids of that form")
        marks: object = cls.end_marks
        if not (isinstance(marks, Set) and all(isinstance(mark, str) for mark in marks)):
            raise TypeError(f"{cls.__name__}.end_marks must be a frozenset of str, not {marks!r}")

    @abstractmethod
    def read(self, sse_id: SseId, event: str, body: Any) -> Sequence[E | Complete] | None:
        """Say what one frame means.

        ``sse_id`` (SseId) is for the events of the frame. ``event`` (str) is the field of the
        frame, ``"message"`` if it has none. ``body`` is the JSON of its data, of any kind.

        Returns the events in order, each with this ``sse_id``, and ``Complete`` if the answer is
        whole from here on; None, or an empty sequence, if the frame says nothing. A terminal
        event ends the answer. Raises ValueError, TypeError, KeyError, IndexError or AttributeError
        if the frame is malformed.
        """
