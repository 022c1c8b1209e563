"""Type variables with a default: type checkers know them everywhere, Python from 3.13 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["TypeVar"]

if TYPE_CHECKING:
    from typing import TypeVar  # pyright wants typing_extensions, which is not needed otherwise
else:
    import typing

    def TypeVar(name: str, *, default: Any, **options: Any) -> Any:
        """Make a type variable without its default, which only type checkers look at."""
        return typing.TypeVar(name, **options)
