"""The outcome of cases: lines for people, JSON for programs, and JUnit's XML for what runs tests every night."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from presage.testing.cases import TestCase
from presage.testing.expecting import Miss


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    case: TestCase
    misses: Sequence[Miss]
    seconds: float
    problem: str | None = None
    """Why the case could not be run, if it could not."""

    @property
    def ok(self) -> bool:
        return not self.misses and self.problem is None

    @property
    def word(self) -> str:
        return "ok" if self.ok else "failed" if self.problem is None else "wrong"


def lines_for_people(outcome: CaseOutcome) -> list[str]:
    case = outcome.case
    lines = [f"{outcome.word:<6}  {case.file}: {case.name}"]
    lines.extend(f"    {line}" for line in (outcome.problem or "").splitlines())
    for miss in outcome.misses:
        lines.append(f"    {case.file}:{miss.line}")
        lines.extend(f"    {line}" for line in miss.difference)
    return lines


def summary(outcomes: Iterable[CaseOutcome]) -> str:
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.word] = counts.get(outcome.word, 0) + 1
    return ", ".join(f"{counts[word]} {word}" for word in ("failed", "wrong", "ok") if word in counts)


def as_json(outcome: CaseOutcome) -> dict[str, Any]:
    return {
        "case": outcome.case.name,
        "file": str(outcome.case.file),
        "line": outcome.case.line,
        "outcome": outcome.word,
        "seconds": round(outcome.seconds, 3),
        "misses": [
            {"line": miss.line, "expected": miss.expected, "difference": list(miss.difference)}
            for miss in outcome.misses
        ],
        "problem": outcome.problem,
    }


def write_junit(path: Path, outcomes: Sequence[CaseOutcome]) -> None:
    """A suite for each file of cases. What could not be run is an error, what was not met a failure."""
    root = ElementTree.Element("testsuites", _counts(outcomes))
    for file in dict.fromkeys(outcome.case.file for outcome in outcomes):
        those = [outcome for outcome in outcomes if outcome.case.file == file]
        suite = ElementTree.SubElement(root, "testsuite", {"name": str(file), **_counts(those)})
        for outcome in those:
            case = outcome.case
            place = {"classname": str(case.file.with_suffix("")), "file": str(case.file), "line": str(case.line)}
            element = ElementTree.SubElement(
                suite, "testcase", {"name": case.name, **place, "time": f"{outcome.seconds:.3f}"}
            )
            if outcome.problem is not None:
                ElementTree.SubElement(element, "error", {"message": "cannot be run"}).text = _xml(outcome.problem)
            elif outcome.misses:
                first, *others = outcome.misses
                message = _xml(f"{first.expected}{f', and {len(others)} more' if others else ''}")
                text = "\n".join(lines_for_people(outcome)[1:])
                ElementTree.SubElement(element, "failure", {"message": message}).text = _xml(text)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _counts(outcomes: Sequence[CaseOutcome]) -> dict[str, str]:
    return {
        "tests": str(len(outcomes)),
        "failures": str(sum(bool(outcome.misses) for outcome in outcomes)),
        "errors": str(sum(outcome.problem is not None for outcome in outcomes)),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }


def _xml(text: str) -> str:
    """XML has no place for most control characters, which data may hold."""
    return "".join(sign if sign >= " " or sign in "\n\t" else f"\\x{ord(sign):02x}" for sign in text)
