"""The commands, one module each: their options, and the code that they run."""
