"""Coverage-guided fuzzing; docs/fuzzing.md says how to run it.

Each target is a module with ``check(data)``, which raises for an input that breaks a rule, and
``seeds()``, which gives inputs to begin with.
"""

TARGETS = ("wire", "compiled", "turn", "dialects", "exchange", "encode", "recording")
