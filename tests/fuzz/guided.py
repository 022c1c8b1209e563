"""Runs one target under atheris, with the options of libFuzzer; run.py starts it."""

import importlib
import sys

import atheris

# What guides the fuzzer. What the targets import has to be imported here for the first time.
INSTRUMENTED = ["ratatoskr", "ratatoskr_proto", "ratatoskr_transports", "h11"]

if __name__ == "__main__":
    name, *options = sys.argv[1:]
    with atheris.instrument_imports(include=INSTRUMENTED):
        target = importlib.import_module(f"fuzz.{name}")
    atheris.Setup([sys.argv[0], *options], target.check)
    atheris.Fuzz()
