"""What comes through the machine's Maven: folders of jars, fetched once, from wherever Maven is told to look."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from presage.errors import PresageError

PROJECT = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>presage</groupId><artifactId>{name}</artifactId><version>1</version>
  <dependencies>
{parts}
  </dependencies>
</project>
"""
PART = (
    "    <dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
    "<exclusions>{}</exclusions></dependency>"
)
WITHOUT = "<exclusion><groupId>{}</groupId><artifactId>*</artifactId></exclusion>"


def said_by(folder: Path, *words: str) -> str:
    """What Maven says when it fails, run in a folder."""
    done = subprocess.run(["mvn", "-q", "-B", *words], cwd=folder, capture_output=True, text=True)
    return done.stdout.strip()[:500] or f"exit {done.returncode}" if done.returncode else ""


def project(name: str, artifacts: Iterable[str], without: Iterable[str] = ()) -> str:
    """A project that needs artifacts, `group:name:version`, and nothing of some groups that these would bring along."""
    left_out = "".join(map(WITHOUT.format, without))
    return PROJECT.format(name=name, parts="\n".join(PART.format(*each.split(":"), left_out) for each in artifacts))


def fetch_into(folder: Path, pom: str) -> None:
    """All jars that a project needs, where they are not there yet."""
    if (folder / "pom.xml").exists() and (folder / "pom.xml").read_text() == pom and any(folder.glob("*.jar")):
        return
    if shutil.which("mvn") is None:
        raise PresageError("it comes through Maven, and there is none: apt-get install maven")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Under its own name the project stands beside the jars only when they are all there.
    (folder / "asked.xml").write_text(pom)
    said = said_by(
        folder, "-f", "asked.xml", "dependency:copy-dependencies", "-DincludeScope=runtime",
        f"-DoutputDirectory={folder}",
    )  # fmt: skip
    if said:
        raise PresageError(f"Maven could not fetch it: {said}")
    (folder / "asked.xml").rename(folder / "pom.xml")
