"""How the tests use the vectors; ratatoskr_proto/testing/vectors/README.md describes them."""

import base64
from typing import Any


def chunks_of(case: dict[str, Any]) -> list[bytes]:
    """The chunks of a bug report."""
    return [base64.b64decode(chunk) for chunk in case["chunks_b64"]]


def is_parsed(case: dict[str, Any]) -> bool:
    """Whether a bug report's bytes get as far as a decoder, in the form in which they came."""
    response = case.get("response", {"is_event_stream": True, "headers": {}})
    return response["is_event_stream"] and "content-encoding" not in response["headers"]
