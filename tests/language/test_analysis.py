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
