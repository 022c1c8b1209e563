"""Drives a decoder: calls its methods, and reads what they return as events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeAlias

from ._escaped import escaped

_MAX_SHOWN = 500  # characters of a text for people
_WANTED = (
    "check_decoder() takes a callable that returns a new decoder each time, with methods "
    "receive_data(bytes) and receive_eof() that return an iterable of events"
)

Event: TypeAlias = tuple[str, str, str]


class DecoderUnderTest(Protocol):
    """What ``check_decoder`` drives.

    An event is anything with attributes ``event``, ``data`` and ``id``, or a tuple of the three,
    each a str, or None if the stream did not set it; ``id`` is the last event id of the stream.
    """

    def receive_data(self, chunk: bytes, /) -> Iterable[Any]:
        """Take the next bytes and return the events that they complete, if any."""
        ...

    def receive_eof(self) -> Iterable[Any]:
        """Take the end of the stream and return the events that were not returned before."""
        ...


class Outcome(NamedTuple):
    """What a decoder made of some chunks: its events, and the error that stopped it, if any."""

    events: list[Event]
    error: str = ""

    def __str__(self) -> str:
        return _cut(f"{self.events}, then {self.error}" if self.error else str(self.events))


class Driver:
    """Makes decoders and feeds them. ``calls`` (int) counts the calls of their methods."""

    def __init__(self, factory: Callable[[], DecoderUnderTest]) -> None:
        self._factory = factory
        self._chunks: list[bytes] = []
        self.calls = 0

    def check_factory(self) -> None:
        """Raise TypeError if the factory returns nothing that could be checked."""
        if not callable(self._factory):
            raise TypeError(f"{_WANTED}; {type(self._factory).__name__} is not callable")
        try:
            decoder = self._factory()
            another = self._factory()
        except Exception as error:
            raise TypeError(f"{_WANTED}; this one raised {_shown(error)}") from error
        if decoder is another:
            raise TypeError(f"{_WANTED}; this one returned the same object twice")
        for name in ("receive_data", "receive_eof"):
            if not callable(getattr(decoder, name, None)):
                raise TypeError(f"{_WANTED}; {type(decoder).__name__} has no method {name}()")
        try:
            self._feed(decoder, [b"data: a\n\n"], True, [])
        except _NoEvents as error:
            raise TypeError(f"{_WANTED}; {error}") from None
        except Exception:  # a fault of the decoder, which the checks will report
            return

    def read(self, chunks: list[bytes], eof: bool = True) -> Outcome:
        """Feed a new decoder with these chunks, and with the end of the stream unless not ``eof``.

        An exception of the decoder is in the outcome.
        """
        events: list[Event] = []
        try:
            self._feed(self._factory(), chunks, eof, events)
        except _NoEvents as error:
            return Outcome(events, str(error))
        except Exception as error:
            return Outcome(events, _shown(error))
        return Outcome(events)

    def _feed(
        self, decoder: DecoderUnderTest, chunks: list[bytes], eof: bool, events: list[Event]
    ) -> None:
        self._chunks = chunks
        for chunk in chunks:
            self.calls += 1
            events += _as_events(decoder.receive_data(chunk))
        if eof:
            self.calls += 1
            events += _as_events(decoder.receive_eof())

    @property
    def fed(self) -> str:
        """The chunks of the stream that is being read, for people."""
        return _cut(repr(self._chunks))


class _NoEvents(TypeError):
    """A decoder returned something other than an iterable of events."""


def _as_events(returned: Iterable[Any]) -> list[Event]:
    try:
        items = iter(returned)
    except TypeError:
        raise _NoEvents(f"{type(returned).__name__} is not iterable") from None
    return [_as_event(item) for item in items]


def _as_event(item: Any) -> Event:
    try:
        event, data, id = item.event, item.data, item.id
    except AttributeError:
        if not isinstance(item, tuple) or len(item) != 3:
            raise _NoEvents(
                f"an event has attributes event, data and id, or is a tuple of the three, unlike "
                f"{type(item).__name__}"
            ) from None
        event, data, id = item
    # Some decoders have None for what the stream did not set.
    values: Event = ("message" if event is None else event, data or "", id or "")
    for value in values:
        if not isinstance(value, str):
            raise _NoEvents(f"event, data and id are str or None, not {type(value).__name__}")
    return values


def _shown(error: Exception) -> str:
    return escaped(f"{type(error).__name__}: {error}"[:_MAX_SHOWN])


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
