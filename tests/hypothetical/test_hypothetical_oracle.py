"""The oracle for hypothetical answers, against the papers' worked examples and against itself.

Expectations are computed by hand from the definitions; where a paper's own table departs from
its definitions, the definitions count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, combinations

import pytest

from presage.model import Program
from presage.parser import parse
from presage.rewrite import normalise
from tests.oracle import Outlook, TooLarge, declared_delays, evaluate
from tests.oracle.grounding import GroundFact
from tests.oracle.hypothetical import Leaves, Literal
from tests.random_hypotheses import LOOK_AHEAD, make_case
from tests.random_programs import Case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(1000) if LONG else range(30)


def read(text: str) -> Program:
    program, problems = normalise(parse("timeline discrete. " + text))
    assert not problems
    return program


def look(text: str, arrived: list[GroundFact], now: int, end: int, **more: object) -> Outlook:
    program = read(text)
    return Outlook(program, arrived, now, end, declared_delays(program), **more)  # type: ignore[arg-type]


def shown(outlook: Outlook, answer: GroundFact) -> dict[str, list[str]]:
    """The ways of an answer as text: premises, and each set of evidence."""

    def text(literals: object) -> str:
        return ", ".join(sorted(map(str, literals)))  # type: ignore[call-overload]

    return {text(premises): sorted(map(text, evidence)) for premises, evidence in outlook.ways(answer).items()}


# -- the papers: turbines ------------------------------------------------------------------------

TURBINES = """
    flag(X) :- temp(X, high).
    cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
    shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
    malf(X)@T-2 :- shdn(X)@T.
"""


def hot(*times: int, device: str = "wt25") -> list[GroundFact]:
    return [("temp", (device, "high"), time) for time in times]


def test_ha_examples_2_3_and_9() -> None:
    malf = ("malf", ("wt25",), 0)
    at_0 = look(TURBINES, hot(0), 0, 6)
    assert at_0.judged(malf)
    assert shown(at_0, malf) == {"temp(wt25, high)@1, temp(wt25, high)@2": ["temp(wt25, high)@0"]}
    other = ("malf", ("other1",), 1)
    assert at_0.status(other) == "open"
    at_1 = look(TURBINES, hot(0, 1), 1, 6, constants=["wt42"])
    assert shown(at_1, malf) == {"temp(wt25, high)@2": ["temp(wt25, high)@0, temp(wt25, high)@1"]}
    assert shown(at_1, ("malf", ("wt25",), 1)) == {
        "temp(wt25, high)@2, temp(wt25, high)@3": ["temp(wt25, high)@1"],
    }
    assert at_1.status(("malf", ("wt42",), 1)) == "impossible"
    at_2 = look(TURBINES, hot(0, 1, 2), 2, 6)
    assert at_2.status(malf) == "confirmed" and at_2.proved(malf)
    assert [at_2.status(("malf", ("wt25",), time)) for time in (1, 2, 3)] == ["possible", "possible", "open"]
    at_3 = look(TURBINES, hot(0, 1, 2), 3, 6)
    assert [at_3.status(("malf", ("wt25",), time)) for time in range(4)] == ["confirmed"] + ["impossible"] * 3


def test_ha_example_10() -> None:
    text = TURBINES + 'malf(X) :- temp(X, "n/a").'
    at_1 = look(text, [*hot(0, 1), ("temp", ("wt42", "n/a"), 1)], 1, 5)
    assert shown(at_1, ("malf", ("wt25",), 0)) == {"temp(wt25, high)@2": ["temp(wt25, high)@0, temp(wt25, high)@1"]}
    assert at_1.status(("malf", ("wt42",), 1)) == "confirmed"


def test_had_examples_4_and_7() -> None:
    text = "input temp(device, level) delay 1." + TURBINES
    malf = ("malf", ("wt25",), 0)
    at_1 = look(text, hot(0), 1, 5)
    assert shown(at_1, malf) == {"temp(wt25, high)@1, temp(wt25, high)@2": ["temp(wt25, high)@0"]}
    assert look(text, hot(0), 2, 5).status(malf) == "impossible"
    late = look(text, hot(0, 1), 2, 5)
    assert shown(late, malf) == {"temp(wt25, high)@2": ["temp(wt25, high)@0, temp(wt25, high)@1"]}
    assert look(text, hot(0, 1, 2), 2, 5).status(malf) == "confirmed"


def test_had_example_6() -> None:
    text = "input p(x) delay 2. input r(y) delay 0. q(X)@T :- p(X)@T, r(Y)@T."
    at_0 = look(text, [("p", ("a",), 0), ("r", ("b",), 0)], 0, 2)
    assert at_0.status(("q", ("a",), 0)) == "confirmed"
    assert shown(at_0, ("q", ("other1",), 0)) == {"p(other1)@0": ["r(b)@0"]}
    no_r = look(text, [("p", ("a",), 0)], 0, 2)
    assert no_r.status(("q", ("a",), 0)) == "impossible"


# -- the papers: hospital ------------------------------------------------------------------------

HOSPITAL = """
    gvs(X)@T :- gcm(X)@T, gbol(X)@T.
    st(X, us)@T+1 :- bca(X)@T+2.
    st(X, us)@T+1 :- not gvs(X)@T, not st(X, us)@T.
    st(X, ic)@T+1 :- not gvs(X)@T, st(X, us)@T.
    risk(X)@T :- st(X, ic)@T+2.
"""


def hospital(arrived: list[GroundFact], now: int) -> Outlook:
    return look(HOSPITAL, arrived, now, 4, fresh=0, constants=["john", "gus"])


def test_ha_example_15_with_generalised_literals() -> None:
    risk = ("risk", ("john",), 0)
    at_0 = hospital([], 0)
    # st(john, us)@0 may come true through bca(john)@1: the instance T = -1 has no atom before 0.
    assert shown(at_0, risk) == {"not gvs(john)@1, not st(john, us)@0": ["not gvs(john)@0"]}
    good: list[GroundFact] = [("gbol", ("john",), 0), ("gcm", ("john",), 0)]
    assert shown(hospital(good, 0), risk) == {}
    assert hospital(good, 0).status(risk) == "open"
    # `not gvs(john)@1` is settled at 1, so the way the paper calls unsupported has evidence by then.
    assert shown(hospital(good, 1), risk) == {"bca(john)@2": ["not gvs(john)@1"]}


def test_ha_example_19() -> None:
    text = "p@T :- s@T, s@T+1. r@T :- not p@T."
    r_0, r_1 = ("r", (), 0), ("r", (), 1)
    assert look(text, [], 0, 4).status(r_0) == "confirmed"
    at_1 = look(text, [("s", (), 1)], 1, 4)
    assert at_1.status(r_1) == "open" and shown(at_1, r_1) == {}
    assert look(text, [("s", (), 1), ("s", (), 2)], 2, 4).status(r_1) == "impossible"
    assert look(text, [("s", (), 1)], 2, 4).status(r_1) == "confirmed"


def test_ha_example_20() -> None:
    arrived: list[GroundFact] = [("gcm", ("gus",), 0)]
    at_0 = hospital(arrived, 0)
    for name in ("john", "gus"):
        assert shown(at_0, ("risk", (name,), 0)) == {
            f"not gvs({name})@1, not st({name}, us)@0": [f"not gvs({name})@0"],
        }
        assert at_0.status(("st", (name, "us"), 0)) == "open"
    arrived += [("bca", ("john",), 1), ("gcm", ("gus",), 1)]
    at_1 = hospital(arrived, 1)
    assert at_1.status(("st", ("john", "us"), 0)) == "confirmed"
    assert at_1.status(("st", ("gus", "us"), 1)) == "confirmed"
    assert at_1.status(("risk", ("gus",), 0)) == "confirmed"
    assert shown(at_1, ("risk", ("john",), 0)) == {"bca(john)@2": ["not gvs(john)@1"]}
    # The table moves `not st(john, us)@1` to the evidence although bca(john)@2 may still arrive.
    assert shown(at_1, ("risk", ("john",), 1)) == {
        "not gvs(john)@2, not st(john, us)@1": ["not gvs(john)@1"],
    }
    arrived += [("gcm", ("gus",), 2), ("gbol", ("gus",), 2)]
    at_2 = hospital(arrived, 2)
    assert at_2.status(("risk", ("john",), 0)) == "impossible"
    assert at_2.status(("risk", ("john",), 1)) == "confirmed"
    assert at_2.status(("risk", ("gus",), 1)) == "impossible"
    assert at_2.status(("st", ("john", "us"), 2)) == "confirmed"
    assert at_2.status(("risk", ("john",), 2)) == "open"


# -- single points -------------------------------------------------------------------------------


def test_metric_operators_before_the_start() -> None:
    past = look("d :- historically[0,2] not p, q.", [("q", (), 0)], 0, 3)
    assert past.status(("d", (), 0)) == "confirmed"
    assert look("d :- historically[0,2] p.", [("p", (), 0)], 0, 3).status(("d", (), 0)) == "impossible"
    once = look("d :- q, once[0,2] not p.", [("p", (), 0), ("q", (), 0)], 0, 3)
    assert once.status(("d", (), 0)) == "confirmed"
    pinned = look("d@T :- q@T, not p@T-1.", [("q", (), 0), ("q", (), 1)], 1, 3)
    assert [pinned.status(("d", (), time)) for time in (0, 1)] == ["impossible", "confirmed"]


def test_what_is_false_before_the_start_is_no_evidence() -> None:
    outlook = look("d :- historically[0,2] not p, eventually[1] q.", [], 0, 3)
    assert shown(outlook, ("d", (), 0)) == {"q@1": ["not p@0"]}


def test_negation_of_what_is_not_an_atom() -> None:
    facts: list[GroundFact] = [("q", (), 1), ("p", (), 0)]
    for condition, expected in [
        ("not once[0,1] p", "impossible"),
        ("not historically[0,1] p", "confirmed"),
        ("not eventually[0] p", "confirmed"),
        ("not (p@0 and p)", "confirmed"),
        ("not (p@0 or p)", "impossible"),
        ("not 1 > 2", "confirmed"),
    ]:
        assert look(f"d :- q, {condition}.", facts, 1, 3).status(("d", (), 1)) == expected, condition


def test_a_premise_set_larger_than_another_is_no_way() -> None:
    """The example after [HA] Theorem 3."""
    text = "d@0 :- p(a)@0, p(b)@1, p(c)@2. d@0 :- p(a)@0, p(c)@2, p(d)@3."
    arrived: list[GroundFact] = [("p", ("a",), 0)]
    both = {"p(b)@1, p(c)@2": ["p(a)@0"], "p(c)@2, p(d)@3": ["p(a)@0"]}
    assert shown(look(text, arrived, 0, 4), ("d", (), 0)) == both
    assert shown(look(text, [*arrived, ("p", ("b",), 1)], 1, 4), ("d", (), 0)) == {"p(c)@2": ["p(a)@0, p(b)@1"]}


def test_atoms_that_derive_each_other() -> None:
    text = "d@T :- e@T, f@T. e@T :- f@T. f@T :- e@T. e@T :- p@T, q@T+1. f@T :- r@T, q@T+1."
    outlook = look(text, [("p", (), 0), ("r", (), 0)], 0, 3)
    assert shown(outlook, ("d", (), 0)) == {"q@1": ["p@0", "r@0"]}


def test_what_needs_no_evidence_is_not_supported() -> None:
    text = "d@T :- p@T, q@T+1. d@T :- q@T+1."
    outlook = look(text, [("p", (), 0)], 0, 3)
    assert outlook.status(("d", (), 0)) == "open" and outlook.may(("d", (), 0))


def test_several_minimal_sets_of_evidence() -> None:
    text = "d@T :- p@T, q@T+1. d@T :- r@T, q@T+1. d@T :- p@T, q@T+1, r@T+1."
    outlook = look(text, [("p", (), 0), ("r", (), 0)], 0, 3)
    assert shown(outlook, ("d", (), 0)) == {"q@1": ["p@0", "r@0"]}


def test_program_and_static_facts_are_neither_evidence_nor_premises() -> None:
    text = "static s(x). e(a)@0. d(X)@T :- s(X), e(X)@T, p(X)@T, q(X)@T+1."
    outlook = look(text, [("p", ("a",), 0)], 0, 3, statics=[("s", ("a",))])
    assert shown(outlook, ("d", ("a",), 0)) == {"q(a)@1": ["p(a)@0"]}


def test_an_input_that_is_also_derived() -> None:
    text = "input p. input q. p@T :- q@T+1. d@T :- r@T, p@T."
    outlook = look(text, [("r", (), 0), ("p", (), 0)], 0, 3)
    assert outlook.status(("d", (), 0)) == "confirmed"
    assert shown(look(text, [("r", (), 0)], 0, 3), ("d", (), 0)) == {"q@1": ["r@0"]}
    assert shown(look("input p delay 1." + text, [("r", (), 0)], 0, 3), ("d", (), 0)) == {"q@1": ["r@0"]}
    refined = "input p delay 1. p@T :- q@T+1. d@T :- r@T, p@T."
    assert shown(look(refined, [("r", (), 0)], 0, 3), ("d", (), 0)) == {"q@1": ["r@0"], "p@0": ["r@0"]}


def test_certain_by_cases_is_not_proved() -> None:
    outlook = look("d@T :- p@T, q@T+1. d@T :- p@T, not q@T+1.", [("p", (), 0)], 0, 3)
    assert outlook.status(("d", (), 0)) == "confirmed" and not outlook.proved(("d", (), 0))


def test_premises_that_exclude_each_other_are_no_way() -> None:
    text = "e@T :- q@T+1. d@T :- p@T, q@T+1, not e@T."
    assert look(text, [("p", (), 0)], 0, 3).status(("d", (), 0)) == "impossible"


def test_what_lies_past_the_end_is_not_judged() -> None:
    text = "d@T :- p@T, q@T+2. e@0 :- p@T1, q@T2. f@T1 :- p@T1, q@T2, T1 <= T2, T2 <= T1 + 2."
    outlook = look(text, [("p", (), 2)], 2, 4)
    assert [outlook.judged(("d", (), time)) for time in range(5)] == [True, True, True, False, False]
    assert not outlook.judged(("e", (), 0))
    assert not look("g@0 :- p.", [], 2, 4).judged(("g", (), 0))
    boxed = look("historically[0,2] g :- p.", [], 2, 4)
    assert [boxed.judged(("g", (), time)) for time in range(5)] == [True, True, True, False, False]
    assert [outlook.judged(("f", (), time)) for time in range(5)] == [True, True, True, False, False]


def test_too_many_evolutions_are_refused() -> None:
    with pytest.raises(TooLarge):
        look("d :- always[1,20] p.", [], 0, 30).status(("d", (), 0))


def test_the_last_declaration_that_matches_gives_the_delay() -> None:
    delay = declared_delays(read("input p(x, y) delay 1. input p(x, y) where x = a delay 3. d :- p(_, _), q."))
    assert [delay("p", ("a", "b")), delay("p", ("b", "a")), delay("q", ())] == [3, 1, 0]


# -- random programs -----------------------------------------------------------------------------


def subsets(facts: Iterable[GroundFact]) -> Iterator[frozenset[GroundFact]]:
    """From the smallest to the largest."""
    found = sorted(facts, key=repr)
    return map(frozenset, chain.from_iterable(combinations(found, size) for size in range(len(found) + 1)))


def case_and_program(seed: int) -> tuple[Case, Program]:
    case = make_case(seed)
    program, problems = normalise(parse(case.text))
    assert not problems
    return case, program


def outlook_at(case: Case, program: Program, now: int, fresh: int = 1) -> Outlook:
    facts: list[tuple[GroundFact, int]] = case.facts  # type: ignore[assignment]
    arrived = [fact for fact, arrives in facts if arrives <= now]
    constants = {value for (_, values, _), _ in facts for value in values}
    end = case.end + LOOK_AHEAD
    return Outlook(program, arrived, now, end, declared_delays(program), case.statics, fresh, constants)


def answers(outlook: Outlook, last: int) -> Iterator[GroundFact]:
    """Those that can be judged and have not too many evolutions."""
    for answer in outlook.answers(last):
        try:
            if outlook.judged(answer) and outlook.table(answer):
                yield answer
        except TooLarge:
            continue


def model(case: Case, program: Program, facts: Iterable[GroundFact], outlook: Outlook) -> set[GroundFact]:
    """What the evaluator derives; a predicate nobody uses brings in all constants of the domain."""
    named = [("constant", (value,), 0) for value in outlook.grounding.constants]
    found = evaluate(program, [*facts, *named], case.statics, end=outlook.end, timeline="discrete")
    return {(*ground, time) for ground, times in found.items() for time in times}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_table_of_evolutions_is_what_the_evaluator_gives_for_each(seed: int) -> None:
    case, program = case_and_program(seed)
    for now in (1, case.end, case.end + LOOK_AHEAD + 3):
        outlook = outlook_at(case, program, now)
        judged = list(answers(outlook, case.end))
        arrived = model(case, program, outlook.arrived, outlook)
        for answer in judged:
            if outlook.settled(answer):
                assert outlook.certain(answer) == outlook.may(answer) == (answer in arrived), (answer, now)
        few = [each for each in judged if 1 <= len(list(filter(outlook.is_candidate, outlook.cone(each)))) <= 3]
        for answer in few[:: max(len(few) // 3, 1)]:
            candidates = filter(outlook.is_candidate, outlook.cone(answer))
            truths = {
                answer in model(case, program, outlook.arrived | coming, outlook) for coming in subsets(candidates)
            }
            assert (truths == {True}) == outlook.certain(answer), (answer, now)
            assert (True in truths) == outlook.may(answer), (answer, now)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_known_grows_and_in_the_end_all_is_known(seed: int) -> None:
    case, program = case_and_program(seed)
    last = case.end + LOOK_AHEAD + 3
    decided: dict[GroundFact, str] = {}
    for now in range(last + 1):
        outlook = outlook_at(case, program, now)
        for answer in answers(outlook, case.end):
            status = outlook.status(answer)
            assert decided.get(answer, status) == status, (answer, now)
            if status in ("confirmed", "impossible"):
                decided[answer] = status
            else:
                assert now < last and not outlook.settled(answer), (answer, now)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_answer_is_true_exactly_where_one_of_its_ways_is(seed: int) -> None:
    case, program = case_and_program(seed)
    for now in range(case.end + 1):
        outlook = outlook_at(case, program, now)
        for answer in answers(outlook, case.end):
            table = outlook.table(answer)
            covered = 0
            for leaves in outlook.leaf_sets(answer):
                covered |= common(outlook, answer, leaves)
            assert covered == table.of(Literal.of(answer)), (answer, now)
            for premises, evidence in outlook.ways(answer).items():
                holds = common(outlook, answer, premises)
                assert holds and not holds & ~covered, (answer, now, premises)
                assert all(common(outlook, answer, each) == table.everywhere for each in evidence)
            if outlook.proved(answer):
                assert outlook.certain(answer)


def common(outlook: Outlook, answer: GroundFact, literals: Leaves) -> int:
    """The evolutions in which all the literals hold."""
    table = outlook.table(answer)
    found = table.everywhere
    for each in literals:
        found &= table.of(each)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_without_negation_ways_are_the_supported_answers(seed: int) -> None:
    """[HA] Definitions 5 and 6, [HAD] Definition 2, taken literally."""
    case, program = case_and_program(seed)
    if "not " in case.text:
        pytest.skip("negation")
    for now in (0, case.end // 2, case.end):
        outlook = outlook_at(case, program, now)
        shown_now = [each for each in answers(outlook, case.end) if outlook.status(each) == "possible"]
        open_now = [each for each in answers(outlook, case.end) if outlook.status(each) == "open"]
        for answer in shown_now[:2] + open_now[:1]:
            cone = outlook.cone(answer)
            candidates, known = set(filter(outlook.is_candidate, cone)), cone & outlook.arrived
            if len(candidates) + len(known) > 7:
                continue

            def entailed(facts: Iterable[GroundFact], answer: GroundFact = answer, outlook: Outlook = outlook) -> bool:
                return answer in model(case, program, facts, outlook)

            expected: dict[frozenset[GroundFact], set[frozenset[GroundFact]]] = {}
            hypotheses: list[frozenset[GroundFact]] = []
            for more in subsets(candidates):
                if any(smaller <= more for smaller in hypotheses) or not entailed(known | more):
                    continue
                hypotheses.append(more)
                evidence: list[frozenset[GroundFact]] = []
                for given in subsets(known):
                    if not any(smaller <= given for smaller in evidence) and entailed(given | more):
                        evidence.append(given)
                if evidence != [frozenset()]:
                    expected[more] = set(evidence)
            found = {
                frozenset(each.fact for each in premises): {frozenset(each.fact for each in part) for part in evidence}
                for premises, evidence in outlook.ways(answer).items()
            }
            assert found == expected, (answer, now)
