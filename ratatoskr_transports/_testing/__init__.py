"""The conformance run for transports."""
