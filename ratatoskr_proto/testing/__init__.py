"""For tests of event streams, yours and ours; needs no test framework. See docs/testing-kit.md.

- ``check_decoder`` runs any decoder of event streams and says which rules it breaks.
- ``reference_decode`` is the standard, read literally; ``explain`` prints what each line does.
- ``vectors`` reads cases that are kept as data.
- ``event_streams``, ``turn_streams``, ``answers``, ``cut_answers``, ``hostile_bytes`` and
  ``chunkings`` are strategies for Hypothesis. They alone need it, with extra ``testing``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._check import check_decoder
from ._driver import DecoderUnderTest
from ._explain import explain
from ._reference import reference_decode
from ._report import Check, Failure, Report
from ._vectors import vectors

if TYPE_CHECKING:
    from ._answers import Answer, CutAnswer, answers, cut_answers
    from ._strategies import chunkings, event_streams, hostile_bytes, turn_streams

_OF_ANSWERS = ("Answer", "CutAnswer", "answers", "cut_answers")

__all__ = [
    "Answer",
    "Check",
    "CutAnswer",
    "DecoderUnderTest",
    "Failure",
    "Report",
    "answers",
    "check_decoder",
    "chunkings",
    "cut_answers",
    "event_streams",
    "explain",
    "hostile_bytes",
    "reference_decode",
    "turn_streams",
    "vectors",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "._answers" if name in _OF_ANSWERS else "._strategies"
    try:
        found = importlib.import_module(module, __package__)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"ratatoskr_proto.testing.{name} needs hypothesis: pip install 'ratatoskr-sse[testing]'"
        ) from error
    return getattr(found, name)
