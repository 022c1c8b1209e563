"""Which of the transports' tests are measured."""

import httpx2
import pytest
from support.adapters import Adapter


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Both generations of httpx go through the same lines, and one of them is measured: to trace
    the libraries takes longer than to run them."""
    for item in items:
        adapter = item.callspec.params.get("adapter") if hasattr(item, "callspec") else None
        if isinstance(adapter, Adapter) and adapter.library is httpx2:
            item.add_marker("no_cover")
