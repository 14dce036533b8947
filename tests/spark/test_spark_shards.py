"""What workers do in a run on Spark, without Spark: marking, packing, shards, state, and their joint answers.

The union of what the shards tell must be what one reasoner tells. Cuts into micro-batches, numbers of shards, workers
that lose what they keep and tasks that run twice are drawn at random.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install presage-streams[spark]")

import numpy as np
import pyarrow as pa

from presage.answers import Answer
from presage.checking import check_text
from presage.errors import PresageError
from presage.io.facts import Fact, FactError
from presage.io.rows import column_names
from presage.plan.subformulas import Unsupported
from presage.run.choice import Choice
from presage.run.schedule import default_end, steps
from presage.spark import batch, history, shard_reasoner, streaming
from presage.spark.call import division_of
from presage.spark.facts import mark
from presage.spark.handing_over import at_work
from presage.spark.job import FrameSource, Job
from presage.spark.packs import Delivery, clock_packer, packer
from presage.spark.rows import unpacked
from presage.time.stretches import Stretch, TimeLine, union
from tests import random_hypotheses, random_programs
from tests.random_programs import Case

FAR = 30
"""A time at which everything is settled."""
Given = list[tuple[str, tuple[Any, ...], Any, Any]]


def given_by(case: Case, early: bool) -> Given:
    """Predicate, arguments, time (or from, to, bounds) and arrival, in the order of arrival."""
    found: Given = []
    for (name, row, time), arrives in case.facts:
        low = time[0] if isinstance(time, tuple) else time
        found.append((name, row, time, arrives if early else max(arrives, low)))
    return sorted(found, key=lambda fact: fact[3])


def job_of(case: Case, emit: str, shards: int, when: tuple[str, ...]) -> Job | None:
    report = check_text(case.text)
    if report.findings is None or not report.findings.strata.stratified:
        return None
    division = division_of(report, emit)
    key = division.columns
    predicates = report.findings.subject.predicates
    inputs = [each for each in predicates.values() if each.is_input and not each.is_static]
    sources = tuple(
        FrameSource(
            each.name, each.arity, when, tuple(column_names(each).index(name) for name in key.get(each.name, []))
        )
        for each in inputs
    )
    static = tuple((name, row) for name, row in case.statics if name in predicates)
    job = Job(
        report.program,
        emit,
        shards=shards if key else 1,
        sources=sources,
        static=static,
        everywhere=division.everywhere,
    )
    try:
        job.reasoner()
    except (Unsupported, PresageError):
        return None
    return job


def tables(job: Job, given: Given) -> Iterator[tuple[int, FrameSource, Any]]:
    """The facts as a table for each source, as Spark would hand them over."""
    for index, source in enumerate(job.sources):
        own = [fact for fact in given if fact[0] == source.predicate]
        if not own:
            continue
        columns: dict[str, Any] = {f"c{place}": [fact[1][place] for fact in own] for place in range(source.arguments)}
        times = [fact[2] if isinstance(fact[2], tuple) else (fact[2], fact[2], "[]") for fact in own]
        values = {"time": 0, "from": 0, "to": 1, "bounds": 2}
        for place, name in enumerate(source.when, source.arguments):
            cells = [fact[3] for fact in own] if name == "arrives" else [time[values[name]] for time in times]
            whole = all(isinstance(cell, int) for cell in cells)
            columns[f"c{place}"] = cells if whole else [str(cell) for cell in cells]
        yield index, source, pa.table(columns)


def facts_of(job: Job, given: Given) -> list[Fact]:
    found = []
    for name, row, time, arrives in given:
        low, high, bounds = time if isinstance(time, tuple) else (time, time, "[]")
        entry = {"pred": name, "args": list(row), "from": low, "to": high, "bounds": bounds, "arrives": arrives}
        found.append(job.checker.fact(entry, "fact"))
    return found


def plain(line: dict[str, Any]) -> str:
    """An answer line or a row, in one form: rows have all fields, and texts for values."""
    kept = {name: value for name, value in line.items() if name != "late" and value not in (None, [], ())}
    if "bindings" in kept:
        kept["bindings"] = {name: str(value) for name, value in dict(kept["bindings"]).items()}
    for way in [kept, *kept.get("ways", [])]:
        for name in ("now", "time", "from", "to", "decided_by"):
            if way.get(name) is not None:
                way[name] = str(way[name])
        for name in [each for each, value in way.items() if value in (None, [], {}, ())]:
            del way[name]
    return json.dumps(kept, sort_keys=True)


def embedded(job: Job, given: Given, until: Any = None) -> list[Answer]:
    return [answer for step in steps(job.reasoner(), facts_of(job, given), until) for answer in step]


def in_batch(job: Job, given: Given) -> list[dict[str, Any]]:
    """The batch run's own functions, one after the other, on tables."""
    arrivals: dict[Any, set[int]] = {}
    for _, source, table in tables(job, given):
        marked = mark(table, source, job)
        for place, time in enumerate(marked.arrivals):
            exact = job.checker.time(int(time) if isinstance(time, np.integer) else time, "")
            arrivals.setdefault(exact, set()).add(1 if marked.parts is None else marked.parts[place])
    if not arrivals:
        return []
    end = default_end(job.reasoner(), facts_of(job, given)) if job.state is None else max(arrivals)
    moments = () if job.discrete else tuple((time, batch.math.lcm(*arrivals[time])) for time in sorted(arrivals))
    clock = batch.BatchClock(min(arrivals), end, moments, edges=(2, 5, 9))
    alone = range(1 if job.state is None else job.shards)
    packs = [
        pa.record_batch([[shard], [-1], [-1], pa.array([None], pa.binary())], schema=batch._SCHEMA) for shard in alone
    ]
    for index, source, table in tables(job, given):
        packs += list(batch.packer(job, index, source, clock)(iter(table.to_batches())))
    ordered = pa.Table.from_batches(packs).sort_by([("shard", "ascending"), ("stretch", "ascending")])
    found = batch._runner(job, clock)(iter(ordered.to_batches(max_chunksize=5)))
    return [row for each in found for row in each.to_pylist()]


class Store:
    """The state of one shard, as Spark keeps it: what is written counts when the micro-batch is committed."""

    def __init__(self) -> None:
        self.committed: dict[str, dict[Any, Any]] = {"meta": {}, "log": {}, "snapshot": {}}
        self.current: dict[str, dict[Any, Any]] = {}

    def begin(self) -> None:
        self.current = {name: dict(held) for name, held in self.committed.items()}

    def commit(self) -> None:
        self.committed = self.current

    def getValueState(self, name: str, schema: str) -> Any:
        return _Value(self.current[name])

    def getMapState(self, name: str, key: str, value: str) -> Any:
        return _Map(self.current[name])


Stores = dict[int, Store]
"""The state of each shard, by what it is called in packs."""


class _Value:
    def __init__(self, held: dict[Any, Any]) -> None:
        self.held = held

    def exists(self) -> bool:
        return bool(self.held)

    def get(self) -> Any:
        return self.held[()]

    def update(self, value: Any) -> None:
        self.held[()] = value

    def clear(self) -> None:
        self.held.clear()


class _Map:
    def __init__(self, held: dict[Any, Any]) -> None:
        self.held = held

    def getValue(self, key: Any) -> Any:
        return self.held[key]

    def updateValue(self, key: Any, value: Any) -> None:
        self.held[key] = value

    def containsKey(self, key: Any) -> bool:
        return key in self.held

    def removeKey(self, key: Any) -> None:
        del self.held[key]

    def clear(self) -> None:
        self.held.clear()


def in_stream(job: Job, cuts: list[Given], chance: random.Random, stores: Stores | None = None) -> list[dict[str, Any]]:
    """Micro-batches through the stateful operator, with workers that forget and tasks that are run again."""
    stores = {} if stores is None else stores
    found: list[dict[str, Any]] = []
    for cut in cuts:
        found += to_stores(job, packs_of(job, cut), chance, stores)
    shard_reasoner._kept.clear()
    return found


def packs_of(job: Job, given: Given) -> list[dict[str, Any]]:
    return [
        pack
        for index, source, table in tables(job, given)
        for made in packer(job, index, source, at_work)(iter(table.to_batches(max_chunksize=3)))
        for pack in made.to_pylist()
    ]


def to_stores(job: Job, packs: list[Any], chance: random.Random, stores: Stores) -> list[dict[str, Any]]:
    """One micro-batch."""
    found: list[dict[str, Any]] = []
    for shard in {pack["shard"] for pack in packs}:
        stores.setdefault(shard, Store())
        own = [pack for pack in packs if pack["shard"] == shard]
        for _ in range(chance.choice([1, 1, 2])):
            if chance.random() < 0.3:
                shard_reasoner._kept.clear()
            stores[shard].begin()
            processor = streaming.Shard(job)
            processor.init(stores[shard])  # type: ignore[arg-type]
            rows = [
                line
                for row in processor.handleInputRows((shard,), iter(own), None)  # type: ignore[arg-type]
                if row["payload"] is not None
                for table in unpacked(job, row["payload"])
                for line in table.to_pylist()
            ]
        stores[shard].commit()
        found += rows
    return found


def cut(given: Given, chance: random.Random) -> list[Given]:
    edges = sorted(chance.sample(range(1, len(given)), min(len(given) - 1, chance.randint(0, 6)))) if given else []
    parts = [given[start:stop] for start, stop in zip([0, *edges], [*edges, len(given)], strict=True)]
    for part in parts:
        chance.shuffle(part)
    return parts


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("kind", ["changes", "confirmed", "discrete", "dense"])
def test_the_shards_of_a_batch_tell_what_one_reasoner_tells(seed: int, kind: str) -> None:
    if kind in ("changes", "confirmed"):
        case = random_hypotheses.make_case(seed)
    else:
        case = random_programs.make_case(seed, dense=kind == "dense")
    when = ("from", "to", "bounds", "arrives")
    job = job_of(case, "changes" if kind == "changes" else "confirmed", 3, when)
    if job is None:
        pytest.skip("not a program of the interval engine")
    given = given_by(case, early=True)
    if not given:
        pytest.skip("no facts")
    rows = [row for row in in_batch(job, given) if row["late"] is None]
    if kind == "dense":
        # When a shard looks hangs on its own facts, so stretches are cut differently: what they cover is the same.
        assert covered(rows) == covered([answer.to_json() for answer in embedded(job, given)])
        return
    assert Counter(map(plain, rows)) == Counter(plain(answer.to_json()) for answer in embedded(job, given))


COUNTED = [
    "q(K, N) :- N = count { V, T : window(4, hop 4) e(K, V)@T }.",
    "q(K, S) :- S = sum { V, T : window(3) e(K, V)@T }, S > 2.",
    "q(K, A, B) :- A = max { V, T : window(5, hop 2) e(K, V)@T }, B = avg { V, T : window(5, hop 2) e(K, V)@T }.",
    "q(K) :- count { V, T : window(4) e(K, V)@T } >= 3.",
    "q(K) :- e(K, V), V > 2, not once[1,2] e(K, V).",
]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", ["changes", "confirmed", "states"])
def test_shards_take_stretches_of_time_by_the_column(seed: int, kind: str) -> None:
    """Facts at whole times, with disorder and some that are late; numbers that are negative, and no whole ones."""
    chance = random.Random(seed)
    if seed % 2:
        case = random_hypotheses.make_case(seed)
        given = given_by(case, early=True)
    else:
        rule = COUNTED[seed // 2 % len(COUNTED)]
        values = chance.choice([[-2, 1, 3], [-2.5, 0.25, 2.0, 3.75]])
        case = Case(f"timeline discrete.\ninput e(k, v) delay {chance.choice([0, 2])}.\n{rule}\n", [])
        given = []
        for _ in range(chance.randrange(1, 40)):
            row, time = (chance.choice("abc"), chance.choice(values)), chance.randrange(16)
            given.append(("e", row, time, time + chance.randrange(4)))
        given.sort(key=lambda fact: fact[3])
    emit = "confirmed" if kind == "changes" and not seed % 2 else kind
    job = job_of(case, emit, 3, ("time", "arrives"))
    if job is None or not given or any(isinstance(fact[2], tuple) for fact in given):
        pytest.skip("not a program that runs so, or no facts")
    found = in_batch(job, given)
    reasoner = job.reasoner()
    expected = [answer for step in steps(reasoner, facts_of(job, given), None) for answer in step]
    expected += reasoner.end()
    lines = [row for row in found if row["late"] is None]
    assert Counter(map(plain, lines)) == Counter(plain(answer.to_json()) for answer in expected)
    assert len(reasoner.late) == len(found) - len(lines)


def covered(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[Stretch]]:
    """All times at which answers are confirmed, on dense time."""
    line, found = TimeLine(whole=False), dict[str, list[Stretch]]()
    for each in lines:
        assert each["status"] == "confirmed"
        time, low, high = (None if each.get(name) is None else Fraction(each[name]) for name in ("time", "from", "to"))
        bounds = each.get("bounds") or "[]"
        stretch = line.point(time) if time is not None else line.stretch(low, bounds[0] == "[", high, bounds[1] == "]")
        found.setdefault(each["answer"].rpartition("@")[0], []).append(stretch)
    return {atom: union(times) for atom, times in found.items()}


def confirmed(lines: list[dict[str, Any]], end: int) -> Counter[tuple[str, int]]:
    """Confirmed answers at each time point (discrete time)."""
    found: Counter[tuple[str, int]] = Counter()
    for line in lines:
        if line["status"] == "confirmed":
            atom = line["answer"].rpartition("@")[0]
            low, high = (line["time"],) * 2 if line.get("time") is not None else (line["from"], line["to"])
            for time in range(low, min(end if high is None else high, end) + 1):
                found[atom, time] += 1
    return found


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("kind", ["changes", "confirmed", "discrete"])
def test_a_stream_confirms_the_same_however_it_is_cut(seed: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST_LOG", 3000)
    hypothetical = kind in ("changes", "confirmed")
    case = random_hypotheses.make_case(seed) if hypothetical else random_programs.make_case(seed, dense=False)
    chance = random.Random(seed)
    when = ("time",) if hypothetical else ("from", "to", "bounds")
    job = job_of(case, "changes" if kind == "changes" else "confirmed", chance.choice([1, 2, 5]), when)
    if job is None:
        pytest.skip("not a program of the interval engine")
    given = given_by(case, early=False)
    if not given:
        pytest.skip("no facts")
    name, row, _, _ = given[0]
    far = [(name, row, FAR, FAR)]
    rows = in_stream(job, [*cut(given, chance), far], chance)
    assert not [row for row in rows if row["late"] is not None]
    expected = [answer.to_json() for answer in embedded(job, given + far, FAR - 1)]
    assert confirmed(rows, FAR - 1) == confirmed(expected, FAR - 1)


@pytest.mark.parametrize("seed", range(16))
def test_a_stream_with_arrivals_gives_the_lines_of_one_reasoner(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST_LOG", 3000)
    case, chance = random_hypotheses.make_case(seed), random.Random(seed)
    job = job_of(case, "changes", 4, ("time", "arrives"))
    assert job is not None
    given = given_by(case, early=True)
    if not given:
        pytest.skip("no facts")
    name, row, _, _ = given[0]
    far = [(name, row, FAR, FAR)]
    rows = in_stream(job, [*cut(given, chance), far], chance)
    expected = embedded(job, given + far, FAR - 1)
    assert Counter(plain(row) for row in rows if row["late"] is None) == Counter(
        plain(answer.to_json()) for answer in expected
    )


@pytest.mark.parametrize("seed", range(16))
def test_a_stream_goes_on_where_a_batch_over_history_ended(seed: int, tmp_path: Path) -> None:
    """With arrivals the lines are those of one reasoner over everything, whether they come from the one or the other:
    no gap and no repeat."""
    case, chance = random_hypotheses.make_case(seed), random.Random(seed)
    job = job_of(case, "changes", chance.choice([1, 3]), ("time", "arrives"))
    assert job is not None
    given = given_by(case, early=True)
    if len(given) < 2:
        pytest.skip("too few facts")
    end = chance.randrange(1, len(given))
    if chance.random() < 0.5:  # cut between two times, or within one
        end = next((at for at in range(end, len(given)) if given[at][3] > given[at - 1][3]), end)
    name, row, _, _ = given[0]
    far = [(name, row, FAR, FAR)]
    continued = replace(job, state=history.as_uri(tmp_path / "state"))
    lines = in_batch(continued, given[:end])
    lines += in_stream(continued, [*cut(given[end:], chance), far], chance)
    expected = embedded(job, given + far, FAR - 1)
    assert Counter(plain(row) for row in lines if row["late"] is None) == Counter(
        plain(answer.to_json()) for answer in expected
    )


def test_a_stream_without_its_history_is_told(tmp_path: Path) -> None:
    job = job_of(turbines(0), "changes", 2, ("time",))
    assert job is not None
    job = replace(job, state=history.as_uri(tmp_path / "state"))
    with pytest.raises(PresageError, match="no batch run has left the state of shard"):
        in_stream(job, [given_by(turbines(0), early=False)], random.Random(0))
    in_batch(job, given_by(turbines(0), early=False))
    other = replace(job, emit="confirmed")
    with pytest.raises(PresageError, match="belongs to another run: emit changed"):
        in_stream(other, [[("temp", ("wt1", "low"), 40, 40)]], random.Random(0))
    for path in (tmp_path / "state").iterdir():
        path.write_bytes(b"torn")
    with pytest.raises(PresageError, match="is damaged: run the batch over the history again"):
        in_stream(job, [[("temp", ("wt1", "low"), 40, 40)]], random.Random(0))


def test_a_damaged_checkpoint_is_told() -> None:
    job = job_of(turbines(0), "changes", 1, ("time",))
    assert job is not None
    stores: Stores = {}
    in_stream(job, [given_by(turbines(0), early=False)], random.Random(0), stores)
    for part, torn in (("meta", "{"), ("log", b"torn, torn, torn")):
        held = dict(stores[0].committed[part])
        stores[0].committed[part] = dict.fromkeys(held, (torn,))
        with pytest.raises(PresageError, match="the checkpoint is damaged"):
            in_stream(job, [[("temp", ("wt1", "low"), 40, 40)]], random.Random(0), stores)
        stores[0].committed[part] = held
    (delivery, *_), (meta,) = stores[0].committed["log"].values(), stores[0].committed["meta"].values()
    for place in range(len(delivery[0])):
        with pytest.raises(PresageError):
            Delivery.from_bytes(flipped(delivery[0], place))
    for place in range(len(meta[0])):
        with pytest.raises(ValueError, match=r"checksum|utf-8"):
            streaming._unsigned(flipped(meta[0].encode(), place).decode())


def flipped(given: bytes, place: int) -> bytes:
    damaged = bytearray(given)
    damaged[place] ^= 1 << place % 8
    return bytes(damaged)


@pytest.mark.parametrize("seed", range(8))
def test_told_once_a_micro_batch(seed: int) -> None:
    """How answers stand after each micro-batch is the same, with a line at most for each."""
    case, chance = turbines(seed), random.Random(seed)
    job = job_of(case, "changes", chance.choice([1, 3]), ("time", "arrives"))
    assert job is not None
    parts = [*cut(given_by(case, early=True), chance), [("temp", ("nobody", "low"), FAR, FAR)]]
    runs: list[dict[str, str]] = [{}, {}]
    stores: list[Stores] = [{}, {}]
    fewer = 0
    for part in parts:
        for told, store, each_step in zip(runs, stores, (True, False), strict=True):
            rows = in_stream(replace(job, each_step=each_step), [part], random.Random(seed), store)
            answers = [row["answer"] for row in sorted(rows, key=lambda row: row["now"])]
            assert each_step or len(set(answers)) == len(answers)
            told |= {row["answer"]: row["status"] for row in sorted(rows, key=lambda row: row["now"])}
            fewer += len(answers) if each_step else -len(answers)
        shown = {answer: status for answer, status in runs[0].items() if answer in runs[1] or status != "refuted"}
        assert runs[1] == shown
    assert fewer > 0


def test_time_passes_without_facts() -> None:
    """A clock of its own decides what time alone decides."""
    job = job_of(Case(TURBINES), "changes", 2, ("time",))
    assert job is not None
    stores: Stores = {}
    facts = [("temp", ("wt1", "high"), time, time) for time in (3, 4)]
    rows = in_stream(job, [facts, [("temp", ("wt2", "low"), 5, 5)]], random.Random(1), stores)
    last = {row["answer"]: row["status"] for row in rows}
    still_open = {answer for answer, status in last.items() if status == "possible"}
    assert still_open
    ticks = pa.record_batch({"c0": [6, 20]})
    packs = [pack for made in clock_packer(job)(iter([ticks])) for pack in made.to_pylist()]
    later = to_stores(job, packs, random.Random(2), stores)
    assert {row["answer"] for row in later if row["status"] == "refuted"} == still_open


TURBINES = """
timeline discrete.
input temp(device, level) delay 2.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.
query malf(X).
"""


def turbines(seed: int, late: bool = False) -> Case:
    """Readings of many turbines, out of order; some later than allowed."""
    chance, case = random.Random(seed), Case(TURBINES, end=20)
    for time in range(case.end):
        for device in range(12):
            level = chance.choice(["high", "high", "low"])
            arrives = time + chance.choice([0, 0, 1, 2, *([3, 5] if late else [])])
            case.facts.append((("temp", (f"wt{device}", level), time), arrives))
    return case


@pytest.mark.parametrize("seed", range(6))
def test_turbines_in_shards(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LEAST_LOG", 3000)
    chance = random.Random(seed)
    case = turbines(seed, late=seed % 2 == 1)
    job = job_of(case, "changes", chance.choice([2, 5, 8]), ("time", "arrives"))
    assert job is not None and job.shards > 1
    given = given_by(case, early=True)
    expected = Counter(plain(answer.to_json()) for answer in embedded(job, given))
    rows = in_batch(job, given)
    assert Counter(plain(row) for row in rows if row["late"] is None) == expected
    too_late = [fact for fact in facts_of(job, given) if job.checker.is_late(fact, fact.arrival)]
    told = Counter((row["late"]["fact"], row["late"]["now"]) for row in rows if row["late"] is not None)
    assert told == Counter(
        (f"temp({fact.arguments[0]}, {fact.arguments[1]})@{fact.low}", fact.arrival) for fact in too_late
    )
    far = [("temp", ("wt0", "low"), FAR, FAR)]
    streamed = in_stream(job, [*cut(given, chance), far], chance)
    assert Counter(plain(row) for row in streamed if row["late"] is None) == expected
    assert Counter((row["late"]["fact"], row["late"]["now"]) for row in streamed if row["late"] is not None) == told


def test_equal_values_of_different_types_share_a_shard() -> None:
    case = Case("input p(x). input q(x). both(X) :- p(X), q(X).\nquery both(X).\n")
    job = job_of(case, "confirmed", 50, ("time",))
    assert job is not None
    times = pa.array([0, 0, 0])
    shards = {
        tuple(mark(pa.table({"c0": column, "c1": times}), job.sources[0], job).shards)
        for column in (
            pa.array([1, 2, 30]),
            pa.array([1.0, 2.0, 30.0]),
            pa.array([1, 2, 30], pa.decimal128(10, 3)),
        )
    }
    assert len(shards) == 1
    texts = mark(pa.table({"c0": ["1", "2", "30"], "c1": times}), job.sources[0], job).shards
    assert tuple(texts) not in shards, "the text 1 is not the number 1"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"c0": ["a"], "c1": pa.array([None], pa.int64())}, "`p`: 1 rows have no time"),
        ({"c0": ["a"], "c1": [-3]}, "`p`: -3 lies before time 0"),
        ({"c0": ["a"], "c1": [0.5]}, "time = 0.5: 1/2 is not a whole number"),
        ({"c0": ["a"], "c1": pa.array([None], pa.float64())}, "`p`, a row with no time: the fact has no `time`"),
        ({"c0": ["a"], "c1": ["1" * 40]}, "more than can be counted"),
        ({"c0": ["a"], "c1": ["soon"]}, "'soon' is not a time"),
        ({"c0": pa.array([None], pa.string()), "c1": [0]}, "`p`, the column `x`: 1 rows have no value"),
        ({"c0": [float("nan")], "c1": [0]}, "must be finite"),
    ],
)
def test_wrong_rows_are_named(columns: dict[str, Any], said: str) -> None:
    case = Case("timeline discrete.\ninput p(x).\nq(X) :- p(X).\nquery q(X).\n")
    job = job_of(case, "changes", 4, ("time",))
    assert job is not None
    with pytest.raises(FactError) as found:
        mark(pa.table(columns), job.sources[0], job)
    assert said in str(found.value)


@pytest.mark.parametrize("seed", range(4))
def test_late_facts_leave_only_where_they_are_asked_for(seed: int) -> None:
    case = turbines(3, late=True)
    given, job = given_by(case, early=True), job_of(case, "changes", 3, ("time", "arrives"))
    assert job is not None
    without = replace(job, late=False)
    both, only = in_batch(job, given), in_batch(without, given)
    assert Counter(plain(row) for row in both if row["status"]) == Counter(map(plain, only))
    assert len(both) > len(only) and not any("late" in row for row in only)
    # A stream may go on with them or without; its workers may still have the reasoners.
    halves = [packs_of(job, given[: len(given) // 2]), packs_of(job, given[len(given) // 2 :])]
    told = []
    for later in (job, without):
        stores: Stores = {}
        to_stores(job, halves[0], random.Random(seed), stores)
        told.append(to_stores(later, halves[1], random.Random(seed), stores))
        shard_reasoner._kept.clear()
    both, only = told
    assert Counter(plain(row) for row in both if row["status"]) == Counter(map(plain, only))
    assert len(both) > len(only) and not any("late" in row for row in only)


def test_a_text_that_is_missing_outside_of_the_key_is_named() -> None:
    job = job_of(Case(TURBINES), "changes", 4, ("time",))
    assert job is not None and job.sources[0].key == (0,)
    with pytest.raises(FactError, match="`temp`, the column `level`: 1 rows have no value"):
        mark(pa.table({"c0": ["a"], "c1": pa.nulls(1, pa.string()), "c2": [0]}), job.sources[0], job)


def test_what_compares_all_open_answers_is_not_sharded() -> None:
    report = check_text(TURBINES)
    assert division_of(report, "changes").columns == {"temp": ["device"]}
    division = division_of(report, "changes", Choice(max_open=5))
    assert not division.columns and "compare the answers of all shards" in division.reasons[0]


def test_absence_prevents_shards_only_where_answers_are_possible() -> None:
    report = check_text(
        "timeline discrete.\ninput p(x).\ninput q(x).\nd(X)@T+1 :- p(X)@T+1, not q(X)@T.\nquery d(X).\n"
    )
    assert division_of(report, "confirmed").columns == {"p": ["x"], "q": ["x"]}
    division = division_of(report, "changes")
    assert not division.columns
    assert division.reasons[0].startswith("line 4: what may come true because of an absence alone")


def test_a_checkpoint_of_another_run_is_refused() -> None:
    case = turbines(0)
    job = job_of(case, "changes", 4, ("time",))
    other = job_of(Case(TURBINES.replace("delay 2", "delay 3")), "changes", 4, ("time",))
    assert job is not None and other is not None
    store = Store()
    pack = {"shard": 0, "source": 0, "first": "0", "last": "0", "payload": None}

    def run(processor: streaming.Shard) -> None:
        store.begin()
        processor.init(store)  # type: ignore[arg-type]
        list(processor.handleInputRows((0,), iter([pack]), None))  # type: ignore[list-item]
        store.commit()

    run(streaming.Shard(job))
    for changed, said in ((other, "program changed"), (replace(job, emit="confirmed"), "emit changed")):
        with pytest.raises(PresageError, match=f"another run: {said} since it was written"):
            run(streaming.Shard(changed))
    meta = streaming._unsigned(store.committed["meta"][()][0])
    store.committed["meta"][()] = (json.dumps({**meta, "format": 0}),)
    with pytest.raises(PresageError, match="another version of Presage"):
        run(streaming.Shard(job))


def test_what_a_micro_batch_writes_does_not_grow_with_what_is_remembered() -> None:
    """Bytes of log for the same facts, after few and after many others."""
    case = turbines(1)
    job = job_of(case, "changes", 1, ("time",))
    assert job is not None
    written = []
    for many in (10, 1000):
        store = Store()
        store.begin()
        processor = streaming.Shard(job)
        processor.init(store)  # type: ignore[arg-type]
        for given in (
            [("temp", (f"wt{device}", "high"), 0, 0) for device in range(many)],
            [("temp", ("wt1", "high"), 1, 1), ("temp", ("wt2", "low"), 2, 2)],
        ):
            packs = [
                pack
                for index, source, table in tables(job, given)
                for made in packer(job, index, source)(iter(table.to_batches()))
                for pack in made.to_pylist()
            ]
            list(processor.handleInputRows((0,), iter(packs), None))  # type: ignore[arg-type]
        written.append(len(store.current["log"][(2,)][0]))
    assert written[1] <= 1.1 * written[0]


def test_timestamps_are_counted_in_ticks_as_they_are_one_by_one() -> None:
    text = "tick 5s. start 2026-01-01T00:00:03Z. timeline discrete.\ninput p(x).\nq(X) :- p(X).\nquery q(X).\n"
    job = job_of(Case(text), "confirmed", 4, ("time",))
    assert job is not None
    chance = random.Random(5)
    start = datetime(2026, 1, 1, 0, 0, 3, tzinfo=UTC)
    moments = [start + timedelta(microseconds=chance.randrange(10**9)) for _ in range(200)]
    expected = [job.checker.time(moment, "") for moment in moments]
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us"), pa.timestamp("ns", "UTC")):
        marked = mark(pa.table({"c0": ["a"] * 200, "c1": pa.array(moments, kind)}), job.sources[0], job)
        assert list(marked.arrivals) == expected and isinstance(marked.arrivals, np.ndarray)
    early = pa.table({"c0": ["a"], "c1": pa.array([start - timedelta(seconds=1)])})
    with pytest.raises(FactError, match="lies before 2026-01-01T00:00:03Z, the start"):
        mark(early, job.sources[0], job)
