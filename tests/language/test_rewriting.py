"""The rewriting to existential rules and the temporal grounding: how they read, and what Nemo makes of them."""

from __future__ import annotations

import os
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import pytest

from presage.checking import check_text
from presage.cli.plan import clauses
from presage.errors import PresageError
from presage.rewrite.existential import grounding, rewriting, rewritten_fact, time_points
from tests.entailed.test_chase import expected, oracle_null, without_nulls
from tests.oracle.homomorphism import Fact, homomorphism
from tests.random_existential import make_case
from tests.random_programs import Case

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
BELTS = """
timeline discrete.
static high(t).
warn(X) :- window(3) all beltTmp(X, Y), high(Y).
exists Y: beltOperator(X, Y) :- belt(X).
"""


def rewritten(text: str) -> list[str]:
    found = check_text(text, chase_limit=1).findings
    assert found is not None
    return [str(clause) for clause in rewriting(found.subject.program, found.subject.discrete)]


def test_example_2() -> None:
    assert rewritten(BELTS) == [
        "all_warn(?X, 0, ?now) :- all_beltTmp(?X, ?Y, 3, ?now), high(?Y) .",
        "all_beltOperator(?X, !Y, 0, ?now) :- all_belt(?X, 0, ?now) .",
        "all_beltTmp(?x1, ?x2, 3, 0) :- all_beltTmp(?x1, ?x2, 0, 0) .",
        "all_beltTmp(?x1, ?x2, ?n, ?c) :- all_beltTmp(?x1, ?x2, ?m, ?c), ?m > 0, ?n = ?m - 1 .",
        "all_beltTmp(?x1, ?x2, ?m, ?d) :- all_beltTmp(?x1, ?x2, ?n, ?c), ?m = ?n + 1, ?m <= 3, ?d = ?c + 1, "
        "all_beltTmp(?x1, ?x2, 0, ?d) .",
    ]


def test_values_that_last_are_made_once() -> None:
    assert rewritten("timeline discrete. exists lasting Y: ticket(X, Y)@T+1 :- order(X)@T.") == [
        "made_0(?X, !Y) :- all_order(?X, 0, ?T), ?t1 = ?T + 1, top(0, ?t1) .",
        "all_ticket(?X, ?Y, 0, ?t1) :- all_order(?X, 0, ?T), ?t1 = ?T + 1, top(0, ?t1), made_0(?X, ?Y) .",
    ]


def test_example_5() -> None:
    text = "timeline discrete. exists Y: q(X, Y) :- window(3) all p(X). p(Y)@U :- q(X, Y)@T, U = T + 1."
    found = check_text(text, chase_limit=1).findings
    assert found is not None
    assert [str(clause) for clause in grounding(found.subject.program, 1)] == [
        "q_0(?X, !Y) :- p_0(?X) .",
        "q_1(?X, !Y) :- p_1(?X) .",
        "p_1(?Y) :- q_0(?X, ?Y) .",
    ]


def test_printed_with_time_points_and_exports() -> None:
    found = list(clauses(check_text(BELTS), 1, False))
    assert found[:2] == ["% line 4", "all_warn(?X, 0, ?now) :- all_beltTmp(?X, ?Y, 3, ?now), high(?Y) ."]
    assert found[-5:] == [
        "% (3)", "top(0, 0) .", "top(0, 1) .", "@export all_warn :- csv {} .", "@export all_beltOperator :- csv {} .",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "timeline discrete. p(X) :- window(rows 3) some q(X).",
        "timeline discrete. p(X) :- historically[0,3] q(X).",
        "timeline dense. p(X) :- q(X).",
        "timeline discrete. p(X) | r(X) :- q(X).",
    ],
)
def test_what_has_no_rewriting(text: str) -> None:
    with pytest.raises(PresageError, match="rewriting"):
        rewritten(text)


def by_nemo(case: Case, end: int) -> set[Fact]:
    """What Nemo derives from the rewriting, for the queries."""
    nemo: Any = pytest.importorskip("nmo_python", reason="nemo-python is not installed (the bench extra has it)")
    report = check_text(case.text)
    assert report.findings is not None
    program = report.findings.subject.program
    lines = [*map(str, rewriting(program)), *map(str, time_points(end))]
    lines += [rewritten_fact(name, arguments, int(time)) for (name, arguments, time), _ in case.facts]  # type: ignore[arg-type]
    asked = {query.atom.predicate for query in report.findings.subject.queries}
    lines += [f"@export all_{name} :- csv {{}} ." for name in asked]
    engine = nemo.NemoEngine(nemo.load_string("\n".join(lines)))
    engine.reason()
    found: set[Fact] = set()
    for name in asked:
        for *arguments, size, time in engine.result(f"all_{name}"):
            if size == 0 and time <= case.end:
                values = tuple(each.strip('"') if isinstance(each, str) else str(each) for each in arguments)
                found.add((name, values, Fraction(time)))
    return found


def nemo_null(value: Hashable) -> bool:
    return isinstance(value, str) and value.startswith("_:")


@pytest.mark.parametrize("seed", range(300) if LONG else range(25))
def test_nemo_says_the_same(seed: int) -> None:
    case = make_case(seed, windows=True, positive=True)
    theirs, ours = by_nemo(case, case.end + 8), expected(case, dense=False)
    assert without_nulls(theirs) == without_nulls(ours)
    assert homomorphism(ours, theirs, oracle_null) is not None
    assert homomorphism(theirs, ours, nemo_null) is not None
