"""The commands, one module each: options, and what to run with them."""
