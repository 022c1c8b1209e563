"""Settings for the whole suite."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# No deadline: a shared machine may pause at any time, and speed is measured elsewhere.
settings.register_profile(
    "suite", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

MEASURED = ("proto", "transports", "kit", "app")  # the folders that have to cover the packages


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Measure no coverage where it takes longer than the test: outside these folders, and of
    properties, where Hypothesis is most of what would be traced.
    """
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder not in MEASURED or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("no_cover")
