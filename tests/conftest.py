"""Settings for the whole suite."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadline: a shared machine may pause at any time, and speed is measured elsewhere.
settings.register_profile(
    "suite", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

MEASURED = ("proto", "transports", "kit")  # whose tests alone must reach every line


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Elsewhere coverage is not measured: tracing what others do with the packages takes longer
    than to do it."""
    for item in items:
        if item.path.relative_to(Path(__file__).parent).parts[0] not in MEASURED:
            item.add_marker("no_cover")
