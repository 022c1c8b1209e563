"""Reads the vectors; vectors/README.md describes them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

_NAMES = ("conformance", "bug_reports")


def vectors(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file of vectors, in its order.

    ``name`` (str) is ``"conformance"`` or ``"bug_reports"``; vectors/README.md, beside the files,
    says what a case holds. Raises ValueError for any other name.
    """
    if name not in _NAMES:
        raise ValueError(f"there are vectors named {' and '.join(_NAMES)}, but not {name!r}")
    file = resources.files("ratatoskr_proto.testing") / "vectors" / f"{name}.jsonl"
    # Not splitlines(), which would also end a line at characters that JSON strings may hold.
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def vector_streams() -> Iterator[list[bytes]]:
    """The streams of all vectors, in chunks as they came."""
    for case in vectors("conformance"):
        yield [base64.b64decode(case["input_b64"])]
    for case in vectors("bug_reports"):
        yield [base64.b64decode(chunk) for chunk in case["chunks_b64"]]
