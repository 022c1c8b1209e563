"""The conformance run for any decoder of event streams.

Every stream is read by the decoder and by the reference: in one chunk, then cut in many ways. The
streams are the probes of each rule, the vectors, and random ones, which are always the same. One
that is read differently is made smaller, and reported under the rule that it is about.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from .. import _arguments
from ._driver import DecoderUnderTest, Driver, Outcome
from ._growth import CLAUSES, SHAPES, check_growth
from ._patience import Hung, run_patiently
from ._pieces import LINE_ENDS, LINES, ODD_LINES
from ._reference import reference_decode
from ._report import Check, Failure, Report
from ._rules import CUT_RULES, NEVER_RAISES, PROMPT_RULES, RULES, Rule, rule_of, rules_of
from ._shrink import shrink
from ._vectors import vector_streams

_SEED = 6
_RANDOM_STREAMS = 200
_FEW_PLACES, _SOME_PLACES = 24, 6  # to cut a stream at: at each if they are few, else at some
_MOST_PIECES = 400


def check_decoder(
    factory: Callable[[], DecoderUnderTest], *, prompt: bool = False, timeout: float = 60.0
) -> Report:
    """Run a decoder against the WHATWG HTML standard, section 9.2, and return what it breaks.

    ``factory`` (callable) returns a new decoder each time, see ``DecoderUnderTest``; a class will
    do. With ``prompt=True`` an event must also come with the chunk that completes it, and not with
    a later one or with the end. The report is a list of ``Failure``, empty if the decoder passed.
    It is the same each time, except for the times in a check of growth.

    Whatever the decoder raises is a failure of the decoder. Raises TypeError if ``factory`` does
    not return decoders, TypeError or ValueError for a ``timeout`` that is not a finite number above
    0, and TimeoutError if one call of the decoder takes longer than ``timeout`` seconds (float); it
    names the place and the chunks. The decoder runs in a thread of its own.
    """
    _arguments.flag("prompt", prompt)
    if _arguments.number("timeout", timeout) <= 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    driver = Driver(factory)
    run = _Run(driver, prompt)
    try:
        return run_patiently(run.all_checks, lambda: driver.calls, timeout)
    except Hung as hung:
        raise TimeoutError(
            f"the decoder has not returned for {timeout:g} seconds: it is at {hung}, fed with "
            f"{driver.fed}"
        ) from None


class _Run:
    """One decoder under test, and the smallest failure of each rule so far."""

    def __init__(self, driver: Driver, prompt: bool) -> None:
        self._driver = driver
        self._prompt = prompt
        self._failures: dict[str, Failure] = {}

    def all_checks(self) -> Report:
        """Make all checks, and report what failed."""
        self._driver.check_factory()
        for rule in reversed(RULES):  # the plain ones first
            for probe in rule.probes:
                self.check_stream([probe], rule)
        for chunks in vector_streams():
            self.check_stream(chunks)
        for chunks in _random_streams():
            self.check_stream(chunks)
        return self.report()

    def check_stream(self, chunks: list[bytes], rule: Rule | None = None) -> None:
        """Read a stream, whole and cut; ``rule`` is the one that it probes, if it is a probe."""
        data = b"".join(chunks)
        if rule.name in self._failures if rule else self._is_known(data, RULES):
            return
        if self._fails(data):
            small = self._smallest(data, self._fails, rule)
            self._record(rule_of(small), [small])
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
        """Measure how the cost grows, and return everything that failed."""
        for name in SHAPES:
            failure = check_growth(name, self._driver.read)
            if failure is not None:
                self._failures[name] = failure
        rules = (*RULES, NEVER_RAISES, *CUT_RULES, *(PROMPT_RULES if self._prompt else ()))
        clauses = {rule.name: rule.clause for rule in rules} | CLAUSES
        checks = [Check(name, clauses[name], name not in self._failures) for name in clauses]
        return Report(checks, [self._failures[name] for name in clauses if name in self._failures])

    def _is_known(self, data: bytes, rules: tuple[Rule, ...]) -> bool:
        """Whether a stream may be about a rule that has failed, so that it may tell nothing new."""
        return any(rule.name in self._failures for rule in rules_of(data, rules))

    def _smallest(
        self, data: bytes, fails: Callable[[bytes], object], rule: Rule | None = None
    ) -> bytes:
        """A smaller stream that fails too, and is about no other rules than this one."""
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
        return self._driver.read([data]) != _expected(data)

    def _failing_cut(
        self, data: bytes, cuts: Iterable[list[bytes]] | None = None
    ) -> list[bytes] | None:
        """The first of these ways to cut a stream that is read wrongly."""
        expected = _expected(data)
        for chunks in _cuts(data) if cuts is None else cuts:
            if self._driver.read(chunks) != expected:
                return chunks
        return None

    def _is_late(self, data: bytes) -> bool:
        """Whether events are held back, though with the end of the stream they would all come."""
        expected = _expected(data)
        return self._driver.read([data]) == expected != self._driver.read([data], eof=False)

    def _record(self, rule: Rule, chunks: list[bytes], eof: bool = True) -> None:
        """Keep a failure if it is the smallest of its rule."""
        data = b"".join(chunks)
        came = self._driver.read(chunks, eof)
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


def _expected(stream: bytes) -> Outcome:
    return Outcome([(event, data, id) for event, data, id in reference_decode(stream)])


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
