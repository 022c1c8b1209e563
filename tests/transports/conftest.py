"""Which of the transports' tests run by default, and which are measured."""

from pathlib import Path

import httpx2
import pytest
import trustme
from support.adapters import Adapter

import ratatoskr_transports._streams.loops

# Each does what two others do: the one is httpx2 as `httpx2` is, and sync as `httpx-sync` is, the
# other has the code of `anyio-asyncio` and the loop of `trio`.
COMBINED = ("httpx2-sync", "anyio-trio")
# Where a loop or a library decides, and each combination counts.
EVERY_COMBINATION = {
    "test_cancellation",
    "test_entering",
    "test_faults",
    "test_happy_turn",
    "test_leaks",
    "test_opening_bounds",
    "test_readers",
    "test_real_server",
    "test_testing",
    "test_time",
    "test_timeouts",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Both generations of httpx go through the same lines, and one of them is measured: to trace
    the libraries takes longer than to run them.
    """
    for item in items:
        adapter = item.callspec.params.get("adapter") if hasattr(item, "callspec") else None
        if item.path.parent != Path(__file__).parent or not isinstance(adapter, Adapter):
            continue
        if adapter.library is httpx2:
            item.add_marker("no_cover")
        if adapter.name in COMBINED and item.path.stem not in EVERY_COMBINATION:
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def _one_authority(tmp_path_factory):
    """One certificate to trust. To read all that are usual takes longer than a test."""
    file = tmp_path_factory.mktemp("authority") / "one.pem"
    trustme.CA().cert_pem.write_to_path(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


class Clock:
    """Stands in for the module ``time``, and only moves when a test moves it."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def tick(self, piece):
        """Let each piece of a body take a second, as a ``tap``."""
        self.now += 1


@pytest.fixture
def clock(monkeypatch):
    """The clock that streams look at for their event timeout."""
    clock = Clock()
    monkeypatch.setattr(ratatoskr_transports._streams.loops, "time", clock)
    return clock
