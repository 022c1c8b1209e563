"""Makes an input that fails smaller."""

from collections.abc import Callable

from ratatoskr_proto.testing._shrink import shrink


def failure(check: Callable[[bytes], None], data: bytes) -> Exception | None:
    """What a check raises for an input, if anything."""
    try:
        check(data)
    except Exception as error:
        return error
    return None


def shrunk(check: Callable[[bytes], None], data: bytes) -> bytes:
    """A smaller input that fails as ``data`` does."""
    kind = type(failure(check, data))
    if kind is type(None):
        return data
    return shrink(data, lambda less: type(failure(check, less)) is kind)
