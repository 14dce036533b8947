"""Exactly once: a stream whose driver or workers are killed at random moments, and what it leaves in the end.

Answers must be those of the embedded run, line by line, each once; in PostgreSQL, where there is one, each answer's
last line. `make kill` does it many times.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests import postgres
from tests.conftest import skip_without_spark
from tests.spark.test_spark_shards import embedded, given_by, job_of, plain, turbines

skip_without_spark()
ROOT = Path(__file__).parent.parent.parent
KILLS = int(os.environ.get("PRESAGE_KILLS", "0"))
LONGEST = 420
FAR = 60
HERE = "local[2,4]"
"""A task whose worker dies is run again, as it is on a cluster."""
PROCESSES = "local-cluster[2,1,1024]"
"""A cluster on this machine, whose executors are processes of their own."""
Standing = dict[str, tuple[str, int]]
"""The last status of each answer, and since when."""
pytestmark = pytest.mark.xdist_group("pipelines")


@pytest.fixture(scope="module")
def table() -> Iterator[postgres.Database | None]:
    """PostgreSQL, where it is installed."""
    if postgres.why_not():
        yield None
    else:
        with postgres.serving() as started:
            yield started


def write_input(folder: Path, seed: int, batches: int) -> tuple[Counter[str], Standing]:
    """A file for each micro-batch. Gives the lines to expect, and the last of each answer."""
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
    last = {each.answer: (each.status, int(each.now)) for each in answers}
    return Counter(plain(each.to_json()) for each in answers), last


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


class Stream:
    """The stream as a process, started again whenever it is gone."""

    def __init__(self, folder: Path, master: str, table: postgres.Database | None) -> None:
        self.folder = folder
        self.words = ["tests.killed_stream", str(folder), master, *([] if table is None else [str(table.port)])]
        self.start()

    def start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        environment.pop("SPARK_CONF_DIR", None)
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *self.words],
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


def kill(process: subprocess.Popen[bytes], victim: str, chance: random.Random) -> bool:
    """Whether there was one to kill."""
    if victim == "driver":
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    wanted = {"worker": "presage.spark.workers", "executor": "CoarseGrainedExecutorBackend"}[victim]
    found = [pid for pid, called in below(process.pid).items() if wanted in called]
    if not found:
        return False
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def run_and_kill(
    folder: Path, victims: list[str], chance: random.Random, table: postgres.Database | None, master: str = HERE
) -> None:
    """Runs the stream to its end, killing as it goes."""
    left = list(victims)
    stream = Stream(folder, master, table)
    for _ in range(8 * len(victims) + 4):
        if left and wait_for(folder, stream.process, progress(folder) + chance.randint(0, 3)):
            time.sleep(2 * chance.random() ** 2)
            if kill(stream.process, left[0], chance):
                left.pop(0)
        elif stream.process.wait(LONGEST) == 0 and (folder / "finished").exists():
            assert not left, f"the stream ended before all were killed: {left}"
            return
        if stream.process.poll() is not None:
            stream.start()
    pytest.fail(f"the stream does not end: {(folder / 'log').read_text()[-2000:]}")


def check(folder: Path, lines: Counter[str], standing: Standing, table: postgres.Database | None) -> None:
    found = written(folder / "out")
    assert not lines - found, "lost"
    assert not found - lines, "told twice, or never to be told"
    if table is not None:
        rows = table.run(f'select answer, status, now from "{folder.name}"')
        assert {answer: (status, now) for answer, status, now in rows} == standing


@pytest.mark.skipif(KILLS > 0, reason="the long version runs")
def test_killed_once(tmp_path: Path, table: postgres.Database | None) -> None:
    lines, standing = write_input(tmp_path / "in", 7, 4)
    run_and_kill(tmp_path, ["worker", "driver"], random.Random(7), table)
    check(tmp_path, lines, standing, table)


@pytest.mark.skipif(not KILLS, reason="make kill")
@pytest.mark.parametrize("seed", range(max(1, KILLS // 4)))
def test_killed_again_and_again(tmp_path: Path, seed: int, table: postgres.Database | None) -> None:
    chance = random.Random(seed)
    lines, standing = write_input(tmp_path / "in", seed, 12)
    run_and_kill(tmp_path, [chance.choice(["driver", "worker"]) for _ in range(4)], chance, table)
    check(tmp_path, lines, standing, table)


@pytest.mark.skipif(not KILLS, reason="make kill")
@pytest.mark.parametrize("seed", range(max(1, KILLS // 20)))
def test_killed_executors(tmp_path: Path, seed: int, table: postgres.Database | None) -> None:
    lines, standing = write_input(tmp_path / "in", seed, 8)
    run_and_kill(tmp_path, ["executor", "executor"], random.Random(seed), table, PROCESSES)
    check(tmp_path, lines, standing, table)


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
            check(tmp_path, lines, {}, None)
