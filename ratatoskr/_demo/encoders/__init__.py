"""Encoders: the events of one answer to the frames of a server, one encoder for each dialect.

The frames have all that the official SDKs need, see docs/testing-clients.md. Decoding them with the
dialect of the same name gives the events back.
"""

from __future__ import annotations

from .anthropic import AnthropicEncoder
from .base import Encoder, Frame
from .gemini import GeminiEncoder
from .openai_chat import OpenAIChatEncoder
from .openai_responses import OpenAIResponsesEncoder
from .turn import TurnEncoder

__all__ = ["ENCODERS", "Encoder", "Frame", "TurnEncoder"]

ENCODERS: dict[str, type[Encoder]] = {
    encoder.dialect: encoder
    for encoder in (
        TurnEncoder,
        OpenAIChatEncoder,
        OpenAIResponsesEncoder,
        AnthropicEncoder,
        GeminiEncoder,
    )
}
