"""What the tests of the kit share."""

import pytest

from ratatoskr_proto.testing import _check, check_decoder


@pytest.fixture
def quick(monkeypatch):
    """``check_decoder`` with the probes of the rules alone, for decoders where these are enough."""
    monkeypatch.setattr(_check, "SHAPES", {})
    monkeypatch.setattr(_check, "_RANDOM_STREAMS", 0)
    monkeypatch.setattr(_check, "vector_streams", list)
    monkeypatch.setattr(_check, "_FEW_PLACES", 8)
    return check_decoder
