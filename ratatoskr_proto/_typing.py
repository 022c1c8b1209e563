"""Type variables with a default: type checkers know them everywhere, Python from 3.13 on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["TypeVar"]

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # never at run time; pyright lets no other have a default
else:
    import typing

    def TypeVar(name: str, *, default: Any, **options: Any) -> Any:
        """Make a type variable without its default, which only type checkers look at."""
        return typing.TypeVar(name, **options)
