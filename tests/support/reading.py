"""Reads a stream over any adapter, with a callback for each item and a client to configure."""

from collections.abc import Callable
from typing import Any

from .adapters import Adapter
from .fault_servers import trusting_context


def read_with_client(
    adapter: Adapter,
    function: str,
    url: str,
    on_item: Callable[[Any], object] = lambda item: None,
    *,
    limit: int | None = None,
    follow_redirects: bool = False,
    **options: Any,
) -> list[Any]:
    """Read ``limit`` items, or all, call ``on_item`` with each, and leave the stream."""
    items: list[Any] = []

    def wants_no_more(item: Any) -> bool:
        items.append(item)
        on_item(item)
        return len(items) == limit

    async def read(stream: Any) -> None:
        async with stream:
            async for item in stream:
                if wants_no_more(item):
                    break

    if not adapter.is_httpx:
        call = getattr(adapter.module, function)
        adapter.run(lambda: read(call(url, ssl_context=trusting_context(), **options)))
        return items
    client = adapter.make_client(10.0, 10.0, trusting_context())
    client.follow_redirects = follow_redirects
    if adapter.is_sync:
        with client, getattr(adapter.module, f"{function}_sync")(client, url, **options) as stream:
            for item in stream:
                if wants_no_more(item):
                    break
        return items

    async def read_over_client() -> None:
        async with client:
            await read(getattr(adapter.module, function)(client, url, **options))

    adapter.run(read_over_client)
    return items
