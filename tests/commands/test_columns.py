"""Files and tables by the column, many steps at a time: the same facts, answers and messages as one by one."""

from __future__ import annotations

import json
import random
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import csv, parquet

import presage
from presage.answers import Answers
from presage.answers.schema import answers_table
from presage.checking import check_program
from presage.io import columns as by_columns
from presage.io.columns import gather
from presage.io.facts import Checker, Fact, FactError
from presage.io.files import read_facts
from presage.run import passages as cutting
from presage.run import schedule
from presage.run.reasoner import reasoner_of
from presage.run.schedule import passages, steps

TURBINES = """
timeline discrete.
input temp(device, level) delay 1.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.
query malf(X).
"""
LASTING = """
timeline discrete.
input temp(device, level) delay 1.
warm(X) :- once[0,3] temp(X, high).
pair(X, Y) :- temp(X, high), temp(Y, low), X != Y.
lows :- temp(_, low).
query warm(X).
query pair(X, X2).
query lows.
"""
SEVERAL = """
timeline discrete.
input temp(device, level) delay 1.
two(X)@T :- temp(X, high)@T, temp(X, high)@T+1.
two(X)@T :- temp(X, low)@T, temp(X, odd)@T+2.
one(X)@T :- temp(X, L)@T, temp(X, L)@T+3.
query two(X).
query one(X).
"""
DENSE = """
timeline dense.
input temp(device, level).
warm(X) :- once[0,3/2] temp(X, high).
query warm(X).
"""
ABSENT = """
timeline discrete.
input temp(device, level) delay 1.
cold(X)@T :- temp(X, low)@T, not temp(X, high)@T+1.
query cold(X).
"""
PROGRAMS = {"turbines": TURBINES, "lasting": LASTING, "several": SEVERAL, "dense": DENSE, "absent": ABSENT}


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_columns, "SMALL", 0)
    monkeypatch.setattr(cutting, "FACTS_AT_ONCE", 16)


def checker(text: str) -> Checker:
    report = check_program(presage.parse(text))
    assert report.findings is not None
    subject = report.findings.watched
    return Checker(subject.program, subject.predicates, subject.discrete)


def stream(seed: int, delay: int = 1, count: int = 60) -> dict[str, list[Any]]:
    """Readings, some of which are late; names that must be quoted, and in any order."""
    chance = random.Random(seed)
    names = ["wt1", "wt10", "wt2", 'a "b"', "ä, b)", "x\\y", "Z"]
    times = [chance.randrange(25) for _ in range(count)]
    return {
        "device": [chance.choice(names) for _ in times],
        "level": [chance.choice(["high", "high", "low", "odd"]) for _ in times],
        "time": times,
        "arrives": [time + chance.choice([0, 0, 0, delay, delay + 1]) for time in times],
    }


def told(text: str, given: dict[str, list[Any]], emit: str | None, whole: bool) -> list[dict[str, Any]]:
    """The lines of a run, by passages or step by step."""
    report = check_program(presage.parse(text))
    reasoner = reasoner_of(report, emit)
    path = Path(given_path(given))
    facts, _ = gather([path], reasoner.checker, whole)
    assert bool(facts.arriving) == whole
    lines = []
    for answers in (passages if whole else steps)(reasoner, facts, None):
        found = answers.columns.json_lines(None) if isinstance(answers, Answers) and answers.columns else None
        if found is not None:
            assert bytes(found).decode() == "".join(
                json.dumps(answer.to_json(), ensure_ascii=False) + "\n" for answer in answers
            )
        lines += [answer.to_json() for answer in answers]
    return lines


_FOLDER: list[Path] = []


def given_path(given: dict[str, list[Any]]) -> str:
    path = _FOLDER[-1] / "temp.parquet"
    parquet.write_table(pyarrow.table(given), path)
    return str(path)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_passages_tell_what_steps_tell(name: str, seed: int, tmp_path: Path) -> None:
    _FOLDER.append(tmp_path)
    for emit in ("confirmed", "changes"):
        if name in ("lasting", "dense") and emit == "changes":
            continue
        given = stream(seed)
        assert told(PROGRAMS[name], given, emit, True) == told(PROGRAMS[name], given, emit, False), (name, emit)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("emit", ["confirmed", None])
def test_a_run_over_tables_is_as_many_pushes(name: str, emit: str | None) -> None:
    given = stream(7)
    program = presage.parse(PROGRAMS[name])
    whole, single = presage.Reasoner(program, emit=emit), presage.Reasoner(program, emit=emit)
    changes = whole.run({"temp": pyarrow.table(given)}, until=30)
    expected, late = [], []
    rows = list(zip(*given.values(), strict=True))
    for now in range(31):
        arriving = [("temp", row[:2], row[2]) for row in rows if row[3] == now]
        pushed = single.push(arriving, now)
        expected += list(pushed)
        late += list(pushed.late)
    assert [str(each) for each in changes] == [str(each) for each in expected]
    assert sorted(map(str, changes.late)) == sorted(map(str, late)) and late
    assert changes.table.to_pylist() == answers_table(list(changes), whole.subject.discrete).to_pylist()
    assert len(changes.table) == len(changes)
    assert whole.now == 30 and [str(each) for each in whole.answers()] == [str(each) for each in single.answers()]
    more = whole.run({}, until=40)
    assert [str(each) for each in more] == [str(each) for each in single.push([], 40)]
    with pytest.raises(presage.PresageError, match="time goes forward"):
        whole.run({"temp": pyarrow.table(given)})


def test_a_step_has_a_table_too() -> None:
    for emit in ("confirmed", None):
        reasoner = presage.Reasoner(presage.parse(TURBINES), emit=emit)
        for now in range(3):
            changes = reasoner.push([("temp", ("b", "high"), now), ("temp", ("a", "high"), now)], now)
        assert changes.table.column("answer").to_pylist() == [str(each).split(" ", 1)[1] for each in changes]
        assert changes.table.column("status").to_pylist()[-1] == "confirmed" if emit else True


def test_files_are_read_as_rows_are(tmp_path: Path) -> None:
    given = stream(3) | {"device": [*stream(3)["device"][:-2], "12", "0.50"]}
    table = pyarrow.table(given)
    rows = list(zip(*given.values(), strict=True))
    parquet.write_table(table, tmp_path / "temp.parquet")
    plain = table.take([place for place, row in enumerate(rows) if not set('",\\') & set(row[0])])
    csv.write_csv(plain, tmp_path / "temp.csv")
    lines = [
        {"pred": "temp", "args": [name if name != "12" else 12, level], "time": time, "arrives": at}
        for name, level, time, at in rows
    ]
    lines.insert(5, {"pred": "temp", "args": ["wt1", "high"], "from": 3, "to": 5})
    lines.insert(9, {"args": ["wt1", True], "time": 1.5, "pred": "temp"})
    text = "\n".join(json.dumps(line, ensure_ascii=place % 2 == 0) for place, line in enumerate(lines))
    (tmp_path / "facts.jsonl").write_text("\ufeff" + text + "\n\n", encoding="utf-8")
    for name in ("temp.parquet", "temp.csv", "facts.jsonl"):
        path = tmp_path / name
        facts, static = gather([path], checker(DENSE))
        assert facts.arriving and not static and len(facts.facts) == (2 if name == "facts.jsonl" else 0), name
        assert sorted(map(_shown, facts)) == sorted(map(_shown, read_facts([path], checker(DENSE)))), name
        assert facts.last == max(fact.last for fact in facts) and facts.first == min(fact.arrival for fact in facts)


def _shown(fact: Fact) -> str:
    return f"{fact.predicate} {fact.arguments!r} {fact.low} {fact.high} {fact.arrival}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "facts.jsonl",
            '{"pred": "temp", "args": ["a", "b"], "time": 1}\n{"pred": "temp", "args": ["a"], "time": 2}\n',
        ),
        ("facts.jsonl", '{"pred": "temp", "args": ["a", "high"], "time": -1}\n'),
        ("facts.jsonl", '{"pred": "tempo", "args": ["a", "high"], "time": 1}\n'),
        ("facts.jsonl", '{"pred": "temp", "args": ["a", "high"], "time": 01}\n'),
        ("facts.jsonl", '{"pred": "temp", "args": ["a", null], "time": 1}\n'),
        ("facts.jsonl", '{"pred": "temp", "args": ["a", "high"], "time": 1} x\n'),
        ("facts.jsonl", '{"pred": "temp", "args": ["a", "\\ud800"], "time": 1}\n'),
        ("temp.csv", "device,level,time\na,high,1\nb,,2\n"),
        ("temp.csv", "device,level,time\na,high,1\nb,low\n"),
        ("temp.csv", "device,level,time\na,high,1\nb,low,soon\n"),
        ("temp.csv", "device,level,tme\na,high,1\n"),
    ],
)
def test_messages_stay_as_they_are(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FactError) as expected:
        list(read_facts([path], checker(TURBINES)))
    with pytest.raises(FactError) as found:
        gather([path], checker(TURBINES))
    assert str(found.value) == str(expected.value)


def test_times_as_they_went_in(tmp_path: Path) -> None:
    text = TURBINES.replace("timeline discrete.", "timeline discrete.\ntick 1m.\nstart 2026-03-02T07:30:00Z.")
    path = tmp_path / "facts.jsonl"
    times = [f"2026-03-02T07:{30 + time}:00Z" for time in range(4) for _ in range(3)]
    lines = [{"pred": "temp", "args": [f"wt{place % 3}", "high"], "time": time} for place, time in enumerate(times)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "turbines.psg").write_text(text, encoding="utf-8")
    from presage.cli import main

    outputs = []
    for emit in ("changes", "confirmed"):
        for small in (0, 1 << 30):
            by_columns.SMALL = small
            out = tmp_path / f"{emit}{small}.jsonl"
            command = ["run", str(tmp_path / "turbines.psg"), "--facts", str(path), "--emit", emit]
            main([*command, "--zone", "Europe/Vienna", "--out", str(out)])
            outputs.append(out.read_text(encoding="utf-8"))
    assert outputs[0] == outputs[1] and outputs[2] == outputs[3]
    assert '"answer": "malf(wt0)@2026-03-02T08:30:00+01:00", "key": "malf(wt0)@2026-03-02T07:30:00Z"' in outputs[0]
    path.write_text(path.read_text() + '{"pred": "temp", "args": ["a", "high"], "time": 9}\n', encoding="utf-8")
    by_columns.SMALL = 0
    with pytest.raises(FactError, match=r"facts.jsonl:13: a number among timestamps"):
        gather([path], checker(text))


def test_answers_are_written_by_the_column(tmp_path: Path) -> None:
    from presage.cli import main

    (tmp_path / "turbines.psg").write_text(TURBINES, encoding="utf-8")
    parquet.write_table(pyarrow.table(stream(5, count=500)), tmp_path / "temp.parquet")
    for emit in ("changes", "confirmed"):
        for suffix in ("jsonl", "parquet"):
            command = ["run", str(tmp_path / "turbines.psg"), "--facts", str(tmp_path / "temp.parquet"), "--emit", emit]
            main([*command, "--out", str(tmp_path / f"out.{suffix}")])
        lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
        rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
        assert [line["answer"] for line in lines] == [row["answer"] for row in rows] and lines
        assert [line["because"] for line in lines] == [row["because"] for row in rows]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(3))
def test_strides_tell_what_single_steps_tell(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "FACTS_AT_ONCE", 10)
    report = check_program(presage.parse(PROGRAMS[name]))
    given = stream(seed, count=200)
    rows = sorted(zip(*given.values(), strict=True), key=lambda row: row[3])
    arriving = {
        at: [Fact("temp", row[:2], row[2], row[2], arrives=None if row[2] == at else at) for row in own]
        for at, own in groupby(rows, key=lambda row: row[3])
    }
    for emit, closed in product(("confirmed", "changes"), (True, False)):
        if name in ("lasting", "dense") and emit == "changes":
            continue
        runs = []
        for way in (schedule.walk, schedule.strides):
            reasoner = reasoner_of(report, emit)
            read = reasoner.given
            arrivals = []
            for place, (at, facts) in enumerate(arriving.items()):
                # Facts come as they come: one by one, or in tables.
                columns = zip(*[(*fact.arguments, fact.low) for fact in facts], strict=True)
                table = pyarrow.table(dict(zip(("device", "level", "time"), map(list, columns), strict=True)))
                by_table = place % 2 == 0
                tables = read.read({"temp": table})[0] if by_table else []
                arrivals.append(schedule.Arrival(at, [] if by_table else facts, tables))
            told: list[Any] = []
            late: list[Any] = []
            for answers in way(reasoner, arrivals, 24, closed=closed):
                told += [answer.to_json() for answer in answers]
                late += [(str(fact), at) for fact, at in schedule.told_late(reasoner)]
            runs.append((told, late))
        assert runs[0] == runs[1] and runs[0][0] and runs[0][1]
