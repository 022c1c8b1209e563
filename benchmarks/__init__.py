"""How fast the decoder is beside others, and how time and memory grow: ``python -m benchmarks``."""
