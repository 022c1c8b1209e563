"""The terminal app: a chat with a server whose answers are streams."""

from .app import RatatoskrApp
from .events_app import EventsApp
from .state import AppState

__all__ = ["AppState", "EventsApp", "RatatoskrApp"]
