"""What the demo server answers."""
