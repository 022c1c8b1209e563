"""Settings for the whole suite, and which of its tests are measured."""

import contextlib
import gc
import importlib
import pkgutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# No deadline: a shared machine may pause at any time, and speed is measured elsewhere.
settings.register_profile(
    "suite", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

MEASURED = ("proto", "transports", "kit", "app")  # the folders that have to cover the packages
PACKAGES = ("ratatoskr_proto", "ratatoskr_transports", "ratatoskr")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Measure no coverage where it takes longer than the test: outside these folders, and of
    properties, where Hypothesis is most of what would be traced.
    """
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder not in MEASURED or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("no_cover")


class Coverage:
    """Stops and starts what measures coverage: where it is on, tracing takes half of the time.

    A worker of pytest-xdist has two, one inside the other, and the inner one is read. pytest-cov
    stops that one alone, and then the outer one goes on, at the same cost.
    """

    inner = None
    runs = True

    def stop(self):
        coverage = sys.modules.get("coverage")
        while coverage and (running := coverage.Coverage.current()):
            running.stop()
            self.inner = self.inner or running
        self.runs = False

    def start(self):
        if self.inner and not self.runs:
            self.inner.start()
        self.runs = True


coverage = Coverage()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Measure how the packages are imported, and nothing else before the first test. What is
    collected stays to the end, so that no collection of garbage need go through it.
    """
    if "coverage" in sys.modules:
        for package in map(importlib.import_module, PACKAGES):
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                with contextlib.suppress(ImportError):  # what was not built
                    importlib.import_module(module.name)
    coverage.stop()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Measure the tests that have to cover the packages, and the servers that they share."""
    if item.get_closest_marker("no_cover"):
        coverage.stop()
    else:
        coverage.start()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    finally:
        if item.get_closest_marker("no_cover"):
            coverage.stop()  # pytest-cov stops the inner one for the test, and starts it again
