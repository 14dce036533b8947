"""Hypothetical answers on dense time, against the definitions and by hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.errors import PresageError
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.pieces import ZonePiece, canonical
from presage.patterns.literals import Open
from presage.run.open_times import RangeSupposing
from presage.run.possible import suppose
from presage.time.stretches import Stretch, TimeLine, common, union
from presage.time.zones import ANSWER, START, Zone
from tests.oracle import TooLarge, declared_delays
from tests.oracle.dense import TRIED, DenseOutlook, Leaf, Leaves, Span
from tests.random_dense import CONSTANTS, LAST, DenseCase, make_dense_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(600) if LONG else range(30)
SOMEBODY = "somebody"
COARSE = 4
"""Open times of ways are compared at multiples of 1/4."""
LINE = TimeLine(whole=False)


def point(time: Any) -> Stretch:
    return LINE.point(time)


def leaves_of(piece: ZonePiece, outlook: DenseOutlook, values: dict[Open, Any]) -> Iterator[Leaves]:
    """The premise sets of a way, one for each choice of its open times among the points."""
    for zone in chosen_times(piece.zone, COARSE):
        at = {START: Fraction(0), **{place: zone.range(place).low or 0 for place in range(1, zone.size)}}
        found = set()
        for need in piece.needs:
            arguments = tuple(values.get(each, each) if isinstance(each, Open) else each for each in need.arguments)
            low, high = (at[side.base] + side.offset for side in (need.low, need.high))
            span = Span(low, need.closed_low, high, need.closed_high)
            found |= {(need.predicate, arguments, cell) for cell in outlook.cells(span)}
        yield frozenset(found)


def chosen_times(zone: Zone, fineness: int, place: int = 2) -> Iterator[Zone]:
    if place == zone.size:
        yield zone
        return
    times = zone.range(place)
    first = 0 if times.low is None else floor(times.low * fineness)
    last = TRIED * fineness if times.high is None else floor(times.high * fineness) + 1
    for each in range(first, last):
        part = zone.within(point(Fraction(each, fineness)).within(place))
        if not part.empty:
            yield from chosen_times(part, fineness, place + 1)


def all_evidence(facts: Any, outlook: DenseOutlook) -> Leaves:
    return frozenset(
        (name, values, cell) for name, values, times in facts for cell in outlook.cells(Span(*LINE.interval(times)))
    )


def check_answer(outlook: DenseOutlook, engine: Ranges, arguments: tuple[Any, ...], time: Any) -> None:
    """One answer at one time: its status and its ways."""
    key = ("?0", arguments)
    span = engine.spans["?0"]
    assert engine.now is not None
    if span is not None and time + span < engine.now:
        return  # it was decided before, and what it hangs on may be forgotten
    found, _ = engine.outcome(key)
    told = engine.told.get(key)
    here = point(time)
    status = outlook.status("q", arguments, time)
    sure = [LINE.of_range(each.zone.range(ANSWER)) for each in found.confirmed]
    confirmed = bool(common([here], sure) or (told is not None and common([here], told.confirmed)))
    assert confirmed == (status == "confirmed"), (arguments, time, status)
    if confirmed:
        assert told is not None and common([here], told.confirmed)
        return
    assert bool(common([here], found.open)) == (status != "impossible"), (arguments, time, status)
    ways = [part for each in found.ways for part in at(each, here)]
    assert bool(ways) == (status == "possible"), (arguments, time, status)
    if status != "possible":
        return
    is_told = told is not None and (
        (time in told.at and told.at[time].status == "possible")
        or (told.open is not None and any(True for each in told.open.ways for _ in at(each, here)))
    )
    assert is_told or not any(each.grounded for each in ways), (arguments, time, "was not told")
    expected = {
        needs: evidence
        for needs, evidence in outlook.ways("q", arguments, time).items()
        if all(is_coarse(leaf, needs, outlook) for leaf in needs)
    }
    written: set[Leaves] = set()
    for part in ways:
        opened = {one for need in part.needs for one in need.arguments if isinstance(one, Open)}
        for chosen in product(outlook.constants, repeat=len(opened)):
            for needs in leaves_of(part, outlook, dict(zip(sorted(opened), chosen, strict=True))):
                written.add(needs)
                if needs in expected:
                    check_evidence(part, outlook, expected[needs])
    # With open values a way stands for some that are not minimal, which their own answers leave out.
    if any(isinstance(one, Open) for each in ways for need in each.needs for one in need.arguments):
        assert set(expected) <= written, (arguments, time)
    else:
        assert set(expected) == written, (arguments, time, sorted(map(sorted, set(expected) ^ written))[:3])


def at(piece: ZonePiece, times: Stretch) -> Iterator[ZonePiece]:
    zone = piece.zone.within(times.within(ANSWER))
    if not zone.empty:
        yield canonical(replace(piece, zone=zone))


def is_coarse(leaf: Leaf, needs: Leaves, outlook: DenseOutlook) -> bool:
    """Whether a premise is part of a stretch, or at one of the times that are compared."""
    name, values, cell = leaf
    beside = ((name, values, cell - 1) in needs) or ((name, values, cell + 1) in needs)
    return beside or cell % 2 == 1 or cell % (2 * outlook.fineness // COARSE) == 0


def check_evidence(part: ZonePiece, outlook: DenseOutlook, expected: set[Leaves]) -> None:
    """The evidence is enough, and each fact of it is needed."""
    there = all_evidence(part.because, outlook)
    assert any(each <= there for each in expected)
    for fact in part.because:
        fewer = all_evidence(part.because - {fact}, outlook)
        assert not any(each <= fewer for each in expected), ("not needed", fact, part.because)


def check_case(case: DenseCase) -> bool:
    """Runs a case; says whether it could be looked at."""
    report = check_text(case.text)
    assert report.findings is not None, report
    if not all(each.hypothetical.possible for each in report.findings.queries):
        return False
    program = report.findings.watched.program
    supposing = suppose(report.findings.watched, report.findings.unfolded)
    assert isinstance(supposing, RangeSupposing)
    steps = sorted({arrives for _, arrives in case.facts} | set(range(LAST + 1)))
    for now in steps:
        arriving = [
            (name, values, LINE.stretch(span.low, span.closed_low, span.high, span.closed_high))
            for (name, values, span), arrives in case.facts
            if arrives == now
        ]
        supposing.engine.step(arriving, now)
        arrived = [fact for fact, arrives in case.facts if arrives <= now]
        outlook = DenseOutlook(program, arrived, now, declared_delays(program), (*CONSTANTS, SOMEBODY))
        for value in (*CONSTANTS, SOMEBODY):
            for half in range(2 * (LAST + 2)):
                try:
                    check_answer(outlook, supposing.engine, (value,), Fraction(half, 2))
                except TooLarge:
                    continue
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int) -> None:
    case = make_dense_case(seed)
    try:
        check_case(case)
    except AssertionError:
        print(case.text)
        for fact in case.facts:
            print(fact)
        raise


ALARM = """timeline dense. input hot(x). input high(x).
alarm(X) :- once[0,5] hot(X), historically[0,2] high(X). query alarm(X)."""


def lines(text: str, facts: list[tuple[Any, ...]], until: Any = None) -> list[str]:
    """What a run tells: facts are predicate, argument, time, and when they arrive if that is later."""
    reasoner = presage.Reasoner(presage.parse(text), emit="changes")
    arriving: dict[Any, list[Any]] = {}
    for name, value, time, *arrives in facts:
        start = time[0] if isinstance(time, tuple) else time
        arriving.setdefault(arrives[0] if arrives else start, []).append((name, (value,), time))
    told: list[str] = []

    def tell(answers: Any) -> None:
        for each in answers:
            parts = [f"{each.now}: {each}", *(f"because {one}" for one in each.because)]
            parts += [*(f"needs {one}" for one in each.needs), *(f"unless {one}" for one in each.unless)]
            told.append(" ".join(parts) + (f" by {each.decided_by}" if each.decided_by is not None else ""))

    for now in sorted(arriving):
        tell(reasoner.push(arriving[now], now))
    while (due := reasoner.next_decision()) is not None and (until is None or due <= until):
        tell(reasoner.push([], due))
    return told


def test_stretches_in_lines() -> None:
    assert lines(ALARM, [("hot", "a", 3), ("high", "a", (4, 9, "[]"))]) == [
        "3: possible alarm(a)@T because hot(a)@3 needs high(a)@[T-2,T] unless T <= 5 unless T > 8 by 8",
        "4: confirmed alarm(a)@[6,8] because hot(a)@3 because high(a)@[4,9]",
        "4: possible alarm(a)@T because high(a)@[4,9] needs hot(a)@T1 unless T <= 8 unless T > 9 unless T1 <= 4 "
        "unless T1 > T by 9",
        "9: unsupported alarm(a)@T",
    ]


def test_why_intervals_are_refused_is_said() -> None:
    """What is negated is judged time by time where the same facts matter to what stands beside it."""
    program = presage.parse("timeline dense.\nq0(X) :- r(X).\nq1(X) :- r(X), not q0(a).\nquery q1(X).")
    with pytest.raises(PresageError, match="`r` matters to a negated atom and to what stands beside it; use `--emit"):
        presage.Reasoner(program).push([("r", ("b",), (1, 3, "[]"))], now=1)
    confirmed = presage.Reasoner(program, emit="confirmed").push([("r", ("b",), (1, 3, "[]"))], now=1)
    assert [each.answer for each in confirmed] == ["q1(b)@1"]


def test_pins_and_interval_facts() -> None:
    text = "timeline dense. input a(x). input b(x) delay 1/2. q(X)@T :- a(X)@T, b(X)@T+1/2. query q(X)."
    assert lines(text, [("a", "k", (1, 2, "[)")), ("b", "k", Fraction(7, 4))]) == [
        "1: possible q(k)@T because a(k)@[1,2) needs b(k)@T+0.5 unless T < 1 unless T >= 2 by 3",
        "7/4: confirmed q(k)@1.25 because a(k)@[1,2) because b(k)@1.75",
        "3: unsupported q(k)@T",
    ]


REFUSED = {
    "q(X) :- once[0,2] historically[0,1] p(X).": "below `once`",
    "q(X) :- historically[0,2] once[0,1] p(X).": "`once` has no premise patterns below `historically`",
    "q(X) :- historically[0,2] (p(X) or r(X)).": "`or` has no premise patterns below `historically`",
    "d(X) :- p(X). d(X) :- r(X). q(X) :- historically[0,2] d(X).": "`d` has no premise patterns below `historically`",
    "d(X) :- e(X, Y). q(X) :- historically[0,2] d(X).": "could change over time",
}


@pytest.mark.parametrize("rule", REFUSED)
def test_what_is_refused_is_named(rule: str) -> None:
    text = f"timeline dense. input p(x). input w(x). input w(x) where x = a delay 3. {rule} query q(X)."
    found = check_text(text).findings
    assert found is not None
    (query,) = found.queries
    assert not query.hypothetical.possible and REFUSED[rule] in query.hypothetical.reason
    assert presage.Reasoner(presage.parse(text), emit="confirmed") is not None
    with pytest.raises(presage.PresageError, match="--emit confirmed"):
        presage.Reasoner(presage.parse(text), emit="changes")


@pytest.mark.parametrize("seed", range(12))
def test_a_restored_reasoner_goes_on_exactly(seed: int) -> None:
    case = make_dense_case(seed)
    program = presage.parse(case.text)
    if not all(each.hypothetical.possible for each in check_text(case.text).findings.queries):  # type: ignore[union-attr]
        pytest.skip("refused")
    through, saved = (presage.Reasoner(program, emit="changes") for _ in range(2))
    for now in sorted({arrives for _, arrives in case.facts} | set(range(LAST + 3))):
        facts = [
            (name, values, (span.low, span.high, "[("[not span.closed_low] + ")]"[span.closed_high]))
            for (name, values, span), arrives in case.facts
            if arrives == now
        ]
        saved = presage.Reasoner.restore(program, saved.save())
        assert list(saved.push(facts, now)) == list(through.push(facts, now))
        assert list(saved.answers()) == list(through.answers())


def test_memory_is_bounded() -> None:
    reasoner = presage.Reasoner(presage.parse(ALARM), emit="changes")
    sizes = []
    for now in range(60):
        reasoner.push([("hot", (f"d{now}",), now), ("high", (f"d{now}",), (now, now + 3, "[]"))], now)
        engine = reasoner.supposing.engine  # type: ignore[union-attr]
        sizes.append((len(engine.told), sum(map(len, engine.memory.facts.values())), len(engine.due)))
    assert all(late <= 2 * early + 10 for early, late in zip(sizes[25], max(sizes[30:]), strict=True)), sizes[25:]


def test_confirmed_is_what_the_engine_of_entailed_facts_confirms() -> None:
    for seed in range(100, 130):
        case = make_dense_case(seed)
        if not all(each.hypothetical.possible for each in check_text(case.text).findings.queries):  # type: ignore[union-attr]
            continue
        found: dict[str, dict[Any, list[Stretch]]] = {}
        for emit in ("changes", "confirmed"):
            reasoner = presage.Reasoner(presage.parse(case.text), emit=emit)
            for now in sorted({arrives for _, arrives in case.facts} | set(range(LAST + 6))):
                facts = [
                    (name, values, (span.low, span.high, "[("[not span.closed_low] + ")]"[span.closed_high]))
                    for (name, values, span), arrives in case.facts
                    if arrives == now
                ]
                for answer in reasoner.push(facts, now):
                    if answer.status == "confirmed":
                        times = point(answer.time) if answer.time is not None else None
                        if times is None:
                            assert answer.start is not None
                            closed = [each in "[]" for each in answer.bounds]
                            times = LINE.stretch(answer.start, closed[0], answer.end, closed[1])
                        found.setdefault(emit, {}).setdefault(answer.arguments, []).append(times)
        same = [{key: union(times) for key, times in found.get(emit, {}).items()} for emit in ("changes", "confirmed")]
        assert same[0] == same[1], case.text


def test_a_premise_inside_another_takes_nothing_away() -> None:
    """p before T1 may be one that is needed anyway, or one that is there; what is needed is the same."""
    text = """timeline dense. input p(x). input r(x). g(X)@T :- p(X)@S, S < T, r(X)@T.
    q(X) :- window(2) all p(X), once(0,2) g(X). query q(X)."""
    reasoner = presage.Reasoner(presage.parse(text), emit="changes")
    told = {each.answer: each for each in reasoner.push([("p", ("a",), (0, 2, "[]"))], 0)}
    ways = {(way["needs"], way["unless"]) for way in told["q(a)@T"].ways}
    assert ways == {
        (("r(a)@T1",), ("T <= 0", "T >= 2", "T1 <= 0", "T1 >= T")),
        (("p(a)@(2,T]", "r(a)@T1"), ("T <= 2", "T > 4", "T1 <= T - 2", "T1 >= T")),
    }


def test_what_has_no_end_has_no_deadline() -> None:
    text = "timeline dense. input a(x). input b(x). q(X) :- a(X), eventually[1,inf) b(X). query q(X)."
    assert lines(text, [("a", "k", 3), ("b", "k", 900)]) == [
        "3: possible q(k)@3 because a(k)@3 needs b(k)@T1 unless T1 < 4",
        "900: confirmed q(k)@3 because a(k)@3 because b(k)@900",
    ]


def test_since_says_what_is_missing_in_between() -> None:
    text = "timeline dense. input p(x). input r(x). q(X)@T :- r(X)@T, (p(X) since[1,5] r(X))@T. query q(X)."
    told = lines(text, [("r", "a", 2), ("p", "a", (2, 4, "(]")), ("r", "a", 4)], until=4)
    assert told[0] == (
        "2: possible q(a)@T because p(a)@(2,4] because r(a)@2 needs r(a)@T unless T < 3 unless T > 4 by 4"
    )
    assert "4: confirmed q(a)@4 because p(a)@(2,4] because r(a)@2 because r(a)@4" in told


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
def test_what_is_restored_knows_when_to_look_again(emit: Any) -> None:
    program = presage.parse("timeline dense.\ninput z.\ninput q(x) delay 1.\nd(X) :- z, not q(X).\n")
    reasoner = presage.Reasoner(program, emit=emit)
    reasoner.push([("z", (), 2)], now=2)
    reasoner = presage.Reasoner.restore(program, reasoner.save())
    assert reasoner.next_decision() == 3
    assert [str(answer) for answer in reasoner.push([], now=5)] == ["confirmed d(X)@2"]
