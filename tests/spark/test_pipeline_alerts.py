"""One pipeline file on Spark and in one process: alerts, times in a form of their own, time that goes by in silence."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from presage.pipeline.checking import check_pipeline
from tests import alertmanager
from tests.conftest import skip_without_spark
from tests.serving import Receiver, Served, lines_in

skip_without_spark()
pytestmark = [pytest.mark.xdist_group("pipelines"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]

PROGRAM = """
timeline discrete.
tick 1m.
input temp(device, level) delay 1m.
hot(X) :- temp(X, high), once[1,1] temp(X, high).
query hot(X) bad.
"""
FILE = """
program = "program.psg"
checkpoint = "{checkpoint}"
trigger = "available-now"
shards = 2

[sources.temp]
format = "csv"
path = "readings"
schema = { machine = "string", level = "string", at = "string" }
columns = { device = "machine" }
time = "at"
time_format = "%d.%m.%Y %H:%M"

[alerts.hot]
text = "{X} is hot at {time}, {count}"
pending = false
resolve_after = "3m"

[sinks.told]
format = "lines"
path = "{alerts}.jsonl"
alerts = true

[sinks.out]
format = "lines"
path = "{alerts}_answers.jsonl"
statuses = ["confirmed"]

[spark]
master = "local[2]"
"""


def pipeline(folder: Path, checkpoint: str = "checkpoint", alerts: str = "spark", **changes: str) -> Path:
    text = FILE.replace("{checkpoint}", checkpoint).replace("{alerts}", alerts)
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    (folder / "program.psg").write_text(PROGRAM)
    file = folder / f"{alerts}.toml"
    file.write_text(text)
    return file


def add(folder: Path, name: str, *rows: tuple[str, str, int]) -> None:
    """Readings of machines, at minutes of a day."""
    (folder / "readings").mkdir(exist_ok=True)
    lines = [f"{who},{level},02.03.2026 {at // 60:02d}:{at % 60:02d}\n" for who, level, at in rows]
    (folder / "readings" / name).write_text("machine,level,at\n" + "".join(lines))


def run(file: Path, spark: Any, more: Any = None, stop: threading.Event | None = None) -> Any:
    from presage.spark.pipeline.running import RunningPipeline

    checked = check_pipeline(file, {})
    assert checked.ok, checked.text()
    running = RunningPipeline(checked, lambda part, lines: None, spark=spark, say=said.append)
    if more is not None:
        more(running)
    running.run(stop or threading.Event())
    return running


said: list[str] = []
"""What was said of the pipelines that ran."""


def alerts(path: Path) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "seq"} for line in lines_in(path)]


FIRST = [
    ("a", "high", 10),
    ("a", "high", 11),
    ("b", "high", 11),
    ("b", "high", 12),
    ("a", "high", 12),
    ("z", "low", 13),
]
SECOND = [("a", "high", 30), ("a", "high", 31), ("c", "low", 50)]


def test_the_same_file_tells_the_same_alerts(tmp_path: Path, spark: Any) -> None:
    add(tmp_path, "1.csv", *FIRST)
    run(pipeline(tmp_path), spark)
    add(tmp_path, "2.csv", *SECOND)
    run(pipeline(tmp_path), spark)
    served = Served(tmp_path / "unused")
    served.folder = tmp_path
    pipeline(tmp_path, "state", "served").rename(tmp_path / "pipeline.toml")
    served.start(wait=False)
    assert served.process is not None and served.process.wait(120) == 0, served.said
    told = alerts(tmp_path / "spark.jsonl")
    assert told == alerts(tmp_path / "served.jsonl")
    assert [(line["state"], line["text"], line["severity"]) for line in told] == [
        ("firing", "a is hot at 2026-03-02T00:11:00Z, 1", "critical"),
        ("firing", "b is hot at 2026-03-02T00:12:00Z, 1", "critical"),
        ("resolved", "a is hot at 2026-03-02T00:12:00Z, 2", "critical"),
        ("resolved", "b is hot at 2026-03-02T00:12:00Z, 1", "critical"),
        ("firing", "a is hot at 2026-03-02T00:31:00Z, 1", "critical"),
        ("resolved", "a is hot at 2026-03-02T00:31:00Z, 1", "critical"),
    ]
    answers = [line["answer"] for line in lines_in(tmp_path / "spark_answers.jsonl")]
    assert sorted(answers) == sorted(line["answer"] for line in lines_in(tmp_path / "served_answers.jsonl"))
    numbers = [line["seq"] for name in ("spark", "spark_answers") for line in lines_in(tmp_path / f"{name}.jsonl")]
    assert len(numbers) == len(set(numbers))


def crashed(folder: Path, told: bytes | None) -> None:
    """As after a death of the driver before Spark had noted the last micro-batch, and, if so, its lines."""
    last = max((folder / "checkpoint/commits").glob("[0-9]*"), key=lambda path: int(path.name))
    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)
    if told is not None:
        (folder / "checkpoint/presage.told").write_bytes(told)
        (folder / "checkpoint/.presage.told.crc").unlink(missing_ok=True)


def test_what_a_crash_repeats_is_told_once(tmp_path: Path, spark: Any) -> None:
    """To a file, which says how far it is; a webhook gets the same numbers again, or nothing where it had all of it."""
    hook = Receiver()
    file = pipeline(tmp_path)
    with file.open("a") as more:
        more.write(f'[sinks.hook]\nformat = "webhook"\nurl = "{hook.url}/x"\nalerts = true\n')
    add(tmp_path, "1.csv", *FIRST)
    run(file, spark)
    before = (tmp_path / "checkpoint/presage.told").read_bytes()
    add(tmp_path, "2.csv", *SECOND)
    run(file, spark)
    whole = lines_in(tmp_path / "spark.jsonl")

    def posted() -> list[int]:
        return [line["seq"] for _, body, _ in hook.got for line in body["lines"]]

    once = [line["seq"] for line in whole]
    assert posted() == once
    crashed(tmp_path, None)
    run(file, spark)
    assert lines_in(tmp_path / "spark.jsonl") == whole and posted() == once
    crashed(tmp_path, before)
    run(file, spark)
    again = [number for number in once if number > json.loads(before[before.index(b"{") :])["number"]]
    assert lines_in(tmp_path / "spark.jsonl") == whole and posted() == once + again and again
    hook.close()


def test_a_micro_batch_that_every_sink_has_is_not_needed_again(tmp_path: Path, spark: Any) -> None:
    """Spark goes on only where it was worked out all the same."""
    add(tmp_path, "1.csv", *FIRST)
    sinks = '[sinks.folder]\nformat = "parquet"\npath = "answers"\n'
    file = pipeline(tmp_path)
    text = file.read_text()
    file.write_text(text[: text.index("[alerts.hot]")] + sinks + text[text.index("[spark]") :])
    run(file, spark)
    crashed(tmp_path, None)
    add(tmp_path, "2.csv", *SECOND)
    run(file, spark)
    assert {path.name for path in (tmp_path / "answers").glob("batch=*")} == {"batch=0", "batch=1"}


def test_other_alerts_go_on_from_those_that_stand(tmp_path: Path, spark: Any) -> None:
    add(tmp_path, "1.csv", *FIRST)
    run(pipeline(tmp_path), spark)
    assert [line["state"] for line in alerts(tmp_path / "spark.jsonl")] == ["firing", "firing"]
    add(tmp_path, "2.csv", ("d", "low", 14))
    run(pipeline(tmp_path, **{"pending = false": 'severity = "page"'}), spark)
    told = [(line["state"], line["severity"]) for line in alerts(tmp_path / "spark.jsonl")[2:]]
    assert told == [("resolved", "critical"), ("firing", "page")] * 2


def test_receivers_that_refuse_are_waited_for_and_what_they_never_take_is_put_aside(tmp_path: Path, spark: Any) -> None:
    hook = Receiver()
    hook.status, hook.refuses = 503, "b is hot"
    file = pipeline(tmp_path)
    with file.open("a") as more:
        more.write(f'[sinks.hook]\nformat = "webhook"\nurl = "{hook.url}/x"\nalerts = true\n')
    add(tmp_path, "1.csv", *FIRST)
    problems: list[str] = []

    def later(running: Any) -> None:
        def mend() -> None:
            while not (running.receivers is not None and running.receivers.problems):
                time.sleep(0.05)
            problems.extend(running.receivers.problems)
            hook.status = 200

        threading.Thread(target=mend, daemon=True).start()

    running = run(file, spark, later)
    assert any("503" in each and "told again" in each for each in said)
    assert "503" in problems[0] and running.measures.refusals["hook"] > 0 and running.measures.aside["hook"] == 1
    assert [line["text"] for _, body, _ in hook.got for line in body["lines"]] == [
        "a is hot at 2026-03-02T00:11:00Z, 1"
    ]
    (aside,) = (tmp_path / "checkpoint").glob("presage.refused-hook-*.json")
    assert "b is hot" in json.loads(aside.read_text())["line"]["text"]
    hook.close()


@pytest.mark.skipif(bool(alertmanager.why_not()), reason=alertmanager.why_not())
def test_a_real_alertmanager(tmp_path: Path, spark: Any) -> None:
    with alertmanager.manager(tmp_path / "manager") as manager:
        file = pipeline(tmp_path)
        with file.open("a") as more:
            more.write(f'[sinks.manager]\nformat = "alertmanager"\nurl = "{manager.url}"\n')
        add(tmp_path, "1.csv", *FIRST)
        run(file, spark)
        assert [said.split(" at ")[0] for _, said in manager.standing()] == ["a is hot", "b is hot"]
        add(tmp_path, "2.csv", *SECOND)
        run(file, spark)
        assert manager.standing() == []


def test_time_goes_by_when_nothing_comes(tmp_path: Path, spark: Any) -> None:
    """Answers come, and alerts are over, after the silence that the file names."""
    file = pipeline(
        tmp_path,
        **{
            'trigger = "available-now"': 'trigger = "100ms"\nclock = "2s"', "%d.%m.%Y %H:%M": "s", '"3m"': '"3s"',
            'schema = { machine = "string", level = "string", at = "string" }':
            'schema = { machine = "string", level = "string", at = "bigint" }',
        },
    )  # fmt: skip
    (tmp_path / "program.psg").write_text(PROGRAM.replace("tick 1m", "tick 1s").replace("delay 1m", "delay 1s"))
    (tmp_path / "readings").mkdir()
    begin = 1772409600
    rows = [f"a,high,{begin}\n", f"a,high,{begin + 1}\n"]
    (tmp_path / "readings/1.csv").write_text("machine,level,at\n" + "".join(rows))
    stop = threading.Event()

    def until_it_is_over() -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end and len(lines_in(tmp_path / "spark.jsonl")) < 2:
            time.sleep(0.1)
        stop.set()

    threading.Thread(target=until_it_is_over, daemon=True).start()
    run(file, spark, stop=stop)
    assert [(line["state"], line["now"]) for line in alerts(tmp_path / "spark.jsonl")] == [
        ("firing", "2026-03-02T00:00:01Z"), ("resolved", "2026-03-02T00:00:04Z"),
    ]  # fmt: skip


def test_silence_is_counted_from_the_last_fact_and_the_same_again() -> None:
    """Moments are in milliseconds, ticks of 2 s here; facts that are late are facts too."""
    from presage import parse
    from presage.spark.idle import clock_of
    from presage.spark.job import Job
    from presage.spark.packs import NO_SOURCE

    job = Job(parse("tick 2s. input p(x). q(X) :- p(X). query q(X)."), "changes", idle=5000)
    meta: dict[str, Any] = {}
    before: Any = None

    def batch(*packs: tuple[int, int]) -> tuple[Any, bool] | None:
        nonlocal before, meta
        rows = [{"source": source, "last": str(last)} for source, last in packs]
        again = dict(meta)
        found = clock_of(job, meta, before, rows)  # type: ignore[arg-type]
        assert clock_of(job, again, before, rows) == found and again == meta  # type: ignore[arg-type]
        meta = json.loads(json.dumps(meta))
        before = before if found is None else found[0]
        return found

    moment, facts = NO_SOURCE, 0
    assert batch((moment, 100_000)) is None
    assert batch((facts, 7), (moment, 101_000)) == (7, True)
    assert batch((moment, 105_999)) == (7, False)
    assert batch((moment, 106_000)) == (9, False)
    assert batch((moment, 109_900)) == (11, False)
    assert batch((facts, 3)) == (11, True)  # late, and no moment tells when it came
    assert batch((moment, 110_000)) == (11, True)
    assert batch((moment, 114_999)) == (11, False)
    assert batch((moment, 120_000)) == (16, False)
    assert batch((facts, 40), (moment, 121_000)) == (40, True)
