"""Exactly once: a stream whose driver or workers are killed at random moments, and what it leaves in the end.

Answers must be those of the embedded run, line by line, each once. `make kill` does it many times.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.conftest import skip_without_spark
from tests.test_spark_shards import embedded, given_by, job_of, plain, turbines

skip_without_spark()
ROOT = Path(__file__).parent.parent
KILLS = int(os.environ.get("PRESAGE_KILLS", "0"))
LONGEST = 420
FAR = 60
pytestmark = pytest.mark.xdist_group("spark")


def write_input(folder: Path, seed: int, batches: int) -> tuple[Counter[str], dict[str, str]]:
    """A file for each micro-batch. Gives the lines to expect, and the last status of each answer."""
    case = turbines(seed)
    given = given_by(case, early=True)
    given.append(("temp", ("nobody", "low"), FAR, FAR))
    folder.mkdir(parents=True)
    for index in range(batches):
        part = given[index * len(given) // batches : (index + 1) * len(given) // batches]
        columns = {"device": [fact[1][0] for fact in part], "level": [fact[1][1] for fact in part]}
        path = folder / f"{index:04d}.parquet"
        parquet.write_table(
            pa.table(columns | {"time": [fact[2] for fact in part], "arrives": [fact[3] for fact in part]}), path
        )
        os.utime(path, (1_700_000_000 + index, 1_700_000_000 + index))
    job = job_of(case, "changes", 1, ("time", "arrives"))
    assert job is not None
    answers = embedded(job, given, FAR - 1)
    return Counter(plain(each.to_json()) for each in answers), {each.answer: each.status for each in answers}


def written(folder: Path) -> Counter[str]:
    """The lines of the files that Spark's log of the sink names: others are of attempts that did not count."""
    named: dict[str, str] = {}
    log = folder / "_spark_metadata"
    for path in sorted(log.iterdir(), key=lambda each: int(each.name.split(".")[0]) if each.name[0].isdigit() else -1):
        if path.name[0].isdigit():
            entries = [json.loads(line) for line in path.read_text().splitlines()[1:]]
            named |= {entry["path"]: entry["action"] for entry in entries}
    rows = [
        row for name in named for row in parquet.read_table(name.removeprefix("file:").replace("///", "/")).to_pylist()
    ]
    return Counter(plain(row) for row in rows)


def start(folder: Path, master: str = "") -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("SPARK_CONF_DIR", None)
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.killed_stream", str(folder), *([master] if master else [])],
            cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def progress(folder: Path) -> int:
    """How far the two queries are: what was planned and what was committed."""
    logs = [folder / top / part for top in ("checkpoint", "checkpoint-table") for part in ("offsets", "commits")]
    return sum(each.name.isdigit() for log in logs if log.is_dir() for each in log.iterdir())


def wait_for(folder: Path, process: subprocess.Popen[bytes], goal: int) -> bool:
    """Whether the stream came so far while it ran."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and process.poll() is None:
        if progress(folder) >= goal:
            return True
        time.sleep(0.02)
    return False


def below(pid: int) -> dict[int, str]:
    """The processes that descend from one, with how they were called."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = list(children.get(pid, []))
    for each in found:
        found.extend(children.get(each, []))
    called = {}
    for each in found:
        try:
            called[each] = Path(f"/proc/{each}/cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return called


def kill(process: subprocess.Popen[bytes], victim: str, chance: random.Random) -> None:
    if victim == "driver":
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return
    wanted = "pyspark.daemon" if victim == "worker" else "CoarseGrainedExecutorBackend"
    found = [pid for pid, called in below(process.pid).items() if wanted in called]
    if found:
        try:
            os.kill(chance.choice(found), signal.SIGKILL)
        except ProcessLookupError:
            return


def run_and_kill(folder: Path, victims: list[str], chance: random.Random, master: str = "") -> None:
    """Runs the stream to its end, killing as it goes."""
    left = list(victims)
    process = start(folder, master)
    for _ in range(4 * len(victims) + 4):
        if left and wait_for(folder, process, progress(folder) + chance.randint(1, 4)):
            time.sleep(chance.random() ** 2)
            kill(process, left.pop(0), chance)
            if process.poll() is not None:
                process = start(folder, master)
            continue
        process.wait(LONGEST)
        if (folder / "finished").exists():
            return
        process = start(folder, master)
    pytest.fail(f"the stream does not end: {(folder / 'log').read_text()[-2000:]}")


def check(folder: Path, lines: Counter[str], standing: dict[str, str]) -> None:
    found = written(folder / "out")
    assert not lines - found, "lost"
    assert not found - lines, "told twice, or never to be told"
    with sqlite3.connect(folder / "answers.sqlite") as table:
        assert dict(table.execute("select answer, status from answers")) == standing


@pytest.mark.skipif(KILLS > 0, reason="the long version runs")
def test_killed_once(tmp_path: Path) -> None:
    chance = random.Random(7)
    lines, standing = write_input(tmp_path / "in", 7, 5)
    run_and_kill(tmp_path, ["worker", "driver"], chance)
    check(tmp_path, lines, standing)


@pytest.mark.skipif(not KILLS, reason="make kill")
@pytest.mark.parametrize("seed", range(max(1, KILLS // 4)))
def test_killed_again_and_again(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines, standing = write_input(tmp_path / "in", seed, 12)
    run_and_kill(tmp_path, [chance.choice(["driver", "worker"]) for _ in range(4)], chance)
    check(tmp_path, lines, standing)


@pytest.mark.skipif(not KILLS, reason="make kill")
def test_killed_executors(tmp_path: Path) -> None:
    """On a cluster of processes of their own on this machine."""
    chance = random.Random(3)
    lines, standing = write_input(tmp_path / "in", 3, 8)
    run_and_kill(tmp_path, ["executor", "executor"], chance, "local-cluster[2,1,1024]")
    check(tmp_path, lines, standing)


def test_a_line_that_is_lost_or_doubled_is_seen(tmp_path: Path) -> None:
    """The check itself: it must fail where it should."""
    out = tmp_path / "out"
    (out / "_spark_metadata").mkdir(parents=True)
    parquet.write_table(pa.table({"status": ["confirmed"], "answer": ["p(a)@1"]}), out / "part.parquet")
    entry: dict[str, Any] = {"path": f"file://{out}/part.parquet", "action": "add"}
    (out / "_spark_metadata" / "0").write_text("v1\n" + json.dumps(entry) + "\n")
    line = plain({"status": "confirmed", "answer": "p(a)@1"})
    assert written(out) == Counter([line])
    for lines in (Counter([line, line]), Counter[str]()):
        with pytest.raises(AssertionError):
            check(tmp_path, lines, {})
