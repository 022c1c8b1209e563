"""The conformance run for transports: its server, its client and its checks."""
