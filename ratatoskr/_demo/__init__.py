"""The answers of the demo server."""
