"""Reads the vectors; tests/vectors/README.md describes them."""

import base64
import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent.parent / "vectors"


def load(name: str) -> list[dict[str, Any]]:
    """The cases of one file."""
    lines = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def chunks_of(case: dict[str, Any]) -> list[bytes]:
    """The chunks of a bug report."""
    return [base64.b64decode(chunk) for chunk in case["chunks_b64"]]


def is_parsed(case: dict[str, Any]) -> bool:
    """Whether a bug report's bytes get as far as a decoder, in the form in which they came."""
    response = case.get("response", {"is_event_stream": True, "headers": {}})
    return response["is_event_stream"] and "content-encoding" not in response["headers"]
