"""Individuals that take like courses: the same lines as the engine over zones gives, whatever arrives when.

What is worked out with symbols for one individual is told of all that are like it; so lines, what stands, tables and
what is saved are held against an engine that works out each by itself.
"""

from __future__ import annotations

import json
import math
import os
import random
from fractions import Fraction
from typing import Any

import pyarrow
import pytest

import presage
from presage.answers.schema import answers_table
from presage.checking import check_program
from presage.hypothesis.courses import engine as courses_engine
from presage.hypothesis.courses import name_order
from presage.hypothesis.courses.fitting import grouping
from presage.hypothesis.courses.splitting import FEW, may_split
from presage.hypothesis.courses.symbolic import SymbolName, Trace, Untraceable
from presage.hypothesis.ranges.building import range_engine
from presage.io.facts import Fact
from presage.patterns.finish import NoPatterns
from presage.patterns.of_queries import Entangled, ranges_of
from presage.patterns.unfold import Unfolder
from presage.run.choice import ALL, Choice
from presage.run.courses import CourseSupposing
from presage.run.open_times import RangeSupposing
from tests.random_courses import Case, make_case, make_counted_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(600) if LONG else range(24)
REFUSED = {"discrete": 0, "dense": 0, "counted": 0}


class Many(CourseSupposing):
    """Goes by courses from the first fact on, whatever it costs."""

    few = 0
    patience = math.inf


def sides(
    text: str, kind: type[CourseSupposing] = Many, choice: Choice = ALL
) -> tuple[RangeSupposing, CourseSupposing] | None:
    """The engine over zones, and the one that goes by courses; `None` where there are no individuals."""
    found = check_program(presage.parse(text)).findings
    if found is None or not all(each.hypothetical.possible for each in found.queries):
        return None
    try:
        patterns = ranges_of(found.watched, Unfolder(found.watched, stretches=True))
    except (Entangled, NoPatterns):
        return None
    first, second = range_engine(found.watched, patterns), range_engine(found.watched, patterns)
    individuals = grouping(second)
    if individuals is None:
        return None
    return RangeSupposing(found.watched, first, choice), kind(found.watched, second, individuals, choice)


def lines(answers: Any) -> list[Any]:
    return sorted((each.to_json() for each in answers), key=str)


def rows(table: Any) -> list[Any]:
    return sorted((json.loads(json.dumps(row, default=str)) for row in table), key=str)


def compare(
    case: Case, end: int, dice: random.Random | None, kind: type[CourseSupposing] = Many, choice: Choice = ALL
) -> bool:
    found = sides(case.text, kind, choice)
    if found is None:
        return False
    alone, many = found
    for side in found:
        for name, row in case.static:
            side.engine.statics.add(name, row)
    arriving = dict(case.steps)
    for now in sorted({*arriving, *range(end)}):
        facts = [Fact(name, row, time, time) for name, row, time in arriving.get(now, [])]
        want, got = alone.step(facts, now), many.step(facts, now)
        assert lines(got) == lines(want), (now, case.text)
        assert len(got) == len(list(got))
        assert lines(many.stands(got, now)) == lines(alone.stands(want, now)), (now, case.text)
        assert many.open_count == alone.open_count
        if got.columns is not None:
            tables = [row for table in got.columns.tables() for row in table.to_pylist()]
            assert rows(tables) == rows(answers_table(want, alone.line.whole).to_pylist()), (now, case.text)
            assert got.columns.table().to_pylist() == answers_table(got, alone.line.whole).to_pylist(), (now, case.text)
        if dice is not None and dice.random() < 0.15:
            content, arrays = many.saved()
            again = sides(case.text, kind, choice)
            assert again is not None
            many = again[1]
            many.load(json.loads(json.dumps(content)), arrays)
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_individuals_are_told_the_same(seed: int) -> None:
    if not compare(make_case(seed), 22, random.Random(seed)):
        REFUSED["discrete"] += 1


@pytest.mark.parametrize("seed", list(SEEDS)[::2])
def test_on_dense_time_too(seed: int) -> None:
    if not compare(make_case(seed, individuals=3, dense=True), 18, None):
        REFUSED["dense"] += 1


@pytest.mark.parametrize("seed", SEEDS)
def test_with_static_facts(seed: int) -> None:
    dense = seed % 3 == 2
    case = make_case(seed, individuals=4, dense=dense, tables=True)
    compare(case, 20, random.Random(seed), Apart if seed % 2 else Many)


@pytest.mark.parametrize("seed", SEEDS)
def test_how_likely_answers_are(seed: int) -> None:
    compare(make_case(seed, individuals=4, tables=seed % 2 == 1, rates=True), 20, random.Random(seed))


CHOICES = (Choice(min_confidence=0.3), Choice(top=2), Choice(ways=1), Choice(ways=None, min_confidence=0.1, top=1))


@pytest.mark.parametrize("seed", SEEDS)
def test_which_answers_are_told(seed: int) -> None:
    compare(make_case(seed, individuals=4, rates=True), 20, random.Random(seed), Many, CHOICES[seed % len(CHOICES)])


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_counted(seed: int) -> None:
    if not compare(make_counted_case(seed), 44, random.Random(seed), Apart if seed % 4 == 3 else Many):
        REFUSED["counted"] += 1


def test_counted_facts_go_together() -> None:
    """Nobody goes by itself whose facts come at different times."""
    found = sides("timeline discrete.\ninput e(k, v).\nq(K) :- count { V, T : window(5) e(K, V)@T } >= 3.\nquery q(K).")
    assert found is not None
    many = found[1]
    for now in range(4):
        many.step([Fact("e", (name, now * place), now, now) for place, name in enumerate("abcdef")], now)
    assert not many.courses.people.is_direct.any()


class Apart(Many):
    """Whose answers go on by themselves wherever they may, however near to each other they are."""

    @staticmethod
    def _splits(engine: Any) -> bool:
        return may_split(engine, FEW + 1)


@pytest.mark.parametrize("seed", [*SEEDS, 389])
def test_answers_go_on_by_themselves(seed: int) -> None:
    compare(make_case(seed), 22, random.Random(seed), Apart)


@pytest.mark.parametrize("seed", list(SEEDS)[::2])
def test_answers_go_on_by_themselves_on_dense_time(seed: int) -> None:
    compare(make_case(seed, individuals=3, dense=True), 18, None, Apart)


@pytest.mark.parametrize("seed", list(SEEDS)[::2])
@pytest.mark.parametrize("kind", [Many, Apart])
def test_one_input_asked_for_several_times(seed: int, kind: type[CourseSupposing]) -> None:
    compare(make_case(seed, individuals=3, repeated=True), 22, random.Random(seed), kind)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [Many, Apart])
def test_names_in_their_order(seed: int, kind: type[CourseSupposing], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of evidence that is alike the least is told, by its name if need be."""
    monkeypatch.setattr(name_order, "ROOM", 2 if seed % 2 else 1 << 24)
    case = make_case(seed, individuals=2 + seed % 2, repeated=seed % 4 != 3, texts=True)
    compare(case, 22, random.Random(seed) if seed % 3 else None, kind)


class Balking(Many):
    """Symbols often cannot tell what comes of a step."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        dice, traced = random.Random(5), self.tracer._traced

        def balking(situation: Any, numbers: Any) -> Any:
            if dice.random() < 0.3:
                raise Untraceable("today it cannot")
            return traced(situation, numbers)

        self.lessons.known, self.lessons.hopeless = {}, set()
        self.tracer._traced = balking  # type: ignore[method-assign]


class BalkingApart(Balking, Apart):
    pass


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [Balking, BalkingApart])
def test_who_goes_away_for_a_step_comes_back(seed: int, kind: type[CourseSupposing]) -> None:
    dense = seed % 3 == 0
    compare(make_case(seed, dense=dense, repeated=seed % 5 == 0), 22, None if dense else random.Random(seed), kind)


def test_nobody_stays_away() -> None:
    found = sides("input a(x). input b(x). q(X) :- a(X), eventually[1,60] b(X). query q(X).", Balking)
    assert found is not None
    alone, many = found
    went_away = 0
    for now in range(120):
        facts = [Fact("b" if now % 7 == 6 else "a", (f"k{now % 11}",), now, now)]
        assert lines(many.step(facts, now)) == lines(alone.step(facts, now))
        went_away += len(many.courses.automaton.hopeless) > 0
        assert not many.courses.people.is_direct.any()
    assert went_away


def test_a_key_may_have_any_number_of_answers() -> None:
    """A hundred orders of one customer are a hundred individuals that are alike: what is learned of one is known of
    all, and nobody goes by itself."""
    found = sides("input a(x). input b(x). q(X) :- a(X), eventually[1,600] b(X). query q(X).")
    assert found is not None
    alone, many = found
    for now in range(120):
        facts = [Fact("b" if now % 100 == 99 else "a", (key,), now, now) for key in ("k", "l")]
        assert lines(many.step(facts, now)) == lines(alone.step(facts, now))
    assert many.open_count == alone.open_count == 40
    assert not many.courses.people.is_direct.any() and len(many.courses.automaton.steps) < 40


def test_keys_come_and_go() -> None:
    """Those of whom nothing is known any more make room for others, also while facts about them arrive."""
    found = sides("input a(x). input b(x). q(X) :- a(X), eventually[1,3] b(X). query q(X).")
    assert found is not None
    alone, many = found
    dice = random.Random(7)
    for now in range(60):
        facts = [Fact(dice.choice("ab"), (f"k{dice.randrange(now, now + 90)}",), now, now) for _ in range(40)]
        assert lines(many.step(facts, now)) == lines(alone.step(facts, now))


def test_few_of_the_random_programs_have_no_individuals() -> None:
    assert REFUSED["discrete"] + REFUSED["dense"] <= len(SEEDS) * 0.4
    assert REFUSED["counted"] <= len(SEEDS) * 0.4


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dense", [False, True])
def test_many_steps_in_one_call(seed: int, dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a stream is cut into passages, each tells what its steps tell one after the other."""
    case = make_case(seed, dense=dense, tables=seed % 3 == 0)
    if sides(case.text) is None:
        return
    monkeypatch.setattr(CourseSupposing, "few", 0 if seed % 4 else 12)
    monkeypatch.setattr(CourseSupposing, "patience", 20 if seed % 5 == 0 else math.inf)
    if seed % 2:
        monkeypatch.setattr(CourseSupposing, "_splits", staticmethod(Apart._splits))
    if seed % 7 == 0:
        monkeypatch.setattr(courses_engine, "FEW_SYMBOLS", 3)
        monkeypatch.setattr(courses_engine, "MOST_ARRIVALS", 1)
    static: dict[str, list[Any]] = {"site": [], "good": [], "chosen": []} if case.static else {}
    for name, row in case.static:
        static[name].append(row)
    program = presage.parse(case.text)
    together = presage.Reasoner(program, static, emit="changes")
    with monkeypatch.context() as alone:
        alone.setattr(CourseSupposing, "takes_passages", False)
        single = presage.Reasoner(program, static, emit="changes")
        expected = [_run(single, some, until) for some, until in _cuts(case, random.Random(seed))]
    for (some, until), (answers, standing) in zip(_cuts(case, random.Random(seed)), expected, strict=True):
        found, stands = _run(together, some, until)
        assert [each.to_json() for each in found] == [each.to_json() for each in answers], (until, case.text)
        assert found.table.to_pylist() == answers_table(found, not dense).to_pylist()
        assert stands == standing, (until, case.text)


def _cuts(case: Case, dice: random.Random) -> list[tuple[dict[str, Any], int]]:
    """The facts at whole times in tables, a few steps each, with the time up to which each of them goes."""
    found = []
    begin = 0
    while begin <= 24:
        end = begin + dice.choice((0, 1, 4, 9))
        facts = [(now, fact) for now, some in case.steps for fact in some if begin <= now <= end]
        tables: dict[str, Any] = {}
        for name in "prs":
            own = [(now, row, at) for now, (known, row, at) in facts if known == name and {now, at} <= {*range(99)}]
            columns = {"x": [row[0] for _, row, _ in own]}
            if name == "s":
                columns["v"] = [float(row[1]) for _, row, _ in own]
            columns |= {"time": [int(at) for *_, at in own], "arrives": [int(now) for now, *_ in own]}
            if own:
                tables[name] = pyarrow.table(columns)
        found.append((tables, end))
        begin = end + 1
    return found


def _run(reasoner: presage.Reasoner, tables: dict[str, Any], until: int) -> tuple[Any, list[Any]]:
    found = reasoner.run(tables, until)
    return found, lines(reasoner.answers())


class Later(CourseSupposing):
    """Goes by courses from the 21st fact on."""

    few = 20


@pytest.mark.parametrize("seed", range(4))
def test_the_engine_over_zones_hands_over_what_it_knows(seed: int) -> None:
    compare(make_case(seed), 22, None, Later)


class Fickle(CourseSupposing):
    """Goes by courses soon, and back as soon as that has cost something."""

    few = 4
    patience = 5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dense", [False, True])
def test_what_costs_more_together_goes_one_by_one_again(seed: int, dense: bool) -> None:
    compare(make_case(seed, dense=dense), 22, None, Fickle)


def test_individuals_who_are_unlike_each_other_go_one_by_one() -> None:
    found = sides(
        "timeline discrete. input a(x, v). q(X, V)@T :- a(X, V)@T, a(X, W)@U, T < U, U <= T + 20, W > V + 5.",
        CourseSupposing,
    )
    assert found is not None
    dice = random.Random(1)
    many = []
    for now in range(30):
        names = dice.sample(range(100), 40)
        facts = [Fact("a", (f"k{name}", dice.randrange(200)), now, now) for name in names]
        found[1].step(facts, now)
        many.append(found[1].is_many)
    assert any(many) and not many[-1]


def test_what_is_asked_of_symbols_is_noted() -> None:
    trace = Trace(whole=True)
    first, second = trace.symbol(0, 3), trace.symbol(1, 10)
    assert first + 2 < second and not second <= first and first != second
    assert [each.terms for each in trace.conditions] == [((0, 1), (1, -1)), ((0, 1), (1, -1)), ((0, 1), (1, -1))]
    assert str(first + 1) == "\x010\x02" and trace.sums == [(((0, 1),), 1)]
    assert second - second == 0 and isinstance(first + 5 - first, int)
    with pytest.raises(Untraceable):
        _ = second / 2
    with pytest.raises(Untraceable):
        _ = SymbolName("one") < SymbolName("other")


def test_sums_of_fractions_are_exact() -> None:
    trace = Trace(whole=False)
    first = trace.symbol(0, Fraction(1, 3))
    assert first + Fraction(1, 6) == Fraction(1, 2)
    assert first < 1 and first < 1 and first != 1


def test_ranges_cost_the_same_however_long_they_are() -> None:
    """What is worked out does not hang on the length of a range: the same for a minute and for a week."""
    sizes = []
    for length in (60, 604_800):
        found = sides(f"timeline discrete. input a(x). input b(x). q(X) :- a(X), eventually[1,{length}] b(X).")
        assert found is not None
        many = found[1]
        for now in range(30):
            facts = [Fact("a", (f"k{now}",), now, now), Fact("b", (f"k{now // 2}",), now, now)]
            many.step(facts, now)
        sizes.append(len(many.courses.automaton.steps))
    assert sizes[0] == sizes[1] < 20


def test_facts_that_are_kept_for_others_keep_their_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of constants that no individual has any more are given to others, but not those of facts from which what
    holds is found later."""
    monkeypatch.setattr(CourseSupposing, "few", 0)
    monkeypatch.setattr(courses_engine, "FEW_SYMBOLS", 20)
    text = "input a(x). input b(x). q(X) :- a(X), eventually[1,40] b(X). query q(X)."
    for timeline in ("timeline dense. ", "timeline discrete. "):
        program = presage.parse(timeline + text)
        lazy, fed = presage.Reasoner(program, emit="changes"), presage.Reasoner(program, emit="confirmed")
        dice = random.Random(3)
        for now in range(60):
            facts = [(name, (f"{name}{dice.randrange(now, now + 30)}",), now) for name in "ab" for _ in range(4)]
            lazy.push(facts, now)
            fed.push(facts, now)
        assert lazy.engine._behind  # type: ignore[attr-defined]
        known = lazy.holds("a").to_pylist()
        assert known and all(any(_covers(row, each) for each in fed.holds("a").to_pylist()) for row in known)


def _covers(row: dict[str, Any], other: dict[str, Any]) -> bool:
    begins, ends = Fraction(other["from"]) <= Fraction(row["from"]), Fraction(row["to"]) <= Fraction(other["to"])
    return bool(row["x"] == other["x"] and begins and ends)
