"""What the frames of servers mean: the dialects that come with the package, and the base of others.

``TurnDecoder(dialect=OPENAI_CHAT)`` reads one. See docs/dialects.md.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ._anthropic import ANTHROPIC
from ._dialect import Complete, Dialect
from ._gemini import GEMINI
from ._openai_chat import OPENAI_CHAT
from ._openai_responses import OPENAI_RESPONSES
from ._turn import TURN

#: The dialects by name.
DIALECTS: Mapping[str, Dialect[Any]] = MappingProxyType(
    {dialect.name: dialect for dialect in (TURN, OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI)}
)

__all__ = [
    "ANTHROPIC",
    "DIALECTS",
    "GEMINI",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "TURN",
    "Complete",
    "Dialect",
]
