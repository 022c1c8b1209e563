"""Makes untrusted text safe for a terminal."""


def escaped(text: str) -> str:
    """Escape, as ``repr()`` does, what ends a line, commands a terminal or cannot be seen."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )
