"""`presage run` and the reasoner with what people feed them: good facts, odd facts, wrong facts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import presage
from presage.io.facts import FactError
from tests.commands.test_cli import presage as command
from tests.random_programs import make_case

TURBINES = """
timeline discrete.
input temp(device: text, level) delay 1.
static owner(device, team).
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.
page(X, W) :- malf(X), owner(X, W).
query malf(X).
query page(X, W).
"""
READINGS = [{"pred": "temp", "args": ["wt25", "high"], "time": time} for time in range(3)]


def write(folder: Path, name: str, lines: list[Any]) -> Path:
    path = folder / name
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def run(folder: Path, program: str, facts: list[Any], *more: str) -> tuple[int, list[dict[str, Any]], str]:
    (folder / "program.psg").write_text(program)
    given = write(folder, "facts.jsonl", facts)
    done = command("run", "--emit", "confirmed", folder / "program.psg", "--facts", given, *more)
    assert "Traceback" not in done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_turbines(tmp_path: Path) -> None:
    status, lines, said = run(tmp_path, TURBINES, [{"pred": "owner", "args": ["wt25", "west"]}, *READINGS])
    assert (status, said) == (0, "")
    assert [(line["now"], line["answer"], line["bindings"]) for line in lines] == [
        (2, "malf(wt25)@0", {"X": "wt25"}),
        (2, "page(wt25, west)@0", {"X": "wt25", "W": "west"}),
    ]
    assert lines[0]["time"] == 0 and lines[0]["status"] == "confirmed"


def test_static_facts_from_a_file_of_their_own(tmp_path: Path) -> None:
    owners = write(tmp_path, "owners.jsonl", [{"pred": "owner", "args": ["wt25", "west"]}])
    status, lines, _ = run(tmp_path, TURBINES, READINGS, "--static", str(owners))
    assert status == 0 and len(lines) == 2


def test_late_facts_are_left_out_and_reported(tmp_path: Path) -> None:
    late = [*READINGS[:2], {**READINGS[2], "arrives": 4}]
    status, lines, said = run(tmp_path, TURBINES, late)
    assert status == 0 and lines == []
    assert "1 fact arrived too late" in said


def test_absence_is_concluded_when_it_is_settled(tmp_path: Path) -> None:
    program = "input ping(x) delay 2.\ninput host(x).\ndown(X) :- host(X), not once[0,3] ping(X).\nquery down(X).\n"
    facts = [
        {"pred": "host", "args": ["a"], "from": 0, "to": 8},
        {"pred": "ping", "args": ["a"], "time": 1, "arrives": 3},
    ]
    status, lines, _ = run(tmp_path, program, facts, "--until", "10", "--emit", "confirmed")
    assert status == 0
    assert [(line["now"], line["answer"]) for line in lines] == [
        (2, "down(a)@0"),
        (3, "down(a)@(0,1)"),
        (7, "down(a)@(4,5]"),
        (10, "down(a)@(5,8]"),
    ]


def test_intervals_rationals_and_the_end_of_the_run(tmp_path: Path) -> None:
    program = "seen(X) :- once[1/3,inf) p(X).\nquery seen(X).\n"
    status, lines, _ = run(tmp_path, program, [{"pred": "p", "args": ["a"], "time": "1/3"}], "--until", "5")
    assert status == 0
    assert [line["answer"] for line in lines] == ["seen(a)@[2/3,5]"]


def test_facts_of_the_program(tmp_path: Path) -> None:
    program = """
    timeline dense.
    a(x). b(x)@3. c(x)@[1,2). d(x)@now+2. always[1,2] e(x). always(1,2] f(x). historically[1,2] g(x).
    q(X, one) :- a(X). q(X, two) :- b(X). q(X, three) :- c(X). q(X, four) :- d(X).
    q(X, five) :- e(X). q(X, six) :- f(X). q(X, seven) :- g(X).
    """
    status, lines, _ = run(tmp_path, program, [], "--until", "5")
    assert status == 0
    assert sorted(line["answer"] for line in lines) == [
        "q(x, five)@[1,5]",
        "q(x, four)@[2,5]",
        "q(x, one)@[0,5]",
        "q(x, seven)@[0,5]",
        "q(x, six)@(1,5]",
        "q(x, three)@[1,2)",
        "q(x, two)@3",
    ]


def test_timestamps(tmp_path: Path) -> None:
    program = (
        "tick 1m. start 2026-01-01T00:00:00Z.\ntimeline discrete.\n"
        "twice(X) :- door(X), once[1m,5m] door(X).\nquery twice(X).\n"
    )
    facts = [
        {"pred": "door", "args": ["front"], "time": "2026-01-01T00:02:30Z"},
        {"pred": "door", "args": ["front"], "time": "2026-01-01T00:06:10+00:00"},
    ]
    status, lines, _ = run(tmp_path, program, facts)
    assert status == 0
    assert [line["answer"] for line in lines] == ["twice(front)@2026-01-01T00:06:00Z"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"pred": "tmp", "args": ["a", "b"], "time": 0}, "did you mean `temp`?"),
        ({"pred": "malf", "args": ["a"], "time": 0}, "derived by rules"),
        ({"pred": "temp", "args": ["a"], "time": 0}, "2 arguments in the program and 1 here"),
        ({"pred": "temp", "args": [3, "high"], "time": 0}, "is not a value of the column `device`"),
        ({"pred": "temp", "args": ["a", None], "time": 0}, "neither text nor a number"),
        ({"pred": "temp", "args": ["a", "b"]}, "no `time`"),
        ({"pred": "temp", "args": ["a", "b"], "time": -1}, "before time 0"),
        ({"pred": "temp", "args": ["a", "b"], "time": 0.5}, "not a whole number"),
        ({"pred": "temp", "args": ["a", "b"], "time": "soon"}, "is not a time"),
        ({"pred": "temp", "args": ["a", "b"], "time": "2026-01-01T00:00:00Z"}, "needs a `tick`"),
        ({"pred": "temp", "args": ["a", "b"], "from": 5, "to": 1}, "upside down"),
        ({"pred": "temp", "args": ["a", "b"], "from": 1, "to": 2, "bounds": "<>"}, "`bounds` is one of"),
        ({"pred": "owner", "args": ["a", "b"], "time": 1}, "static"),
        ({"args": ["a"]}, "no `pred`"),
        (["temp"], "a fact is an object"),
        ('{"pred": "temp", "args": ["a", NaN], "time": 0}', "not a number"),
        ('{"pred": "temp", "args": ["a", "b"], "time": 0', "not JSON"),
        ('{"pred": "temp", "args": ["a", "b"], "time": ' + "1" * 90 + ".5}", "characters"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_facts_are_named_by_file_and_line(tmp_path: Path, line: Any, said: str) -> None:
    status, lines, shown = run(tmp_path, TURBINES, [READINGS[0], line])
    assert status == 1 and lines == []
    assert f"{tmp_path / 'facts.jsonl'}:2: " in shown and said in shown


def test_what_cannot_be_run_yet_is_named(tmp_path: Path) -> None:
    status, _, shown = run(tmp_path, "timeline dense.\nexists Y: p(X, Y) :- q(X).\n", [])
    assert status == 1 and "`exists`" in shown


def test_what_the_interval_engine_does_not_run_is_evaluated_at_each_step(tmp_path: Path) -> None:
    program = """
        timeline discrete.
        last(X) :- window(rows 1 by tram(I, _)) some tram(I, X).
        exists Y: incident(X, Y) :- tram(X, stuck).
        exists lasting Y: file(X, Y) :- tram(X, stuck).
        query last(X).
        query incident(X, Y).
        query file(X, Y).
    """
    places = [("s", 0), ("t", 2), ("stuck", 3), ("stuck", 4)]
    facts = [{"pred": "tram", "args": ["a", place], "time": time} for place, time in places]
    status, lines, _ = run(tmp_path, program, facts)
    told = {line["answer"] for line in lines}
    assert status == 0
    assert {"last(s)@0", "last(s)@1", "last(t)@2", "last(stuck)@3"} <= told and "last(s)@2" not in told
    incidents = {line["bindings"]["Y"] for line in lines if line["answer"].startswith("incident")}
    files = {line["bindings"]["Y"] for line in lines if line["answer"].startswith("file")}
    assert len(incidents) == 2 and len(files) == 1 and all(name.startswith("_:") for name in incidents | files)


def test_a_wrong_step_leaves_the_reasoner_as_it_was() -> None:
    reasoner = presage.Reasoner(presage.parse(TURBINES), static={"owner": [("wt25", "west")]})
    for now in (0, 1):
        reasoner.push([("temp", ("wt25", "high"), now)], now=now)
    for wrong in ([("temp", ("wt25",), 2)], [("temp", ("wt25", "high"), -2)], [("nothing", (), 2)], ["temp"]):
        with pytest.raises(FactError):
            reasoner.push(wrong, now=2)  # type: ignore[arg-type]
    with pytest.raises(presage.PresageError, match="time goes forward"):
        reasoner.push([], now=1)
    answers = reasoner.push([("temp", ("wt25", "high"), 2)], now=2)
    assert [str(answer) for answer in answers] == [
        "confirmed malf(wt25)@0",
        "possible malf(wt25)@1",
        "possible malf(wt25)@2",
        "confirmed page(wt25, west)@0",
        "possible page(wt25, west)@1",
        "possible page(wt25, west)@2",
    ]
    assert sorted(map(str, reasoner.answers())) == sorted(map(str, answers))


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_tables(kind: str) -> None:
    program = presage.parse(TURBINES)
    reasoner = presage.Reasoner(program, static={"owner": [("wt25", "west")]}, emit="confirmed")
    found = []
    for now in range(4):
        columns = {"device": ["wt25", "wt42"], "level": ["high", "low"], "time": [now, now]}
        if kind == "arrow":
            table: Any = pyarrow.table(columns)
        else:
            table = (pandas if kind == "pandas" else polars).DataFrame(columns)
        found += [answer.answer for answer in reasoner.push({"temp": table}, now=now)]
    assert found == ["malf(wt25)@0", "page(wt25, west)@0", "malf(wt25)@1", "page(wt25, west)@1"]
    held = reasoner.holds("flag").to_pylist()
    assert {"1": "wt25", "from": "2", "to": "3", "bounds": "[]"} in [{**row, "from": "2"} for row in held]


def test_wrong_tables_are_named_by_column_and_row() -> None:
    reasoner = presage.Reasoner(presage.parse(TURBINES))
    for columns, said in (
        ({"device": ["a"], "time": [0]}, "the column `level` is missing"),
        ({"device": ["a"], "level": ["b"]}, "no `time`"),
        ({"device": ["a", None], "level": ["b", "b"], "time": [0, 0]}, "rows without a value"),
        ({"device": ["a", "b"], "level": ["b", "b"], "time": [0, None]}, "no time"),
        ({"device": ["a"], "level": ["b"], "time": [-1]}, "before time 0"),
        ({"device": [7], "level": ["b"], "time": [0]}, "is not a value of the column `device`"),
        ({"device": ["a"], "level": [float("nan")], "time": [0]}, "must be finite"),
    ):
        with pytest.raises(FactError, match=said):
            reasoner.push({"temp": pyarrow.table(columns)}, now=0)
    with pytest.raises(FactError, match="is not a table"):
        reasoner.push({"temp": [1, 2]}, now=0)
    assert reasoner.now is None


def test_late_rows_of_a_table_are_reported() -> None:
    reasoner = presage.Reasoner(presage.parse(TURBINES))
    table = pyarrow.table({"device": ["a", "b"], "level": ["high", "high"], "time": [3, 5]})
    reasoner.push({"temp": table}, now=5)
    assert [(fact.predicate, fact.arguments, fact.low) for fact in reasoner.late] == [("temp", ("a", "high"), 3)]


@pytest.mark.parametrize(
    "time", [10**30, 1001 + Fraction(1, 999999999999999989), Fraction(10**40, 3)], ids=["large", "fine", "both"]
)
def test_times_beyond_counting_are_refused_before_anything_changes(time: Any) -> None:
    reasoner = presage.Reasoner(presage.parse("near(X) :- p(X), once(0,1] q(X).\nquery near(X).\n"), emit="confirmed")
    reasoner.push([("q", ("a",), 1000)], now=1000)
    with pytest.raises(FactError, match="more than the engine can count"):
        reasoner.push([("p", ("b",), time)], now=time)
    (found,) = reasoner.push([("p", ("a",), 1001)], now=1001)
    assert found.answer == "near(a)@1001"


def test_times_too_fine_for_the_bounds_are_refused_before_anything_changes() -> None:
    program = presage.parse("near(X) :- p(X), once(0,1/7] q(X).\nquery near(X).\n")
    reasoner = presage.Reasoner(program, emit="confirmed")
    fine = Fraction(1, 12345678901234567890)
    with pytest.raises(FactError, match="more than the engine can count"):
        reasoner.push([("q", ("a",), fine)], now=fine)
    reasoner.push([("q", ("a",), 1)], now=1)
    (found,) = reasoner.push([("p", ("a",), Fraction(8, 7))], now=Fraction(8, 7))
    assert found.answer == "near(a)@8/7"


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        ("q(X)@T2 :- p(X)@T, T2 = T + 99999999999999999999.", "q(a)@100000000000000000000"),
        ("q(X) :- window(rows 99999999999999999999) some p(X).", "q(a)@1"),
    ],
)
def test_numbers_that_fit_no_machine_integer(rule: str, answer: str) -> None:
    reasoner = presage.Reasoner(presage.parse(f"timeline discrete.\ninput p(x).\n{rule}\nquery q(X).\n"))
    assert [each.answer for each in reasoner.push([("p", ("a",), 1)], now=1)] == [answer]


@pytest.mark.parametrize("kind", ["rows", "arrow", "pandas", "polars"])
def test_static_facts_as_tables(kind: str) -> None:
    columns = {"high": [2, 3], "device": ["a", "b"]}
    given: Any = [("a", 2), ("b", 3)] if kind == "rows" else pyarrow.table(columns)
    if kind == "pandas":
        given = given.to_pandas()
    elif kind == "polars":
        given = polars.DataFrame(columns)
    text = (
        "input temp(device, v).\nstatic most(device, high).\nhot(X) :- temp(X, V), most(X, M), V > M.\nquery hot(X).\n"
    )
    for program in (presage.parse(text), presage.parse(text + "hot(X) | cold(X) :- temp(X, 0).\n")):
        reasoner = presage.Reasoner(program, static={"most": given})
        found = reasoner.push([("temp", ("a", 3), 0), ("temp", ("b", 3), 0)], now=0)
        assert [each.answer for each in found] == ["hot(a)@0"]
        with pytest.raises(FactError, match="`most` is static"):
            reasoner.push({"most": pyarrow.table({**columns, "time": [1, 1]})}, now=1)
        with pytest.raises(FactError, match="`temp` is not static"):
            presage.Reasoner(program, static={"temp": pyarrow.table({"device": ["a"], "v": [1], "time": [0]})})


def test_a_damaged_state_is_refused() -> None:
    program = presage.parse("near(X) :- p(X), once(0,1] q(X).\nquery near(X).\n")
    reasoner = presage.Reasoner(program)
    reasoner.push([("q", ("a",), 0)], now=0)
    blob = reasoner.save()
    for place in range(len(blob)):
        damaged = bytearray(blob)
        damaged[place] ^= 255
        with pytest.raises(presage.PresageError, match="damaged"):
            presage.Reasoner.restore(program, bytes(damaged))
    assert presage.Reasoner.restore(program, blob).now == 0


def test_finer_times_than_the_program_has() -> None:
    reasoner = presage.Reasoner(presage.parse("near(X) :- p(X), once(0,1] q(X).\nquery near(X).\n"), emit="confirmed")
    assert reasoner.push([("q", ("a",), Fraction(1, 3))], now=Fraction(1, 3)) == []
    (found,) = reasoner.push([("p", ("a",), (Fraction(1, 2), 2, "[]"))], now=Fraction(1, 2))
    assert found.answer == "near(a)@[0.5,4/3]"


def test_constants_nobody_refers_to_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.engine.runtime.FEW_SYMBOLS", 50)
    text = 'big(X, S) :- p(X, V), once[0,2] p(X, W), V > 5, S = V + W, X != "x7".\n'
    reasoner, plain = (presage.Reasoner(presage.parse(text)) for _ in range(2))
    plain.interval_engine.most_symbols = 10**9
    for now in range(300):
        facts = [("p", (f"x{now * 3 + index}", now % 11), now) for index in range(3)]
        facts.append(("p", ("steady", now), now))
        assert reasoner.push(facts, now) == plain.push(facts, now)
    assert len(reasoner.interval_engine.symbols) < 200 < len(plain.interval_engine.symbols)


def test_memory_stays_flat() -> None:
    reasoner = presage.Reasoner(presage.parse("late(X) :- p(X), historically[0,3] q(X), not once[0,5] r(X).\n"))
    sizes = []
    for now in range(400):
        facts = [(name, (f"x{now % 7}",), now) for name in "pqr"] + [("q", (f"only{now}",), now)]
        reasoner.push(facts, now=now)
        sizes.append(reasoner.remembered)
    assert max(sizes[200:]) <= max(sizes[:100]) + 10


def test_a_restored_reasoner_tells_what_it_told() -> None:
    program = presage.parse("timeline discrete. input p(x). input q(x). d(X)@T :- p(X)@T+1, not q(X)@T.")
    reasoner = presage.Reasoner(program, everybody=True, ways="all")
    reasoner.push([], now=0)
    again = presage.Reasoner.restore(program, reasoner.save())
    assert [*again.push([], now=1)] == [*reasoner.push([], now=1)] != []


@pytest.mark.parametrize("seed", range(25))
def test_a_restored_reasoner_goes_on_exactly(seed: int) -> None:
    case = make_case(seed, dense=seed % 2 == 0)
    report = presage.check(case.text)
    if not report.findings or not report.findings.strata.stratified:
        pytest.skip("several models")
    program = presage.parse(case.text)
    arriving: dict[Any, list[Any]] = {}
    for fact, arrives in case.facts:
        arriving.setdefault(arrives, []).append(fact)
    statics = {"s": [arguments for _, arguments in case.statics]}
    through, saved = presage.Reasoner(program, statics), presage.Reasoner(program, statics)
    for step, now in enumerate(sorted({*arriving, *range(20)})):
        if step % 3 == seed % 3:
            saved = presage.Reasoner.restore(program, saved.save())
        assert saved.push(arriving.get(now, []), now) == through.push(arriving.get(now, []), now)


def test_foreign_and_damaged_states_are_refused() -> None:
    program = presage.parse(TURBINES)
    blob = presage.Reasoner(program).save()
    other = presage.parse(TURBINES.replace("@T-2", "@T-1"))
    with pytest.raises(presage.PresageError, match="another program"):
        presage.Reasoner.restore(other, blob)
    for damaged in (b"", b"nonsense", blob[: len(blob) // 2]):
        with pytest.raises(presage.PresageError, match=r"not a saved reasoner|is damaged"):
            presage.Reasoner.restore(program, damaged)
    relaid = presage.parse(TURBINES.replace("\n", "  \n  "))
    assert presage.Reasoner.restore(relaid, blob).now is None


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
def test_a_broken_constraint_is_an_answer(tmp_path: Path, emit: str) -> None:
    program = "busy(X) :- job(X, _).\n:- job(X, Y), job(X, Z), Y < Z.\n:- job(X, 7)@T, rest(X)@T+1.\nquery busy(X).\n"
    facts = [{"pred": "job", "args": ["a", size], "time": 0} for size in (1, 2)]
    facts += [{"pred": "job", "args": ["b", 7], "time": 1}, {"pred": "rest", "args": ["b"], "time": 2}]
    status, lines, _ = run(tmp_path, program, facts, "--emit", emit)
    broken = {line["answer"]: line["bindings"] for line in lines if line["status"] == "confirmed"}
    assert status == 0
    assert broken["violated(2, a, 1, 2)@0"] == {"line": 2, "X": "a", "Y": 1, "Z": 2}
    assert broken["violated(3, b)@1"] == {"line": 3, "X": "b"}


def test_who_asks_for_nothing_is_told_what_there_is(tmp_path: Path) -> None:
    facts = write(tmp_path, "facts.jsonl", [{"pred": "r", "args": ["a"], "time": 0}])
    for rules, status, said in (
        ("p(X)@T :- r(X)@T. p(X)@T :- p(X)@T-1, s(X)@T.", 0, "a recursive rule gives ever new premises (line 2)"),
        ("p(X) :- window(rows 1) some r(X).", 0, "note: of p only confirmed answers are told"),
    ):
        (tmp_path / "program.psg").write_text(f"timeline discrete. input r(x). input s(x).\n{rules}\nquery p(X).\n")
        done = command("run", tmp_path / "program.psg", "--facts", facts)
        assert done.returncode == status and said in done.stderr and "Traceback" not in done.stderr
        assert bool(done.stdout) is (status == 0)


def test_endless_invention_is_refused_or_stopped_at_the_limit(tmp_path: Path) -> None:
    program = "timeline discrete.\nexists Y: parent(X, Y) :- person(X).\nperson(Y) :- parent(X, Y).\nquery person(X).\n"
    fact = {"pred": "born", "args": ["eve"], "time": 0}
    program += "person(X) :- born(X).\n"
    status, _, said = run(tmp_path, program, [fact])
    assert status == 1 and "invent" in said
    status, _, said = run(tmp_path, program, [fact], "--chase-limit", "20")
    assert status == 1 and "line 2: this rule keeps inventing values: more than 20" in said


def test_absence_waits_no_longer_than_its_own_facts_may() -> None:
    program = presage.parse(
        """
        timeline discrete.
        input q(x) delay 0.
        input q(x) delay 3 where x = a.
        input r(x).
        p(X) :- q(X).
        h(X) :- r(X), not p(X).
        query h(X).
        """
    )
    reasoner = presage.Reasoner(program, emit="confirmed")
    found = [reasoner.push([("r", ("a",), 0), ("r", ("b",), 0)], now=0)]
    found += [reasoner.push([], now=now) for now in (1, 2, 3)]
    assert [[str(answer) for answer in answers] for answers in found] == [
        ["confirmed h(b)@0"], [], [], ["confirmed h(a)@0"]
    ]  # fmt: skip


def test_times_counted_from_far_away_begin_with_the_first_fact(tmp_path: Path) -> None:
    """Nobody waits for what time alone has decided since 1970."""
    program = (
        "timeline discrete. static device(x). input beat(x). device(a). "
        "down(X) :- device(X), not window(60) some beat(X). query down(X)."
    )
    beat = {"pred": "beat", "args": ["a"], "time": 1_700_000_000}
    status, lines, said = run(tmp_path, program, [beat], "--emit", "confirmed")
    assert status == 0 and [line["answer"] for line in lines] == ["down(a)@[0,1699999999]"]
    assert "steps begin there" in said


@pytest.mark.parametrize("kind", [pyarrow.int64(), pyarrow.int16(), pyarrow.uint64(), pyarrow.float64()])
def test_tables_keep_within_bounds(kind: Any) -> None:
    """However the numbers are held: sums of what is declared not to be negative are confirmed early."""
    program = presage.parse("input pay(c, v: float <= 7).\nq(C) :- sum { V, T : window(3) pay(C, V)@T } >= 5.")
    for amount in (7, 8):
        table = pyarrow.table({"c": ["a", "a"], "v": pyarrow.array([1, amount], kind), "time": [0, 0]})
        reasoner = presage.Reasoner(program, emit="confirmed")
        if amount == 7:
            assert [each.answer for each in reasoner.push({"pay": table}, now=0)] == ["q(a)@0"]
        else:
            with pytest.raises(presage.PresageError, match="8 is not a value of the column `v: float <= 7`"):
                reasoner.push({"pay": table}, now=0)
