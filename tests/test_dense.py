"""Hypothetical answers on dense time, against the definitions and by hand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.hypothesis.dense.engine import Change, Told
from presage.hypothesis.dense.pieces import Piece
from presage.hypothesis.dense.stretches import Stretch, common, minus, stretch, union
from presage.hypothesis.dense.zones import START, Zone
from presage.hypothesis.literals import Open
from presage.supposing_dense import DenseSupposing, suppose
from tests.oracle import TooLarge, declared_delays
from tests.oracle.dense import TRIED, DenseOutlook, Leaf, Leaves, Span
from tests.random_dense import CONSTANTS, LAST, DenseCase, make_dense_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(600) if LONG else range(30)
SOMEBODY = "somebody"
COARSE = 4
"""Open times of ways are compared at multiples of 1/4."""
Answered = dict[tuple[Any, ...], list[Told]]


def point(time: Any) -> Stretch:
    return stretch(time, True, time, True)


def remember(told: Answered, change: Change) -> None:
    """What lines say so far: the latest that covers a time is what stands there."""
    before = told.get(change.arguments, [])
    kept = [Told(part, each.status, each.ways) for each in before for part in minus([each.times], [change.told.times])]
    told[change.arguments] = [*kept, change.told]


def leaves_of(piece: Piece, outlook: DenseOutlook, values: dict[Open, Any]) -> Iterator[Leaves]:
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
        (name, values, cell)
        for name, values, times in facts
        for cell in outlook.cells(Span(times.low, times.bounds[0] == "[", times.high, times.bounds[1] == "]"))
    )


def check_answer(outlook: DenseOutlook, told: Answered, arguments: tuple[Any, ...], time: Any) -> None:
    """One answer at one time: its status and its ways."""
    known = [each for each in told.get(arguments, ()) if common([each.times], [point(time)])]
    schematic: list[tuple[Told, dict[Open, Any]]] = [(each, {}) for each in known]
    if not known:
        for others, many in told.items():
            fits = all(isinstance(want, Open) or want == have for want, have in zip(others, arguments, strict=True))
            if fits and any(isinstance(each, Open) for each in others):
                values = {want: have for want, have in zip(others, arguments, strict=True) if isinstance(want, Open)}
                schematic += [(each, values) for each in many if common([each.times], [point(time)])]
    status = outlook.status("q", arguments, time)
    wanted = {"possible": {"possible"}, "confirmed": {"confirmed"}, "open": {"unsupported"}, "impossible": {"refuted"}}
    said = {each.status for each, _ in schematic}
    assert said == wanted[status] or (not said and status in ("open", "impossible")), (arguments, time, status, said)
    if status != "possible":
        return
    expected = {
        needs: evidence
        for needs, evidence in outlook.ways("q", arguments, time).items()
        if all(is_coarse(leaf, needs, outlook) for leaf in needs)
    }
    found: set[Leaves] = set()
    for each, values in schematic:
        for way in each.ways:
            part = way.at(point(time))
            if part is None:
                continue
            opened = {one for need in part.needs for one in need.arguments if isinstance(one, Open)} - set(values)
            for chosen in product(outlook.constants, repeat=len(opened)):
                bound = {**values, **dict(zip(sorted(opened), chosen, strict=True))}
                for needs in leaves_of(part, outlook, bound):
                    found.add(needs)
                    if needs in expected:
                        check_evidence(part, outlook, expected[needs])
    # With open values a way stands for some that are not minimal, which their own answers leave out.
    if any(
        isinstance(one, Open)
        for each, _ in schematic
        for way in each.ways
        for need in way.needs
        for one in need.arguments
    ):
        assert set(expected) <= found, (arguments, time)
    else:
        assert set(expected) == found, (arguments, time, sorted(map(sorted, set(expected) ^ found))[:3])


def is_coarse(leaf: Leaf, needs: Leaves, outlook: DenseOutlook) -> bool:
    """Whether a premise is part of a stretch, or at one of the times that are compared."""
    name, values, cell = leaf
    beside = ((name, values, cell - 1) in needs) or ((name, values, cell + 1) in needs)
    return beside or cell % 2 == 1 or cell % (2 * outlook.fineness // COARSE) == 0


def check_evidence(part: Piece, outlook: DenseOutlook, expected: set[Leaves]) -> None:
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
    supposing = suppose(report.findings.watched)
    assert isinstance(supposing, DenseSupposing)
    told: Answered = {}
    steps = sorted({arrives for _, arrives in case.facts} | set(range(LAST + 1)))
    for now in steps:
        arriving = [
            (name, values, stretch(span.low, span.closed_low, span.high, span.closed_high))
            for (name, values, span), arrives in case.facts
            if arrives == now
        ]
        for change in supposing.engine.step(arriving, now):
            remember(told, change)
        for (_, arguments), stands in supposing.engine.told.items():
            if any(isinstance(each, Open) for each in arguments):
                told[arguments] = stands  # what is open to anybody is never taken back in so many words
        for arguments in [each for each in told if any(isinstance(one, Open) for one in each)]:
            if ("q", arguments) not in supposing.engine.told:
                del told[arguments]
        arrived = [fact for fact, arrives in case.facts if arrives <= now]
        outlook = DenseOutlook(program, arrived, now, declared_delays(program), (*CONSTANTS, SOMEBODY))
        for value in (*CONSTANTS, SOMEBODY):
            for half in range(2 * (LAST + 2)):
                try:
                    check_answer(outlook, told, (value,), Fraction(half, 2))
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
        "3: possible alarm(a)@(5,8] because hot(a)@3 needs high(a)@[T-2,T] by 8",
        "4: refuted alarm(a)@(5,6)",
        "4: confirmed alarm(a)@[6,8] because hot(a)@3 because high(a)@[4,9]",
        "4: possible alarm(a)@(8,9] because high(a)@[4,9] needs hot(a)@T1 unless T1 <= 4 unless T1 > T by 9",
        "4: possible alarm(a)@(9,11] because high(a)@[4,9] needs hot(a)@T1 needs high(a)@(9,T] unless T1 < T - 5 "
        "unless T1 > T by 11",
        "9: refuted alarm(a)@(8,11]",
    ]


def test_pins_and_interval_facts() -> None:
    text = "timeline dense. input a(x). input b(x) delay 1/2. q(X)@T :- a(X)@T, b(X)@T+1/2. query q(X)."
    assert lines(text, [("a", "k", (1, 2, "[)")), ("b", "k", Fraction(7, 4))]) == [
        "1: possible q(k)@[1,2) because a(k)@[1,2) needs b(k)@T+0.5 by 3",
        "7/4: confirmed q(k)@1.25 because a(k)@[1,2) because b(k)@1.75",
        "9/4: refuted q(k)@[1,1.25)",
        "3: refuted q(k)@(1.25,2)",
    ]


REFUSED = {
    "q(X) :- once[0,2] historically[0,1] p(X).": "below `once`",
    "q(X) :- historically[0,2] once[0,1] p(X).": "`once` has no premise patterns below `historically`",
    "q(X) :- historically[0,2] (p(X) or r(X)).": "`or` has no premise patterns below `historically`",
    "d(X) :- p(X). d(X) :- r(X). q(X) :- historically[0,2] d(X).": "`d` has no premise patterns below `historically`",
    "d(X) :- e(X, Y). q(X) :- historically[0,2] d(X).": "could change over time",
    "q(X) :- once[0,2] p(X), not r(X).": "`not` together with operators",
    "q(X) :- r(X), not once[0,2] p(X).": "`not` over `once`",
    "q(X) :- historically[0,2] not p(X), r(X).": "`not` has no premise patterns below",
    "q(X) :- once[0,inf) p(X).": "without an upper bound",
    "q(X) :- p(X) since[0,2] r(X).": "`since` has no premise patterns",
    "q(X) :- once[0,1] w(X).": "a delay that depends on values (`w`)",
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
        records = sum(len(each.matcher.records) for each in engine.memory.records["alarm"])
        sizes.append((len(engine.told), sum(map(len, engine.memory.facts.values())), records, len(engine.due)))
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
                            times = stretch(answer.start, closed[0], answer.end, closed[1])
                        found.setdefault(emit, {}).setdefault(answer.arguments, []).append(times)
        same = [{key: union(times) for key, times in found.get(emit, {}).items()} for emit in ("changes", "confirmed")]
        assert same[0] == same[1], case.text


def test_a_premise_inside_another_takes_nothing_away() -> None:
    """p before T1 may be one that is needed anyway, or one that is there; what is needed is the same."""
    text = """timeline dense. input p(x). input r(x). g(X)@T :- p(X)@S, S < T, r(X)@T.
    q(X) :- window(2) all p(X), once(0,2) g(X). query q(X)."""
    assert lines(text, [("p", "a", (0, 2, "[]"))], until=0) == [
        "0: possible q(a)@(0,2] because p(a)@[0,2] needs r(a)@T1 unless T1 <= 0 unless T1 >= T by 2",
        "0: possible q(a)@(2,4] because p(a)@[0,2] needs r(a)@T1 needs p(a)@(2,T] unless T1 <= T - 2 unless T1 >= T "
        "by 4",
    ]
