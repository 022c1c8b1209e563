"""HTTP without I/O: requests, the heads of responses, and bodies."""
