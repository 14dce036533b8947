"""An Alertmanager for tests, from Debian's package, on the loopback interface."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serving import free_port

NAMES = ("prometheus-alertmanager", "alertmanager")


def _program() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def why_not() -> str:
    """Why tests with Alertmanager cannot run; empty if they can."""
    return "" if _program() else "Alertmanager is not installed: apt-get install prometheus-alertmanager"


class Manager:
    def __init__(self, url: str) -> None:
        self.url = url

    def standing(self) -> list[tuple[str, str]]:
        """The alerts that stand: whether each is pending, and what it says."""
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts", timeout=10) as answer:
            found = json.load(answer)
        return sorted((each["labels"].get("alertstate", ""), each["annotations"]["summary"]) for each in found)


@contextmanager
def manager(folder: Path) -> Iterator[Manager]:
    folder.mkdir(exist_ok=True)
    (folder / "manager.yml").write_text("route:\n  receiver: nobody\nreceivers:\n- name: nobody\n")
    found = Manager(f"http://127.0.0.1:{free_port()}")
    program = _program()
    assert program is not None
    process = subprocess.Popen(
        [
            program, "--config.file=manager.yml", "--storage.path=kept", "--cluster.listen-address=",
            f"--web.listen-address={found.url.removeprefix('http://')}",
        ],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(200):
            try:
                found.standing()
                break
            except OSError:
                time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        process.wait(30)
