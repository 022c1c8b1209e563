"""Which wire layer is in use: the one in C where it was built, else the one in Python.

``RATATOSKR_PURE=1`` in the environment chooses the one in Python. See docs/wire.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _wire


def choose(environment: Mapping[str, str]) -> Any:
    """Return the module to take the decoders from."""
    if environment.get("RATATOSKR_PURE") == "1":
        return _wire
    try:
        from . import _compiled
    except ImportError:  # it was not built, or for another kind of Python
        return _wire
    return _compiled


if TYPE_CHECKING:
    from ._wire import EventStreamDecoder, FrameDecoder
else:
    _chosen = choose(os.environ)
    EventStreamDecoder, FrameDecoder = _chosen.EventStreamDecoder, _chosen.FrameDecoder
    EventStreamDecoder.__module__ = __name__  # where pickle finds it, whichever it is

__all__ = ["EventStreamDecoder", "FrameDecoder"]
