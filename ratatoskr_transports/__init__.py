"""Ratatoskr's transports."""
