"""Handing out the items of a stream, over any source of bytes."""
