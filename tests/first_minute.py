"""The first minute of somebody who has nothing but a wheel: `python tests/first_minute.py dist/presage_streams-….whl`.

Installs it into a clean environment, and does what the README says. Uses nothing of the repository, so that the release
workflow can run it on other systems; `test_wheel.py` runs it here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

READINGS = "time,device,level\n0,wt25,high\n1,wt25,high\n2,wt25,low\n"


class Newcomer:
    """Somebody with an environment, and a folder to play in."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        home = folder / "environment"
        venv.create(home, with_pip=True)
        self.bin = home / ("Scripts" if os.name == "nt" else "bin")
        self.folder = folder / "play"
        self.folder.mkdir()
        # Nothing of the repository may help: neither its folder nor what its environment says.
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PRESAGE"))
        }
        self.call("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[watch]")

    def call(self, program: str, *arguments: str, given: str | None = None) -> str:
        done = subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=self.folder, env=self.environment, input=given, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(
                f"{program} {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
            )
        return done.stdout

    def presage(self, *arguments: str, given: str | None = None) -> str:
        return self.call("presage", *arguments, given=given)

    def looks_at_the_page(self) -> None:
        arguments = [str(self.bin / "presage"), "watch", "--no-browser", "--port", "0"]
        with subprocess.Popen(
            arguments, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, encoding="utf-8"
        ) as server:
            try:
                assert server.stderr is not None
                said = server.stderr.readline()
                address = next(word for word in said.split() if word.startswith("http"))
                page = urllib.request.urlopen(address, timeout=30).read().decode()
                assert "<title>" in page and "gallery.js" in page, page
                shown = json.load(urllib.request.urlopen(address + "api/examples", timeout=30))
                assert "turbines" in [each["name"] for each in shown], shown
                example = urllib.request.urlopen(address + "turbines/", timeout=60).read().decode()
                assert "<title>" in example, example
            finally:
                server.terminate()


def first_minute(wheel: Path, folder: Path) -> None:
    somebody = Newcomer(wheel, folder)
    where = somebody.call("python", "-c", "import presage; print(presage.__file__)")
    assert str(somebody.bin.parent.resolve()) in str(Path(where.strip()).resolve()), where
    version = wheel.name.split("-")[1]
    assert somebody.presage("--version").strip() == f"presage {version}"

    somebody.presage("examples", "turbines")
    before = time.monotonic()
    lines = somebody.presage("run", "turbines/turbines.psg", "--facts", "turbines/facts.jsonl").splitlines()
    print(f"the first run took {time.monotonic() - before:.1f} s")
    statuses = {json.loads(line)["status"] for line in lines}
    assert statuses >= {"possible", "confirmed"}, lines
    told = somebody.presage(
        "explain", "turbines/turbines.psg", "--facts", "turbines/facts.jsonl", "--text", "malf(wt25)@0"
    )
    assert told.startswith("malf(wt25)@0"), told
    assert "partition" in somebody.presage("check", "turbines/turbines.psg", "--json")
    assert " ok" in somebody.presage("test", "turbines")

    (somebody.folder / "readings.csv").write_text(READINGS)
    somebody.presage("init", "readings.csv", "--into", "mine")
    assert " ok" in somebody.presage("test", "mine")
    assert "confirmed" in somebody.presage("repl", given="alarm(X) :- temp(X, high).\ntemp(wt25, high)@0.\n")
    somebody.looks_at_the_page()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        first_minute(Path(sys.argv[1]).resolve(), Path(made))
    print("fine")
