"""Going on over another connection, as the commands and the app do it with ``--reconnect``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ratatoskr_proto import ReconnectPolicy

if TYPE_CHECKING:
    from logging import LogRecord

POLICY = ReconnectPolicy()


@contextlib.contextmanager
def waits_shown(show: Callable[[str, float], object]) -> Iterator[None]:
    """While the block is open, have ``show(line, seconds)`` called whenever a stream is about to
    wait so many seconds before it connects again; ``line`` is the label that says so.
    """
    import logging  # only here, since commands without a stream start faster without it

    logger = logging.getLogger("ratatoskr_transports")

    def see(record: LogRecord) -> bool:
        seconds = getattr(record, "seconds", None)  # as docs/resume.md says
        if seconds is not None:
            show(record.getMessage(), seconds)
        return True

    level = logger.level
    logger.addFilter(see)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeFilter(see)
