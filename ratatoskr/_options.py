"""Kinds of options that more than one command takes."""

from __future__ import annotations

import math
from typing import Any

import click


class Number(click.FloatRange):
    """A number in a range. NaN is in none, though it compares as if it were in all."""

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, context)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, context)
        return number


ABOVE_0 = Number(min=0, min_open=True)
