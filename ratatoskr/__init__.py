"""Ratatoskr's presenters: the command line, the terminal app and the demo server."""
