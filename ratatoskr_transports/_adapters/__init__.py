"""Opening a stream with a library: h11 over anyio and trio, and clients of httpx."""
