"""Refuses a release whose tag, package and changelog do not name the same version: `release.py 0.2.0`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def problems(version: str, root: Path = ROOT) -> list[str]:
    found = []
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    if declared != version:
        found.append(f"pyproject.toml says {declared}")
    said = re.search(r'^__version__ = "(.*)"$', (root / "presage" / "__init__.py").read_text(), re.MULTILINE)
    if said is None or said[1] != version:
        found.append(f"presage/__init__.py says {said[1] if said else 'nothing'}")
    latest = re.search(r"^## (\S+) \((.*)\)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    if latest is None or latest[1] != version:
        found.append(f"the changelog begins with {latest[1] if latest else 'no version'}")
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", latest[2]):
        found.append(f"the changelog has no date for {version}, but: {latest[2]}")
    return found


if __name__ == "__main__":
    if wrong := problems(sys.argv[1]):
        sys.exit(f"{sys.argv[1]} cannot be released: " + "; ".join(wrong))
