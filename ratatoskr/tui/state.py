"""What the app is doing, and what the user can do meanwhile."""

from __future__ import annotations

import enum


class AppState(enum.Enum):
    """What the app is doing."""

    IDLE = "idle"
    STREAMING = "streaming"


HINTS = {
    AppState.IDLE: "Type a message; Enter sends it",
    AppState.STREAMING: "Esc cancels; the next message can be typed meanwhile",
}
