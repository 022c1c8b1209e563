"""HTTP without I/O: what is sent, what its answer is, and the body of that."""
