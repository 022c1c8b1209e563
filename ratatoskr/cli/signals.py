"""Ends on SIGTERM or SIGHUP as on Ctrl-C, so that neither a recording nor the terminal of the app
is left half done.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def ending_as_by_ctrl_c() -> Iterator[None]:
    """While the block is open, let a signal that would end the process interrupt it as Ctrl-C does;
    after the block, end it by that signal.

    The event loops only know how to end on Ctrl-C. A process that ignores Ctrl-C or the signal is
    left as it is.
    """
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        signal.raise_signal(signal.SIGINT)

    before = {}
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])
