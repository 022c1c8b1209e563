"""The terminal app: a chat with a server whose answers are streams."""

from .app import AppState, RatatoskrApp

__all__ = ["AppState", "RatatoskrApp"]
