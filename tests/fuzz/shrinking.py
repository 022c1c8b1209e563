"""Makes an input that fails smaller."""

from collections.abc import Callable


def failure(check: Callable[[bytes], None], data: bytes) -> Exception | None:
    """What a check raises for an input, if anything."""
    try:
        check(data)
    except Exception as error:
        return error
    return None


def shrunk(check: Callable[[bytes], None], data: bytes) -> bytes:
    """The smallest input that can be had by leaving parts out, and that fails as ``data`` does."""
    kind = type(failure(check, data))
    size = len(data)
    while size:
        place = 0
        while place < len(data):
            less = data[:place] + data[place + size :]
            if kind is not type(None) and type(failure(check, less)) is kind:
                data = less
            else:
                place += size
        size //= 2
    return data
