"""The conformance run for any decoder of event streams.

Every stream is read by the decoder and by the reference: in one chunk, then cut in many ways. The
streams are the probes of each rule, the vectors, and random ones, always the same. Of those that
are read differently, the smallest is looked for, and reported under the rule that it is about.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from ._growth import CLAUSES, SHAPES, check_growth
from ._pieces import LINE_ENDS, LINES, ODD_LINES
from ._printable import printable
from ._reference import reference_decode
from ._report import Check, Failure, Report
from ._rules import CUT_RULES, NEVER_RAISES, PROMPT_RULES, RULES, Rule, rule_of, rules_of
from ._shrink import shrink
from ._vectors import vector_streams

_SEED = 6
_RANDOM_STREAMS = 200
_FEW_PLACES, _SOME_PLACES = 24, 6  # to cut a stream at: at each if they are few, else at some
_MOST_PIECES = 400
_MAX_SHOWN = 500  # characters of a text for people


class Decoder(Protocol):
    """What ``check_decoder`` drives.

    An event is anything with attributes ``event``, ``data`` and ``id``, or a tuple of the three,
    each a str, or None if the stream did not set it; ``id`` is the last event id of the stream.
    """

    def receive_data(self, chunk: bytes, /) -> Iterable[Any]:
        """Take the next bytes and return the events that they complete, or none yet."""

    def receive_eof(self) -> Iterable[Any]:
        """Take the end of the stream and return the events that were not returned before."""


Event: TypeAlias = tuple[str, str, str]


def check_decoder(factory: Callable[[], Decoder], *, prompt: bool = False) -> Report:
    """Run a decoder against the WHATWG HTML standard, section 9.2, and return what it breaks.

    ``factory`` (callable) returns a new decoder each time, see ``Decoder``; a class will do. With
    ``prompt=True`` an event must also come with the chunk that completes it, and not with a later
    one or with the end. The report is a list of ``Failure``, empty if the decoder passed. It
    is the same each time, but for the times in a check of growth.

    Whatever the decoder raises is a failure of the decoder. Raises TypeError if ``factory`` does
    not give decoders at all. A decoder that never returns is not stopped.
    """
    _check_factory(factory)
    run = _Run(factory, prompt)
    for rule in reversed(RULES):  # the plain ones first
        for probe in rule.probes:
            run.judge([probe], rule)
    for chunks in vector_streams():
        run.judge(chunks)
    for chunks in _random_streams():
        run.judge(chunks)
    return run.report()


class _NoEvents(TypeError):
    """What a decoder returned is no iterable of events."""


class _Outcome(NamedTuple):
    """What a decoder made of some chunks: its events, and the error that stopped it, if any."""

    events: list[Event]
    error: str = ""

    def __str__(self) -> str:
        text = f"{self.events}, then {self.error}" if self.error else str(self.events)
        return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


class _Run:
    """One decoder under test, and the smallest failure of each rule so far."""

    def __init__(self, factory: Callable[[], Decoder], prompt: bool) -> None:
        self._factory = factory
        self._prompt = prompt
        self._failures: dict[str, Failure] = {}

    def judge(self, chunks: list[bytes], rule: Rule | None = None) -> None:
        """Read a stream; ``rule`` is the one that it probes, if it was made for that."""
        data = b"".join(chunks)
        if rule.name in self._failures if rule else self._is_known(data, RULES):
            return
        if self._fails(data):
            small = self._smallest(data, self._fails, rule)
            self._record(rule or rule_of(small), [small])
            return
        if not self._is_known(data, CUT_RULES):
            cut = self._failing_cut(data, [chunks, *_cuts(data)])
            if cut is not None:
                small = self._smallest(data, self._failing_cut)
                cut = self._failing_cut(small) or cut
                self._record(rule_of(small, CUT_RULES), cut)
                return
        if self._prompt and not self._is_known(data, PROMPT_RULES) and self._is_late(data):
            small = self._smallest(data, self._is_late)
            self._record(rule_of(small, PROMPT_RULES), [small], eof=False)

    def report(self) -> Report:
        """Measure how the cost grows, and report all that was found."""
        for name in SHAPES:
            failure = check_growth(name, self._read)
            if failure is not None:
                self._failures[name] = failure
        rules = (*RULES, NEVER_RAISES, *CUT_RULES, *(PROMPT_RULES if self._prompt else ()))
        clauses = {rule.name: rule.clause for rule in rules} | CLAUSES
        checks = [Check(name, clauses[name], name not in self._failures) for name in clauses]
        return Report(checks, [self._failures[name] for name in clauses if name in self._failures])

    def _is_known(self, data: bytes, rules: tuple[Rule, ...]) -> bool:
        """Whether a stream has to do with a rule that failed, and so may just tell that again."""
        return any(rule.name in self._failures for rule in rules_of(data, rules))

    def _smallest(
        self, data: bytes, fails: Callable[[bytes], object], rule: Rule | None = None
    ) -> bytes:
        """A smaller stream that fails too, and has to do with no other rules than this one."""
        subjects = rules_of(data)

        def fails_too(smaller: bytes) -> bool:
            rules = rules_of(smaller)
            return (
                (rule is None or rules[0] is rule)
                and all(each in subjects for each in rules)
                and bool(fails(smaller))
            )

        return shrink(data, fails_too)

    def _fails(self, data: bytes) -> bool:
        return self._read([data]) != _expected(data)

    def _failing_cut(
        self, data: bytes, cuts: Iterable[list[bytes]] | None = None
    ) -> list[bytes] | None:
        """The first of these cuts of a stream that is read wrongly."""
        expected = _expected(data)
        for chunks in _cuts(data) if cuts is None else cuts:
            if self._read(chunks) != expected:
                return chunks
        return None

    def _is_late(self, data: bytes) -> bool:
        """Whether events are held back, though with the end of the stream they would all come."""
        expected = _expected(data)
        return self._read([data]) == expected != self._read([data], eof=False)

    def _read(self, chunks: list[bytes], eof: bool = True) -> _Outcome:
        events: list[Event] = []
        try:
            decoder = self._factory()
            for chunk in chunks:
                events += _as_events(decoder.receive_data(chunk))
            if eof:
                events += _as_events(decoder.receive_eof())
        except _NoEvents as error:
            return _Outcome(events, str(error))
        except Exception as error:
            return _Outcome(events, _shown(error))
        return _Outcome(events)

    def _record(self, rule: Rule, chunks: list[bytes], eof: bool = True) -> None:
        """Keep a failure, if it is the smallest of its rule."""
        data = b"".join(chunks)
        came = self._read(chunks, eof)
        for broken in (rule, NEVER_RAISES) if came.error else (rule,):
            known = self._failures.get(broken.name)
            if known is None or len(data) < len(known.data):
                self._failures[broken.name] = Failure(
                    broken.name,
                    broken.clause,
                    data,
                    tuple(chunks),
                    str(_expected(data)) + ("" if eof else ", before the stream ends"),
                    str(came),
                )


def _expected(stream: bytes) -> _Outcome:
    return _Outcome([(event, data, id) for event, data, id in reference_decode(stream)])


def _cuts(data: bytes) -> Iterator[list[bytes]]:
    """Ways to cut a stream: in two; byte by byte, if it is not long; with empty chunks between."""
    step = 1 if len(data) <= _FEW_PLACES else len(data) // _SOME_PLACES
    for place in range(1, len(data), step):
        yield [data[:place], data[place:]]
    size = 1 + len(data) // _MOST_PIECES
    pieces = [data[place : place + size] for place in range(0, len(data), size)]
    yield pieces
    yield [chunk for piece in pieces for chunk in (b"", piece)]


def _random_streams() -> Iterator[list[bytes]]:
    """Streams in chunks. Only ``random()`` is the same in every version of Python."""
    source = random.Random(_SEED)

    def pick(options: Sequence[bytes]) -> bytes:
        return options[int(source.random() * len(options))]

    for _ in range(_RANDOM_STREAMS):
        usual_end = pick(LINE_ENDS)
        chunks = [b""]
        while source.random() < 0.9:
            line = pick(LINES) if source.random() < 0.7 else pick(ODD_LINES)
            line_end = usual_end if source.random() < 0.9 else pick(LINE_ENDS)
            for piece in (line, line_end, line_end if source.random() < 0.4 else b""):
                # A new chunk now and then, which may be empty or begin within a CRLF.
                if source.random() < 0.2:
                    chunks.append(b"")
                chunks[-1] += piece
        yield chunks


def _check_factory(factory: Callable[[], Decoder]) -> None:
    """Raise TypeError if it gives nothing that could be judged."""
    wanted = (
        "check_decoder() takes a callable that returns a new decoder each time, with methods "
        "receive_data(bytes) and receive_eof() that return an iterable of events"
    )
    if not callable(factory):
        raise TypeError(f"{wanted}; {type(factory).__name__} is not callable")
    try:
        decoder = factory()
        another = factory()
    except Exception as error:
        raise TypeError(f"{wanted}; this one raised {_shown(error)}") from error
    if decoder is another:
        raise TypeError(f"{wanted}; this one returned the same object twice")
    for name in ("receive_data", "receive_eof"):
        if not callable(getattr(decoder, name, None)):
            raise TypeError(f"{wanted}; {type(decoder).__name__} has no method {name}()")
    try:
        _as_events(decoder.receive_data(b"data: a\n\n"))
        _as_events(decoder.receive_eof())
    except _NoEvents as error:
        raise TypeError(f"{wanted}; {error}") from None
    except Exception:  # a fault of the decoder, which the checks will tell
        return


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
    # What the stream did not set is None for some.
    values: Event = ("message" if event is None else event, data or "", id or "")
    for value in values:
        if not isinstance(value, str):
            raise _NoEvents(f"event, data and id are str or None, not {type(value).__name__}")
    return values


def _shown(error: Exception) -> str:
    return printable(f"{type(error).__name__}: {error}"[:_MAX_SHOWN])
