"""Settings for the whole suite."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadline: a shared machine may pause at any time, and speed is measured elsewhere.
settings.register_profile(
    "suite", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

MEASURED = ("proto", "transports", "kit", "app")  # the folders that have to cover the packages


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Measure no coverage elsewhere: tracing these tests takes longer than running them."""
    for item in items:
        if item.path.relative_to(Path(__file__).parent).parts[0] not in MEASURED:
            item.add_marker("no_cover")
