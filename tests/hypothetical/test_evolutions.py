"""Negation judged evolution by evolution, on random programs and streams, against every evolution of what has arrived.

At each step the state of every ground answer is compared with the oracle's: confirmed, possible by exactly these ways,
open without evidence, or impossible. And so is what was told. Programs whose negated atoms could be judged one by one
are taken as well: both ways of judging know the same definitions.
"""

from __future__ import annotations

import json
import os

import pytest

from presage.checking import check_text
from presage.hypothesis.ranges.building import range_engine
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.pieces import ZonePiece
from presage.hypothesis.ranges.told import Change, is_open
from presage.hypothesis.ranges.ways import outcome
from presage.io.facts import Fact
from presage.patterns.finish import NoPatterns
from presage.patterns.of_queries import label, points_below
from presage.patterns.unfold import Unfolded
from presage.run.open_times import RangeSupposing
from presage.time.stretches import common
from tests.hypothetical.test_ranges import Leaves, holds, written_out
from tests.oracle import Outlook, TooLarge, declared_delays
from tests.random_hypotheses import LOOK_AHEAD, make_case
from tests.random_programs import Case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(3000) if LONG else range(60)


def engine_of(case: Case) -> Ranges:
    report = check_text(case.text)
    assert report.findings is not None
    subject = report.findings.subject
    engine = range_engine(
        subject, points_below(Unfolded(subject).by_points, subject.queries), everybody=True, entangled=True
    )
    for name, row in case.statics:
        engine.statics.add(name, row)
    return engine


def compare(case: Case) -> None:
    report = check_text(case.text)
    assert report.findings is not None
    program = report.findings.subject.program
    engine = engine_of(case)
    said: list[Change] = []
    places = {query.atom.predicate: label(place) for place, query in enumerate(program.queries)}
    # With numbers beside those that occur, since comparisons tell them apart.
    constants = {each for (_, values, _), _ in case.facts for each in values} | {0, 3}
    last = max((arrives for _, arrives in case.facts), default=0) + 3
    for now in range(last + 1):
        due = [(*fact[:2], engine.line.point(fact[2])) for fact, arrives in case.facts if arrives == now]
        said += [each for each in engine.step(due, now) if each.status == "confirmed"]  # type: ignore[arg-type]
        arrived = [fact for fact, arrives in case.facts if arrives <= now]
        outlook = Outlook(
            program, arrived, now, case.end + LOOK_AHEAD, declared_delays(program), case.statics, 1, constants
        )
        for answer in outlook.answers(case.end + 2):
            if not outlook.judged(answer):
                continue
            try:
                expected = outlook.ways(answer)
            except TooLarge:
                continue
            check(engine, outlook, places[answer[0]], answer, expected, now, case, said)


def check(  # type: ignore[no-untyped-def]
    engine: Ranges, outlook: Outlook, asked: str, answer, expected, now: int, case: Case, said: list[Change]
) -> None:
    _, arguments, time = answer
    span = engine.spans[asked]
    if span is not None and time + span < now:
        return  # it was decided before, and what it hangs on may be forgotten
    evolutions, point = engine.evolutions, engine.line.point(time)
    assert evolutions is not None
    told = engine.told.get((asked, arguments))
    found = outcome(evolutions._answers_at((asked, arguments), time), engine.line, arguments, with_limits=True)
    where = f"{case.text}{case.facts}\n{case.statics}\nat {now}: {answer}"
    is_told = bool(told and common([point], told.confirmed))
    if outlook.proved(answer):
        assert found.confirmed, f"{where} is not confirmed"
        if in_sight(engine, asked, found.confirmed, time):
            assert is_told or is_said(said, asked, answer, engine), f"{where} was not told as confirmed"
        return
    assert not is_told and not found.confirmed, f"{where} is confirmed"
    may = bool(found.open)
    assert may == outlook.may(answer), f"{where}: may be {may}"
    if told and time in told.at:
        status = "refuted" if not may else "possible" if expected else "unsupported"
        assert told.at[time].status == status, f"{where} was told {told.at[time].status}"
    if not may:
        return
    ways: dict[Leaves, set[Leaves]] = {}
    for piece in found.ways:
        for needs, because in written_out(piece, time, outlook):
            ways.setdefault(needs, set()).add(because)
    missing, extra = expected.keys() - ways.keys(), ways.keys() - expected.keys()
    # Of a way with open values, some instances may be superfluous though the way is not.
    is_general = any(is_open(need.arguments) for piece in found.ways for need in piece.needs)
    if is_general:
        extra = {each for each in extra if not any(other <= each for other in expected)} - {
            each for each in extra if any(other < each for other in ways)
        }
        sufficient = [
            frozenset(each for each in leaves if not outlook._is_evidence(outlook.table(answer), each))
            for leaves in outlook.leaf_sets(answer)
        ]
        extra = {each for each in extra if not any(other <= each for other in sufficient)}
    assert not missing and not extra, (
        f"{where}: missing {[sorted(map(str, each)) for each in missing]}, "
        f"too much {[sorted(map(str, each)) for each in extra]}"
    )
    for needs, because in ways.items():
        if needs in expected:
            assert because & expected[needs] or (
                is_general and any(least <= each for least in expected[needs] for each in because)
            ), f"{where}: {sorted(map(str, needs))} because of {because}, expected {expected[needs]}"
    if expected and in_sight(engine, asked, found.ways, time):
        if told and time in told.at:
            said, true = (
                {needs for each in several for needs, _ in written_out(each, time, outlook)}
                for several in (told.at[time].ways, found.ways)
            )
            assert said == true, f"{where} was told otherwise: {said} and not {true}"
        else:
            assert covered(engine, asked, answer, said), f"{where} was not told as possible"


def in_sight(engine: Ranges, asked: str, ways: list[ZonePiece], time: int) -> bool:
    """Whether a fact speaks for an answer, or time alone has brought it into sight."""
    assert engine.evolutions is not None and engine.now is not None
    lead = engine.evolutions.coming_up.lead(engine.patterns[asked])
    if not any(each.because or each.settled for each in ways):
        lead = 0  # what hangs on nothing is told as time passes
    return any(each.because for each in ways) or (lead is not None and time <= engine.now + lead)


def values_of(given, arguments) -> dict[str, object] | None:  # type: ignore[no-untyped-def]
    """The values of open arguments with which they are others."""
    values: dict[str, object] = {}
    agrees = all(
        values.setdefault(one.name, have) == have if hasattr(one, "name") else one == have
        for one, have in zip(given, arguments, strict=True)
    )
    return values if agrees else None


def allows(piece: ZonePiece, values: dict[str, object]) -> bool:
    return not any(all(holds(one, values) for one in clause) for clause in piece.limits)


def is_said(said: list[Change], asked: str, answer, engine: Ranges) -> bool:  # type: ignore[no-untyped-def]
    """Whether an answer was confirmed by a line with open variables."""
    _, arguments, time = answer
    for each in said:
        values = values_of(each.arguments, arguments) if each.asked == asked else None
        if values is not None and each.times is not None and common([each.times], [engine.line.point(time)]):
            if allows(each.ways[0], values):
                return True
    return False


def covered(engine: Ranges, asked: str, answer, said: list[Change]) -> bool:  # type: ignore[no-untyped-def]
    """Whether a possible answer is one of those of a line with open variables."""
    _, arguments, time = answer
    point = engine.line.point(time)
    for (name, given), told in engine.told.items():
        values = values_of(given, arguments) if name == asked else None
        if values is not None:
            ways = told.at[time].ways if time in told.at else () if told.open is None else told.open.ways
            if any(allows(each, values) and not each.zone.within(point.within(1)).empty for each in ways):
                return True
    return is_said(said, asked, answer, engine)


@pytest.mark.parametrize("seed", SEEDS)
def test_states_are_those_of_the_definitions(seed: int) -> None:
    try:
        compare(make_case(seed))
    except NoPatterns:
        pytest.skip("no patterns by points")


@pytest.mark.parametrize("everybody", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_restored_at_each_step_tells_the_same(seed: int, everybody: bool) -> None:
    case = make_case(seed)
    report = check_text(case.text)
    assert report.findings is not None
    subject = report.findings.subject
    try:
        found = points_below(Unfolded(subject).by_points, subject.queries)
    except NoPatterns:
        pytest.skip("no patterns by points")

    def new() -> RangeSupposing:
        return RangeSupposing(subject, range_engine(subject, found, everybody, entangled=True))

    steady, restored = new(), new()
    for name, row in case.statics:
        steady.engine.statics.add(name, row)
        restored.engine.statics.add(name, row)
    for now in range(max((arrives for _, arrives in case.facts), default=0) + 4):
        due = [Fact(*fact, fact[2]) for fact, arrives in case.facts if arrives == now]  # type: ignore[arg-type]
        told = [answer.to_json() for answer in steady.step(due, now)]
        assert [answer.to_json() for answer in restored.step(due, now)] == told, f"{case.text}{case.facts}\nat {now}"
        saved, arrays = restored.saved()
        assert arrays == {}
        restored = new()
        restored.load(json.loads(json.dumps(saved)), {})
        assert restored.next_wake() == steady.next_wake()


HOSPITAL = """
timeline discrete. input gcm(x). input gbol(x). input bca(x).
gvs(X)@T :- gcm(X)@T, gbol(X)@T.
st(X, us)@T+1 :- bca(X)@T+2.
st(X, us)@T+1 :- not gvs(X)@T, not st(X, us)@T.
st(X, ic)@T+1 :- not gvs(X)@T, st(X, us)@T.
risk(X)@T :- st(X, ic)@T+2.
query risk(X).
"""


def test_a_circle_through_time_goes_on_without_end() -> None:
    """[HA] Example 11, over more steps than anything could be called within itself: what was decided is remembered, and
    no more of it than something open may hang on."""
    report = check_text(HOSPITAL)
    assert report.findings is not None
    subject = report.findings.subject
    found = points_below(Unfolded(subject).by_points, subject.queries)
    supposing = RangeSupposing(subject, range_engine(subject, found, everybody=True, entangled=True))
    told: list[tuple[int, str, tuple[str, ...], tuple[str, ...]]] = []
    for now in range(300):
        due = [Fact(name, ("john",), now, now) for name, every in (("gcm", 3), ("gbol", 5)) if now % every == 0]
        for each in supposing.step(due, now):
            if now < 2:
                told.append((now, str(each), each.needs, each.unless))
    assert told == [
        (0, "possible risk(X)@0", ("not st(X, us)@0", "not gvs(X)@1"), ("X = john",)),
        (1, "confirmed risk(X)@0", (), ("X = john",)),
        (1, "possible risk(john)@0", ("bca(john)@2",), ()),
        (1, "possible risk(john)@1", ("not st(john, us)@1", "not gvs(john)@2"), ()),
    ]
    evolutions = supposing.engine.evolutions
    assert evolutions is not None
    assert len(evolutions.decided) + len(evolutions.settled) + supposing.remembered < 60
