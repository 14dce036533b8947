"""How long the property tests look for counterexamples: briefly by default, at length on demand."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("short", max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))
