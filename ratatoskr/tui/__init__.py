"""The terminal app: a chat with a server whose answers are streams."""

from .app import AppState, RatatoskrApp
from .events_app import EventsApp

__all__ = ["AppState", "EventsApp", "RatatoskrApp"]
