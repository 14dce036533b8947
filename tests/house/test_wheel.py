"""What is published: the wheel in a clean environment, what it says of itself, the container, the release."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from tests.first_minute import first_minute

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CORE = {"rich", "numpy", "numba", "pyarrow", "clingo", "google-re2"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: building leaves its traces beside the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "presage", source / "presage", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        if _without_index(done.stderr):
            pytest.skip("the package index cannot be reached: setuptools is needed to build")
        pytest.fail(done.stderr)
    (built,) = folder.glob("*.whl")
    return built


def _without_index(said: str) -> bool:
    return any(word in said for word in ("No matching distribution", "NewConnectionError", "Connection", "timed out"))


def test_the_wheel_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    try:
        first_minute(wheel, tmp_path)
    except SystemExit as ended:
        if "pip install" in str(ended) and _without_index(str(ended)):
            pytest.skip("the package index cannot be reached")
        raise


def test_the_wheel_says_what_an_index_shows(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        said = HeaderParser().parsestr(packed.read(metadata).decode())
    assert said["Name"] == "presage-streams" and said["License-Expression"] == "Apache-2.0"
    assert {entry.split(",")[0] for entry in said.get_all("Project-URL")} >= {"Homepage", "Documentation", "Changelog"}
    assert any(entry.startswith("Development Status") for entry in said.get_all("Classifier"))
    assert {"presage/web/page/index.html", "presage/py.typed", "presage/examples/turbines/turbines.psg"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests", "bench", "docs"))]


def test_core_dependencies_are_bounded_above() -> None:
    bounds = {re.match(r"[\w-]+", text)[0]: text for text in PROJECT["dependencies"]}  # type: ignore[index]
    assert {name for name, text in bounds.items() if "<" in text} >= CORE


def _release() -> object:
    spec = importlib.util.spec_from_file_location("release", ROOT / ".github" / "release.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_release_needs_one_version_everywhere(tmp_path: Path) -> None:
    problems = _release().problems  # type: ignore[attr-defined]
    (tmp_path / "presage").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n')
    (tmp_path / "presage" / "__init__.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (2026-12-01)\n")
    assert problems("0.2.0", tmp_path) == []
    assert len(problems("0.3.0", tmp_path)) == 3
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0 (unreleased)\n")
    assert problems("0.2.0", tmp_path) == ["the changelog has no date for 0.2.0, but: unreleased"]
    # As things stand, only the date is missing.
    assert [said.split(" for ")[0] for said in problems(PROJECT["version"])] in ([], ["the changelog has no date"])


def test_nothing_that_people_read_names_the_other_package() -> None:
    """On package indexes `presage` is somebody else's."""
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "presage").rglob("*.py"),
        *(ROOT / "editors").rglob("*.md"),
    ]
    for page in pages:
        for found in re.finditer(r"pip install [^\n`]*", page.read_text()):
            assert not re.search(r"(?<![\w.-])presage(?![\w-]|\.\w)", found[0].replace("presage-streams", "")), (
                f"{page}: {found[0]}"
            )


def test_the_container_runs_as_a_user_without_rights() -> None:
    text = (ROOT / "Containerfile").read_text()
    last = text[text.rindex("\nFROM ") :]
    user = re.search(r"^USER (\S+)$", last, re.MULTILINE)
    assert user is not None and user[1].isdigit() and int(user[1]) > 1000
    assert last.index("\nUSER ") < last.index("\nENTRYPOINT ")


def test_the_container_is_built_and_starts(tmp_path: Path) -> None:
    for builder in ("podman", "docker"):
        if shutil.which(builder) and not subprocess.run([builder, "info"], capture_output=True).returncode:
            break
    else:
        pytest.skip("there is neither podman nor a running docker here")
    mark = tmp_path / "image"
    subprocess.run(
        [builder, "build", "--quiet", "--iidfile", str(mark), "-f", "Containerfile", "."], cwd=ROOT, check=True
    )
    image = mark.read_text().strip()
    started = [builder, "run", "--rm", "--read-only", "--tmpfs", "/tmp"]
    assert subprocess.run([*started, image, "--version"], capture_output=True, text=True, check=True).stdout.startswith(
        "presage "
    )
    who = subprocess.run([*started, "--entrypoint", "id", image, "-u"], capture_output=True, text=True, check=True)
    assert who.stdout.strip() == "10001"
    code = """
import pathlib, presage, subprocess, sys
example = pathlib.Path(presage.__file__).parent / "examples" / "turbines"
sys.exit(subprocess.run(["presage", "test", example]).returncode)
"""
    subprocess.run([*started, "--entrypoint", "python", image, "-c", code], check=True)
