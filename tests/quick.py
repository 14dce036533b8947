"""What a contributor asks for while writing, in under a minute: style, types and tests of what changed since main.

`make quick` runs it. Tests that were changed come first, then those that import what was changed; when the time is over
the rest is left to `make test`, and it is said how much that was.
"""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECONDS = 30.0
"""For the tests; style and types take the rest of the minute."""


def changed() -> list[Path]:
    """Files of Python that differ from main, or are new."""

    def git(*words: str) -> list[str]:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")

    main = next((name for name in ("origin/main", "main") if git("rev-parse", "-q", "--verify", name)[0]), "HEAD")
    base = git("merge-base", "HEAD", main)[0]
    names = {*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")}
    return sorted(ROOT / name for name in names if name.endswith(".py") and (ROOT / name).is_file())


def imported(path: Path) -> set[str]:
    """The modules that a file names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def concerned(files: list[Path]) -> list[Path]:
    """The tests to run, the nearest first."""
    names = {".".join(each.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for each in files}
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    own = [each for each in tests if each in files]
    others = {each: len(names & imported(each)) for each in tests if each not in own}
    house = [each for each in tests if each.name == "test_house.py"]
    nearest = sorted((each for each in others if others[each]), key=lambda each: -others[each])
    return list(dict.fromkeys([*own, *nearest, *house]))


class Minute:
    """Ends the tests when their time is over."""

    def __init__(self) -> None:
        self.left = 0
        # A test that is at work is left, too: some take longer than all the rest may.
        signal.signal(signal.SIGALRM, self._over)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)

    def _over(self, *_: object) -> None:
        said = f"the time is over: {self.left} tests are left to `make test`"
        raise pytest.exit.Exception(said, returncode=pytest.ExitCode.INTERRUPTED)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.left = len(items)

    def pytest_runtest_logfinish(self) -> None:
        self.left -= 1


def main() -> int:
    files = changed()
    if not files:
        print("nothing of Python changed since main")
        return 0
    texts = list(map(str, files))
    for words in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy", "--follow-imports=silent"]):
        if subprocess.run([sys.executable, "-m", *words, *texts], cwd=ROOT, check=False).returncode:
            return 1
    tests = concerned(files)
    status = int(pytest.main(["-x", "-n", "0", "--durations=5", *map(str, tests)], plugins=[Minute()])) if tests else 0
    signal.setitimer(signal.ITIMER_REAL, 0)
    return 0 if status in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.NO_TESTS_COLLECTED) else status


if __name__ == "__main__":
    sys.exit(main())
