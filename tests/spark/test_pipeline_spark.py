"""Pipelines on a real Spark: from files to sinks, on from a checkpoint, and what is said when something is wrong."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from presage.checking import check_text
from presage.cli.demo import write_demo
from presage.errors import PresageError
from presage.pipeline.checking import check_pipeline
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from tests.conftest import skip_without_spark

skip_without_spark()
ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.xdist_group("pipelines"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    """The pipeline of the demonstration."""
    write_demo(tmp_path / "farm")
    return tmp_path / "farm"


def edit(farm: Path, *changes: tuple[str, str], more: str = "") -> None:
    path = farm / "pipeline.toml"
    text = path.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text + more)


def run(farm: Path, spark: Any, **environment: str) -> tuple[Any, list[dict[str, Any]]]:
    """Runs to the end; gives the pipeline that ran, and the lines it showed."""
    from presage.spark.pipeline.running import RunningPipeline

    checked = check_pipeline(farm / "pipeline.toml", environment)
    assert checked.ok, checked.text()
    shown: list[dict[str, Any]] = []
    running = RunningPipeline(checked, lambda part, lines: shown.extend(lines), spark=spark)
    running.run(threading.Event())
    return running, shown


def refused(farm: Path, spark: Any, **environment: str) -> str:
    with pytest.raises(PresageError) as found:
        run(farm, spark, **environment)
    return str(found.value)


def add_readings(farm: Path, name: str, rows: list[dict[str, Any]]) -> None:
    path = farm / "readings" / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def expected(farm: Path, until: int | None = None) -> Counter[str]:
    """What the embedded run confirms of the readings; a stream does not look at the time of its latest fact yet."""
    report = check_text((farm / "turbines.psg").read_text())
    reasoner = Reasoner(report.program, emit="confirmed", report=report)
    facts = []
    for path in sorted((farm / "readings").iterdir()):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            entry = {"pred": "temp", "args": [row["machine"], row["level"]], "time": row["ts"]}
            if row["ts"] is not None:
                facts.append(reasoner.checker.fact(entry, path.name))
    return Counter(at(answer.answer) for answers in steps(reasoner, facts, until) for answer in answers)


def at(answer: str) -> str:
    """An answer at a minute of the demo's program, as its readings say their times."""
    atom, minute = answer.rsplit("@", 1)
    hours, minutes = divmod(int(minute), 60)
    return f"{atom}@2026-01-01T{hours:02d}:{minutes:02d}:00Z"


def confirmed(lines: list[dict[str, Any]]) -> Counter[str]:
    return Counter(line["answer"] for line in lines if line["status"] == "confirmed")


def archived(farm: Path) -> list[dict[str, Any]]:
    from pyarrow import dataset

    return dataset.dataset(farm / "answers", format="parquet", partitioning="hive").to_table().to_pylist()


def test_a_stream_from_files_to_sinks_and_on_from_its_checkpoint(farm: Path, spark: Any) -> None:
    edit(
        farm, ("per_batch = 1", 'per_batch = 3\nbad_rows = "skip"'),
        more='\n[sinks.late]\nformat = "json"\npath = "late"\nlate = true\n[metrics]\nfile = "m.prom"\n',
    )  # fmt: skip
    add_readings(farm, "005.json", [{"machine": "wt1", "level": "low", "ts": None}])
    running, shown = run(farm, spark)
    found = running.measures
    assert confirmed(shown) == expected(farm, 23) == Counter({at("malf(wt3)@14"): 1})
    assert Counter(line["status"] for line in shown) == Counter({k: v for k, v in found.answers.items() if v})
    assert Counter(
        (row["answer"], f"{row['now']:%Y-%m-%dT%H:%M:%SZ}", row["status"]) for row in archived(farm)
    ) == Counter((line["answer"], line["now"], line["status"]) for line in shown)
    assert (found.facts, found.skipped, found.late, found.batches) == (1001, 1, 0, 2)
    open_now = {line["answer"] for line in shown if line["status"] == "possible"}
    open_now -= {line["answer"] for line in shown if line["status"] in ("confirmed", "refuted")}
    assert found.open == len(open_now) > 0 and found.state_bytes > 0 and found.clock == "24"
    assert found.lag_seconds is not None and found.lag_seconds > 0
    assert (farm / "m.prom").read_text() == found.text()
    # Spark's own metrics have the same numbers.
    from presage.spark.pipeline.listening import _metrics_system

    sources = _metrics_system(spark).getSourcesByName("presage")
    gauges = [sources.apply(place).metricRegistry().getGauges() for place in range(sources.size())]
    assert found.facts in [each["facts_total"].getValue() for each in gauges]

    # Nothing new, nothing told; a late fact is left out and kept apart; then it goes on where it was.
    assert run(farm, spark)[1] == []
    rows = [("wt34", "high", 25), ("wt1", "low", 29), ("wt1", "high", 3)]
    stamped = [{"machine": who, "level": level, "ts": f"2026-01-01T00:{at:02}:00Z"} for who, level, at in rows]
    add_readings(farm, "006.json", stamped)
    running, more = run(farm, spark)
    assert confirmed(more) == Counter({at("malf(wt34)@22"): 1, at("malf(wt34)@23"): 1})
    assert running.measures.late == 1
    assert at("temp(wt1, high)@3") in "".join(path.read_text() for path in (farm / "late").rglob("part-*.json"))
    assert confirmed(archived(farm)) == confirmed(shown) + confirmed(more)

    # The folder of answers belongs to this checkpoint; and a checkpoint that is damaged is told of.
    shutil.move(farm / "checkpoint", farm / "kept")
    said = refused(farm, spark)
    assert "[sinks.archive] answers: the folder holds the answers of another run" in said
    shutil.rmtree(farm / "checkpoint")
    shutil.copytree(farm / "kept", farm / "checkpoint")
    last = max((farm / "checkpoint/offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    for damaged in (last, farm / "checkpoint/metadata"):
        whole = damaged.read_bytes()
        damaged.write_bytes(b"no")
        damaged.with_name(f".{damaged.name}.crc").unlink(missing_ok=True)
        said = refused(farm, spark)
        assert f"the checkpoint {farm}/checkpoint cannot be gone on from" in said, said
        assert "Restore it from a copy, or start with a new one" in said and "\n" not in said
        damaged.write_bytes(whole)
    assert confirmed(archived(farm)) == confirmed(shown) + confirmed(more)


INTERVALS = """
timeline dense.
input on(machine, level: int).
static limit(level: int, name).
hot(M, N) :- once[0,2] on(M, V), V > 3, limit(V, N).
query hot(M, N). query on(M, V).
"""


def test_rules_sources_and_shards_change_on_a_checkpoint(farm: Path, spark: Any) -> None:
    """What is unchanged tells nothing twice, what is new has history; a new source is read from its beginning."""
    from presage.spark.pipeline.running import RunningPipeline

    held = sorted((farm / "readings").iterdir())[-1]
    kept = held.read_text()
    held.unlink()
    edit(farm, ("per_batch = 1", "per_batch = 5"))
    _, first = run(farm, spark)
    (farm / "readings" / held.name).write_text(kept)
    (farm / "halts").mkdir()
    (farm / "halts" / "1.json").write_text(json.dumps({"machine": "wt3", "ts": "2026-01-01T00:14:00Z"}) + "\n")
    program = farm / "turbines.psg"
    program.write_text(
        program.read_text() + "input halt(machine) delay 10m. both(X) :- temp(X, high), halt(X). query both(X).\n"
        "calm(X) :- temp(X, low). query calm(X).\n"
    )
    source = '[sources.halt]\nformat = "json"\npath = "halts"\ntime = "to_timestamp(ts)"\n'
    source += 'schema = { machine = "string", ts = "string" }\n\n[sources.temp]'
    edit(farm, ("[sources.temp]", source), more="")
    checked = check_pipeline(farm / "pipeline.toml", {})
    assert checked.ok, checked.text()
    second: list[dict[str, Any]] = []
    said: list[str] = []
    going_on = RunningPipeline(
        checked, lambda part, lines: second.extend(lines), spark=spark, say=said.append, backfill=True
    )
    going_on.run(threading.Event())
    assert "malf(X): unchanged" in said and "both(X): new" in said and "calm(X): new" in said
    lines = first + second
    of_new = [line for line in second if line["answer"].startswith(("both", "calm"))]
    assert Counter((line["answer"], line["status"]) for line in lines if line["answer"].startswith("malf")) == Counter(
        (line["answer"], line["status"]) for line in _whole(farm, "malf")
    )
    assert confirmed([line for line in of_new if line["answer"].startswith("calm")]) == confirmed(_whole(farm, "calm"))
    # With other shards, which take over with the next facts; without what it reads it does not go on.
    readings = farm / "readings"
    for number, (before, shards) in enumerate(((2, 5), (5, 3))):
        edit(farm, (f"shards = {before}", f"shards = {shards}"))
        moment = f"2026-01-01T0{number + 1}:0"
        for minute in (0, 1, 2):
            rows = [{"machine": f"wt{each}", "level": "high", "ts": f"{moment}{minute}:00Z"} for each in range(6)]
            path = readings / f"more-{number}{minute}.json"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            os.utime(path, (2_000_000_000 + 10 * number + minute,) * 2)
        edit(farm, ("per_batch = 5" if not number else "per_batch = 1", "per_batch = 1"))
        running, more = run(farm, spark)
        lines += more
        assert running.going_on.said[0].startswith(f"shards: {before} become {shards}, with the first facts that come")
        assert ("a micro-batch has" in str(running.going_on.said)) == (shards == 5)
    found = Counter((line["answer"], line["status"]) for line in lines if line["answer"].startswith("malf"))
    assert found == Counter((line["answer"], line["status"]) for line in _whole(farm, "malf"))
    edit(farm, (source, "[sources.temp]"))
    program.write_text(program.read_text().replace("both(X) :- temp(X, high), halt(X). query both(X).", ""))
    program.write_text(program.read_text().replace("input halt(machine) delay 10m.", ""))
    assert "the checkpoint reads `halt`: keep the declaration" in refused(farm, spark)


def _whole(farm: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a query in a run over all readings, up to the clock."""
    report = check_text((farm / "turbines.psg").read_text())
    reasoner = Reasoner(report.program, report=report)
    facts = []
    for path in sorted((farm / "readings").iterdir()):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            entry = {"pred": "temp", "args": [row["machine"], row["level"]], "time": row["ts"]}
            facts.append(reasoner.checker.fact(entry, path.name))
    last = max(fact.arrival for fact in facts)
    found = [answer.to_json() for answers in steps(reasoner, facts, last - 1) for answer in answers]
    return [{**line, "answer": at(line["answer"])} for line in found if line["answer"].startswith(name)]


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
def test_run_on_spark_prints_the_lines_of_the_embedded_run(
    emit: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from presage.cli import main
    from presage.spark.pipeline import running

    program, facts = ROOT / "examples/turbines/turbines.psg", ROOT / "examples/turbines/facts.jsonl"
    if emit == "confirmed":
        program, facts = tmp_path / "hot.psg", tmp_path / "facts.jsonl"
        program.write_text(INTERVALS)
        entries = [
            {"pred": "on", "args": ["a", 5], "from": 1, "to": "7/3", "bounds": "[)"},
            {"pred": "on", "args": ["b", 2], "time": 2, "arrives": 3},
            {"pred": "on", "args": ["b", 7], "time": 3},
            {"pred": "limit", "args": [5, "five"]},
            {"pred": "limit", "args": [7, "seven"]},
        ]
        facts.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    monkeypatch.setattr(running, "quiet_session", lambda *_: _Shared(spark))
    lines = []
    for engine in ("embedded", "spark"):
        words = ["run", str(program), "--facts", str(facts), "--emit", emit, "--engine", engine]
        assert main(words) == 0
        lines.append(Counter(capsys.readouterr().out.splitlines()))
    assert lines[0] == lines[1] and lines[0]


def test_the_command_on_spark_has_the_options_of_a_run_and_columns_of_texts_and_numbers(
    tmp_path: Path, spark: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from presage.cli import main
    from presage.spark.pipeline import running

    program, facts = tmp_path / "mixed.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ninput p(x, y) delay 1.\ninput q(x).\nstatic s(x).\n"
        "h(X, Y) :- p(X, Y), once[0,2] q(X), s(X).\nquery h(X, Y).\n"
    )
    rows: list[tuple[str, list[Any], int | None]] = [
        ("p", ["a", 1], 2), ("p", [7, "b"], 3), ("p", ["7", 0.5], 3), ("p", ["a", 2], 4),
        ("q", [7], 2), ("q", ["a"], 2), ("s", ["a"], None), ("s", [7], None), ("s", ["7"], None),
    ]  # fmt: skip
    facts.write_text("".join(json.dumps({"pred": p, "args": a, "time": t}) + "\n" for p, a, t in rows if t is not None))
    known = tmp_path / "known.jsonl"
    known.write_text("".join(json.dumps({"pred": p, "args": a}) + "\n" for p, a, t in rows if t is None))
    monkeypatch.setattr(running, "quiet_session", lambda *_: _Shared(spark))
    for more in (["--every", "3"], ["--emit", "confirmed", "--because", "--every", "3"]):
        lines = []
        for engine in ("embedded", "spark"):
            words = ["run", str(program), "--facts", str(facts), "--static", str(known), "--engine", engine]
            assert main([*words, *more]) == 0
            lines.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
        assert lines[0] == lines[1]
        sure = [line for line in lines[0] if line["status"] == "confirmed"]
        assert {line["answer"] for line in sure} == {"h(7, b)@3", "h(a, 1)@2", "h(a, 2)@4"}
        assert all(line["because"] for line in sure)
        assert all(line["now"] % 3 == 0 for line in lines[0][:-1])


class _Shared:
    """The session of all tests, which nobody stops."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def stop(self) -> None:
        """The other tests go on."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)


BATCH = [('checkpoint = "checkpoint"\n', 'mode = "batch"\n'), ("per_batch = 1\n", "")]


@pytest.fixture
def batch(farm: Path) -> Path:
    text = (farm / "pipeline.toml").read_text()
    trigger = next(line for line in text.splitlines(True) if line.startswith("trigger"))
    edit(farm, *BATCH, (trigger, ""))
    return farm


def test_a_batch_settles_everything(batch: Path, spark: Any) -> None:
    _, shown = run(batch, spark)
    assert confirmed(shown) == expected(batch) == confirmed(archived(batch))
    assert not [
        line
        for line in shown
        if line["answer"] not in {each["answer"] for each in shown if each["status"] != "possible"}
    ]
    assert "the folder holds the answers of another run" in refused(batch, spark)


def test_what_only_spark_can_tell(batch: Path, spark: Any) -> None:
    good = (batch / "pipeline.toml").read_text()
    for before, after, said in (
        ('device = "machine"', 'device = "upper(machin)"', "pipeline.toml:9:13: `columns.device` of [sources.temp]:"),
        ('time = "ts"', 'time = "ts ts ts"', "pipeline.toml:10:1: `time` of [sources.temp]:"),
        ('time = "ts"', 'time = "ts"\nwhere = "level ="', "pipeline.toml:11:1: `where` of [sources.temp]:"),
        ('time = "ts"', 'time = "level = 3"', "`time` is boolean, which cannot be the `time` of a fact"),
        ('ts = "timestamp"', 'ts = "string"', "'nonsense' is not a time"),
        ("", "", "temp"),
    ):
        (batch / "pipeline.toml").write_text(good.replace(before, after))
        ts = "nonsense" if "string" in after else None
        add_readings(batch, "009.json", [{"machine": "wt1", "level": "low", "ts": ts}])
        message = refused(batch, spark)
        assert said in message and "\n" not in message and "Exception" not in message, message
        assert not (batch / "answers/batch=0").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_told_and_nothing_half_is_left(batch: Path, spark: Any, small_disk: Path) -> None:
    edit(batch, ('path = "answers"', f'path = "{small_disk}/answers"'))
    said = refused(batch, spark)
    assert f"[sinks.archive] {small_disk}/answers: No space left on device" in said
    assert not list((small_disk / "answers").glob("batch=*"))


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_the_command_stops_between_micro_batches_and_tells_no_secret(farm: Path, spark: Any, asked: int) -> None:
    text = (farm / "pipeline.toml").read_text()
    trigger = next(line for line in text.splitlines(True) if line.startswith("trigger"))
    edit(
        farm, (trigger, ""), ("per_batch = 1", "per_batch = 2"), more='"spark.presage.password" = "${FARM_PASSWORD}"\n'
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FARM_PASSWORD": "hunter2"}
    environment.pop("SPARK_CONF_DIR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "presage", "pipeline", str(farm / "pipeline.toml")], env=environment, cwd=farm,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 300
        while not (farm / "answers/batch=0").exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(asked)
        out, err = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, err
    # Quiet where nobody looks: answers are lines of JSON, and the only other words are the last.
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines and len(err.splitlines()) == 1 and "it goes on from checkpoint" in err, err
    assert "hunter2" not in out + err
    commits = [path.name for path in (farm / "checkpoint/commits").glob("[0-9]*")]
    assert len(commits) == len(list((farm / "answers").glob("batch=*")))
    edit(farm, ("shards = 2\n", 'shards = 2\ntrigger = "available-now"\n'))
    _, more = run(farm, spark, FARM_PASSWORD="hunter2")
    assert confirmed(lines) + confirmed(more) == expected(farm, 28)
