"""Input from the terminal that is not UTF-8, which ends an app of Textual with a traceback.

An old terminal sends it for the mouse beyond column 95, and one in Latin-1 for an umlaut.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def with_any_input(driver: Any) -> Any:
    """Return the driver class that reads on after input that is not UTF-8, which is left out with
    what came in the same read. A class that reads no bytes is returned as it is.
    """
    if not hasattr(driver, "run_input_thread"):
        return driver

    class Driver(driver):  # type: ignore[misc]
        def run_input_thread(self) -> None:
            while not self.exit_event.is_set():
                with suppress(UnicodeDecodeError):
                    super().run_input_thread()

    return Driver
