"""Ratatoskr's transports: from a URL to an iterator of events.

Import the functions from the adapter of your library, such as
``from ratatoskr_transports.httpx import stream_turn``; the adapters are ``httpx``, ``anyio`` and
``trio``. Here are the streams that they give, and ``SseExchange`` for event loops of your own,
which needs extra ``h11``. See docs/transports.md.
"""

from typing import TYPE_CHECKING, Any

from ._http.body import Decoder
from ._streams.labels import error_label
from ._streams.sources import Source, SourceLost, SyncSource
from ._streams.streams import EventStream, SyncEventStream, SyncTurnStream, TurnStream

if TYPE_CHECKING:
    from ._http.sse_exchange import SseExchange

__all__ = [
    "Decoder",
    "EventStream",
    "Source",
    "SourceLost",
    "SseExchange",
    "SyncEventStream",
    "SyncSource",
    "SyncTurnStream",
    "TurnStream",
    "error_label",
]


def __getattr__(name: str) -> Any:
    # Only the exchange needs h11, so only asking for it imports that.
    if name == "SseExchange":
        from ._http.sse_exchange import SseExchange

        return SseExchange
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
