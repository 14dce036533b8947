"""Where there is nowhere to write: file systems that are full or read-only, homes that are not there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent.parent / "presage"
PROGRAM = "input p(x) delay 1.\nq(X) :- p(X).\nquery q(X).\n"


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "q.psg").write_text(PROGRAM)
    facts = [f'{{"pred": "p", "args": ["a{place}"], "time": 0}}\n' for place in range(2000)]
    (tmp_path / "facts.jsonl").write_text("".join(facts))
    return tmp_path


@pytest.mark.parametrize(
    "call",
    [
        ["run", "q.psg", "--facts", "facts.jsonl", "--emit", "confirmed"],
        ["check", "q.psg"],
        ["fmt", "q.psg"],
        ["ask", "q.psg", "--facts", "facts.jsonl", "--at", "0", "q(X)"],
        ["--version"],
        ["run", "--help"],
    ],
)
def test_a_full_disk_is_told(call: list[str], given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is written does not hang on who computes it, and compiling takes as long as others let it.
    monkeypatch.setenv("PRESAGE_KERNELS", "python")
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "presage", *call],
            cwd=given,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert found.returncode == 1
    assert "No space left on device (writing to standard output)" in found.stderr
    assert "Traceback" not in found.stderr and "Exception ignored" not in found.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_outputs_are_written_to_by_nobody(closed: str, given: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a traceback, nor answers in a file that happens to get the number of an output."""
    monkeypatch.setenv("PRESAGE_KERNELS", "python")
    call = f"{sys.executable} -m presage run q.psg --facts facts.jsonl --out answers.jsonl {closed}"
    found = subprocess.run(["sh", "-c", call], cwd=given, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stderr == "" and "{" not in found.stdout
    assert len((given / "answers.jsonl").read_text().splitlines()) == 2000


START = """
import sys
import numpy as np
from presage import notices
notices.listen(lambda text: print(text, file=sys.stderr))
from presage.kernels.waiting import bucket_numbers
print(bucket_numbers(np.array([7]), 1)[1])
"""
"""The least that compiles something."""


def read_only(command: str, package: Path = PACKAGE) -> list[str]:
    """A command that sees the package on a read-only file system, with a home that does not exist."""
    mounts = f"mount --bind {package} {package} && mount -o remount,ro,bind {package}"
    return ["unshare", "-m", "sh", "-c", f"{mounts} && {command}"]


def may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(read_only("true"), capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="file systems cannot be mounted here")
@pytest.mark.parametrize("place", ["temporary", "beside", "memory"])
def test_read_only_containers(place: str, given: Path, tmp_path: Path) -> None:
    """As in a container: neither the package nor a home can be written to, and perhaps no temporary directory; perhaps
    it was compiled while the container was built."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    package = Path(shutil.copytree(PACKAGE, tmp_path / "presage", ignore=shutil.ignore_patterns("__pycache__")))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/proc/nobody",
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PRESAGE_KERNELS": "compiled",
    }
    run = f"{sys.executable} {given}/start.py"
    (given / "start.py").write_text(START)

    def started(command: list[str]) -> str:
        found = subprocess.run(
            command, cwd=given, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert (found.returncode, found.stdout) == (0, "7\n"), found.stderr
        return found.stderr

    if place == "memory":
        # Nor where Python looks for a temporary directory besides.
        command = f"mount -t tmpfs -o ro none {temporary} && mount -o bind,ro {given} {given} && "
        command += "for each in /tmp /var/tmp /usr/tmp; do "
        command += (
            f"[ -d $each ] && mount --bind $each $each && mount -o remount,ro,bind $each; done; cd {given} && {run}"
        )
        assert "kept in memory only" in started(read_only(command, package))
        return
    if place == "beside":
        (package / "kernels" / "__pycache__").mkdir()
        assert "preparing, once" in started(["sh", "-c", run])
        assert list((package / "kernels" / "__pycache__").glob("*.nbi"))
    for start in ("first", "second"):
        said = started(read_only(run, package))
        assert f"kept in {temporary}/presage-kernels-{os.getuid()}" in said
        assert ("preparing, once" in said) == (start == "first" and place == "temporary")
        (folder,) = temporary.iterdir()
        assert folder.stat().st_mode & 0o077 == 0


def test_somebody_elses_folder_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in it would be loaded as code."""
    from presage.kernels import keeping

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "nowhere")
    ours = tmp_path / f"presage-kernels-{os.getuid()}"
    assert list(keeping._elsewhere()) == [ours]
    ours.chmod(0o777)
    assert list(keeping._elsewhere()) == []
    ours.rmdir()
    (tmp_path / "theirs").mkdir(mode=0o700)
    ours.symlink_to(tmp_path / "theirs")
    assert list(keeping._elsewhere()) == []
