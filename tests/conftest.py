"""Settings for the whole suite."""

from hypothesis import HealthCheck, settings

# No deadline: a shared machine may pause at any time, and speed is measured elsewhere.
settings.register_profile(
    "suite", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")
