"""Turns docstrings, which are written for readers of the code, into Markdown for the reference: a
block that follows "::" is code, and ``docs/errors.md`` is a link to that page.
"""

import re
from typing import Any

import griffe


class Docstrings(griffe.Extension):
    """Changes each docstring as it is loaded."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            text = obj.docstring.value.replace("::\n\n", ":\n\n")
            link = r"[docs/\1.md](../\1.md)"
            obj.docstring.value = re.sub(r"docs/([\w-]+)\.md", link, text)
