"""Ratatoskr's presenters: the command line and what it is made of."""
