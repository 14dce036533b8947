"""What `check` promises about queries, against the oracle: nothing outside delay and window matters, and shards
give what the whole stream gives.

A delay or a window that is too small, or a key that separates facts that meet, would lose answers without
anybody noticing. So random programs are evaluated with the promise taken at its word.
"""

from __future__ import annotations

import os
import random
from fractions import Fraction

import pytest

from presage.checking import Findings, check_text
from tests.oracle import evaluate
from tests.random_programs import Case, make_case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEEDS = range(2000) if LONG else range(60)
MOST_AHEAD = 12


def findings_of(case: Case) -> Findings:
    found = check_text(case.text).or_raise().findings
    assert found is not None
    if not found.strata.stratified:
        pytest.skip("several models")
    return found


def span_of(when: object) -> tuple[Fraction, Fraction]:
    if isinstance(when, tuple):
        return Fraction(when[0]), Fraction(when[1])
    assert isinstance(when, (int, Fraction))
    return Fraction(when), Fraction(when)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_outside_delay_and_window_matters(seed: int) -> None:
    case = make_case(seed, dense=False)
    found = findings_of(case)
    program = found.subject.program
    end = case.end + MOST_AHEAD
    whole = evaluate(program, [fact for fact, _ in case.facts], case.statics, end=end, timeline="discrete")
    chance = random.Random(seed)
    checked = 0
    for query in found.queries:
        delay, window = query.reach.delay, query.reach.window
        if delay is None or delay > MOST_AHEAD or not isinstance(delay, int):
            continue
        name = query.query.atom.predicate
        for time in chance.sample(range(case.end), 2):
            first = -1 if window is None else time + delay - window
            near = []
            for (predicate, arguments, when), _ in case.facts:
                low, high = span_of(when)
                low, high = max(low, Fraction(first)), min(high, Fraction(time + delay))
                if low <= high:
                    near.append((predicate, arguments, (int(low), int(high), "[]")))
            part = evaluate(program, near, case.statics, end=end, timeline="discrete")
            for value in "ab":
                assert (time in part.at(name, value)) == (time in whole.at(name, value)), (
                    name,
                    value,
                    time,
                    query.reach,
                )
            checked += 1
    if not checked:
        pytest.skip("no query with a delay")


LATER = 10_000
"""So much later are the seeds of other programs."""


@pytest.mark.parametrize("seed", SEEDS)
def test_shards_give_what_the_whole_stream_gives(seed: int) -> None:
    # Where one program has no key, another is taken.
    tried = (make_case(seed + more, dense=False) for more in range(0, 4 * LATER, LATER))
    keyed = ((case, found) for case in tried if (found := findings_of(case)).partition.columns is not None)
    case, found = next(keyed, (None, None))
    if case is None or found is None:
        pytest.skip("no key")
    program = found.subject.program

    def derived(values: str) -> set[tuple[str, tuple[object, ...], int]]:
        facts = [fact for fact, _ in case.facts if fact[1][0] in values]
        model = evaluate(program, facts, case.statics, end=case.end + MOST_AHEAD, timeline="discrete")
        asked = {query.query.atom.predicate for query in found.queries}
        return {
            (name, arguments, time) for (name, arguments), times in model.items() if name in asked for time in times
        }

    on_a, on_b = derived("a"), derived("b")
    assert on_a | on_b == derived("ab")
    assert not on_a & on_b
