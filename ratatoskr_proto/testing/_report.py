"""What ``check_decoder`` found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Check(NamedTuple):
    """A check that was made: its ``name`` (str), its ``clause`` (str), and if it ``passed``."""

    name: str
    clause: str
    passed: bool


@dataclass(frozen=True)
class Failure:
    """A check that failed.

    ``check`` (str) is its name, the rule that was broken, and ``clause`` (str) where that stands.
    ``data`` (bytes) is the smallest stream that was found to show it, and ``chunks`` (tuple of
    bytes) how that was fed; both are empty for a check of growth. ``expected`` and ``came`` (str)
    are for people to read; events are shown as ``(event, data, id)``.
    """

    check: str
    clause: str
    data: bytes
    chunks: tuple[bytes, ...]
    expected: str
    came: str

    def __str__(self) -> str:
        lines = [self.check, f"  clause:   {self.clause}"]
        if self.chunks:
            lines.append(f"  input:    {self.data!r}")
        if len(self.chunks) > 1:
            lines.append(f"  chunks:   {list(self.chunks)!r}")
        return "\n".join([*lines, f"  expected: {self.expected}", f"  came:     {self.came}"])


class Report(list[Failure]):
    """The failures of a decoder, in the order of the checks: empty if it passed.

    ``checks`` (tuple of ``Check``) are all the checks that were made. ``str()`` of a report is a
    text for people.
    """

    def __init__(self, checks: Iterable[Check], failures: Iterable[Failure]) -> None:
        super().__init__(failures)
        self.checks = tuple(checks)

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self

    def __str__(self) -> str:
        total = len(self.checks)
        headline = f"{total - len(self)} of {total} checks passed"
        return "\n\n".join([headline, *map(str, self)])
