"""What `presage check` finds, against what the papers and the definitions say.

Each folder of `tests/cases/analysis` has a program and the part of its report that matters there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from presage.checking import check_text

CASES = sorted((Path(__file__).parent.parent / "cases" / "analysis").iterdir())


def part_of(expected: Any, found: Any) -> Any:
    """The part of the report that the expectation speaks of."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {key: part_of(value, found.get(key)) for key, value in expected.items()}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [part_of(one, other) for one, other in zip(expected, found, strict=True)]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_report(case: Path) -> None:
    report = check_text((case / "program.psg").read_text(encoding="utf-8"), "program.psg").to_json()
    expected = json.loads((case / "check.json").read_text(encoding="utf-8"))
    assert part_of(expected, report) == expected
    if expected.get("partition_key"):
        assert report["partition_key"] == expected["partition_key"]
    if expected.get("ok", True):
        assert [problem["message"] for problem in report["problems"]] == []


@pytest.mark.parametrize(
    ("rules", "delay", "window"),
    [
        ("h(X) :- p(X), eventually[0,5] p(X).", 0, 0),
        ("h(X)@T+3 :- p(X)@S, p(X)@T, S <= T.", 0, 3),
        ("h(X) :- historically[0,1] p(X), once[0,1] eventually[0,1] p(X).", 0, 1),
        ("h(X) :- p(X), eventually[0,5] p(Y).", 0, 0),
        ("h(X) :- p(X), eventually[0,5] p(Y), Y != X.", 5, 5),
    ],
)
def test_what_another_premise_implies_counts_for_nothing(rules: str, delay: int, window: int) -> None:
    found = check_text(f"timeline discrete. input p(x). {rules} query h(X).").or_raise().findings
    assert found is not None
    assert (found.query_delay, found.window_size) == (delay, window)
