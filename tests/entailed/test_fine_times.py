"""Times finer than those of facts: delays, and times at which something arrives, on the dense timeline."""

from __future__ import annotations

from fractions import Fraction

import pytest

import presage
from presage.io.facts import Fact
from presage.model.terms import Number
from presage.run.schedule import steps

PROGRAM = """
timeline dense.
input h(x).
input q(x) delay 1.5.
v(X) :- h(X), not q(X).
query v(X).
"""


def told(emit: str, arrives: tuple[Number, Number], saved: bool = False) -> list[str]:
    program = presage.parse(PROGRAM)
    reasoner = presage.Reasoner(program, emit=emit)
    facts = [
        Fact("h", ("a",), 0, 4, True, False, 0),
        Fact("q", ("a",), 1, 1, True, True, arrives[0]),
        Fact("q", ("a",), 3, 3, True, True, arrives[1]),
    ]
    if not saved:
        return [f"{each.now}: {each}" for answers in steps(reasoner, facts, None) for each in answers]
    found = []
    for now in (0, *arrives, 5, 6):
        due = [each for each in facts if each.arrival == now]
        found += [f"{each.now}: {each}" for each in reasoner.step(due, now)]
        reasoner = presage.Reasoner.restore(program, reasoner.save())
    return found


def test_what_is_settled_a_delay_ago_is_told_then() -> None:
    assert told("confirmed", (1, 4)) == [
        "3/2: confirmed v(a)@0", "2: confirmed v(a)@(0,0.5]", "5/2: confirmed v(a)@(0.5,1)",
        "3: confirmed v(a)@(1,1.5]", "4: confirmed v(a)@(1.5,2.5]", "9/2: confirmed v(a)@(2.5,3)",
        "5: confirmed v(a)@(3,3.5]", "11/2: confirmed v(a)@(3.5,4)",
    ]  # fmt: skip


LATE = (Fraction(13, 7), Fraction(10, 3))


@pytest.mark.parametrize("emit", ["confirmed", "states", "changes"])
@pytest.mark.parametrize("saved", [False, True])
def test_facts_may_arrive_at_times_that_no_fact_has(emit: str, saved: bool) -> None:
    found = told(emit, LATE, saved)
    pieces = [each.split("@")[1] for each in found if "confirmed" in each]
    assert pieces and all(each.split(": ")[0] for each in found)
    inside = [Fraction(each, 4) for each in range(16) if each not in (4, 12)]
    for at in (1, 3, *inside):
        assert any(covers(each, at) for each in pieces) == (at in inside), (at, pieces)


def covers(piece: str, at: Number) -> bool:
    if "," not in piece:
        return Fraction(piece) == at
    low, high = map(Fraction, piece[1:-1].split(","))
    return low < at < high or (at == low and piece[0] == "[") or (at == high and piece[-1] == "]")
