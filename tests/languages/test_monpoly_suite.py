"""MonPoly's own tests, where a copy of them lies: `MONPOLY_TESTS=…/monpoly/tests`. Its verdicts are ours.

A test of MonPoly is a text with commands and what they print (`run.t`): formulas, logs, and for each time point that
is decided its satisfying values. What it decides at the end of a log by adding a time point later than all times is
asked here by letting time pass. Numbers are compared as far as it prints them.

We say more at the end of a log. MonPoly takes an interval for over when a later time point has come; here a step has
all time points of its timestamp, so that the interval is over with the step of its last time. What is said beyond
MonPoly has to stay as it is when time goes on.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.errors import PresageError
from presage.io.facts import Checker
from presage.io.files import read_facts

FOLDER = os.environ.get("MONPOLY_TESTS", "")
ORDER = "MonPoly prints the columns of the last relation; here values are in the order in which the variables occur"
RECORDS = "records and JSON logs are refused"
INFINITE = "MIN and MAX of no floats are infinite there; here nothing is satisfied"
DIFFERENT = {
    "let01/let01.mfotl#0": "MonPoly adds a time point at the end of a log, which NEXT sees; here none comes",
    "test01/test1_24.mfotl#23": ORDER,
    "test22/test22_1.mfotl#0": ORDER,
    "json02/json02.mfotl#0": RECORDS,
    "test03/test3_7.mfotl#4": "comparisons of numbers alone are worked out here",
    "test03/test3_8.mfotl#5": "comparisons of numbers alone are worked out here",
    "test18/test18_10.mfotl#9": "MonPoly ends when something is divided by zero; here that has no value",
    "test29/test29_10.mfotl#9": INFINITE,
    "test29/test29_11.mfotl#10": INFINITE,
}
"""What is not as MonPoly has it, and why."""
_VERDICT = re.compile(r"@(\S+) \(time point (\d+)\): (.*)$")
Rows = set[tuple[Any, ...]]


@dataclass
class Case:
    name: str
    folder: Path
    formula: str
    words: list[str]
    output: list[str] = field(default_factory=list)

    def option(self, name: str) -> str:
        return self.words[self.words.index(name) + 1]

    @property
    def decided(self) -> dict[int, Rows]:
        """What is printed, by time point."""
        found: dict[int, Rows] = {}
        for line in self.output:
            match = _VERDICT.match(line)
            if match:
                found.setdefault(int(match[2]), set()).update(_rows(match[3].strip()))
        return found

    @property
    def refused(self) -> bool:
        return any("NOT monitorable" in line or "Fatal error" in line or "rror:" in line for line in self.output)


def _rows(text: str) -> Rows:
    if text in ("true", "false"):
        return {()} if text == "true" else set()
    if text.startswith("(("):
        text = text[1:-1]
    return {tuple(map(_value, _split(each))) for each in _groups(text) if each or text != "()"}


def _groups(text: str) -> list[str]:
    found, depth, begin, quoted = [], 0, 0, False
    for at, sign in enumerate(text):
        quoted = quoted != (sign == '"')
        if quoted:
            continue
        if sign == "(":
            depth += 1
            begin = at + 1 if depth == 1 else begin
        elif sign == ")":
            depth -= 1
            if depth == 0:
                found.append(text[begin:at])
    return found


def _split(text: str) -> list[str]:
    return re.findall(r'"[^"]*"|[^,]+', text)


def _value(text: str) -> Any:
    return text if text.startswith('"') else _shown(float(text))


def _shown(number: float) -> str:
    """A number as exact as MonPoly prints it."""
    return f"{number:.6g}"


def cases(folder: Path) -> list[Case]:
    found: list[Case] = []
    for script in sorted(folder.glob("*.t/run.t")):
        files: dict[str, str] = {}
        current: Case | None = None
        for line in script.read_text(encoding="utf-8").splitlines():
            if line.startswith("  $ "):
                current = None
                command = line[4:]
                written = re.match(r"""echo\s+(?:-n\s+)?(["'])(.*)\1\s*>\s*(\S+)$""", command)
                if written:
                    files[written[3]] = written[2]
                elif command.startswith("monpoly") and "-log" in command and "|" not in command:
                    words = shlex.split(command)
                    name = words[words.index("-formula") + 1]
                    there = script.parent / name
                    formula = files.get(name) or (there.read_text() if there.exists() else "")
                    number = sum(each.folder == script.parent for each in found)
                    current = Case(f"{script.parent.stem}/{name}#{number}", script.parent, formula, words)
                    found.append(current)
            elif current is not None and line.startswith("  "):
                current.output.append(line.strip())
    return found


def told(case: Case, folder: Path, on: bool) -> dict[int, Rows]:
    """What we say, by time point; `on`: time goes on after the log. A log that saves its state is left at that."""
    (folder / "f.mfotl").write_text(case.formula)
    (folder / "f.sig").write_text((case.folder / case.option("-sig")).read_text())
    program = presage.load(folder / "f.mfotl")
    subject = presage.check(program).or_raise().findings.subject  # type: ignore[union-attr]
    reasoner = presage.Reasoner(program)
    logs = [case.folder / case.option("-log")]
    if "-load" in case.words:
        logs.insert(0, logs[0].with_name(logs[0].name.replace("_b", "_a")))
    now: Any = 0
    points = 0
    found: dict[int, Rows] = {}
    for log in logs:
        # The second of two logs goes on from what is saved after the first.
        reasoner = presage.Reasoner.restore(program, reasoner.save()) if points else reasoner
        found = {}
        (folder / "f.log").write_text(re.sub(r"^>.*<$", "", log.read_text(), flags=re.MULTILINE))
        facts = read_facts([folder / "f.log"], Checker(subject.program, subject.predicates, False))
        for now, facts_then in itertools.groupby(facts, key=lambda fact: fact.low):
            step: list[Any] = []
            for fact in facts_then:
                step.append((fact.predicate, fact.arguments, now))
                if fact.predicate == "time_point":
                    step[-1] = ("time_point", (points,), now)
                    points += 1
            _hear(reasoner.push(step, now=now), found)
    if on:
        _hear(reasoner.push([], now=now + 10**9), found)
    return found


def _hear(answers: Any, found: dict[int, Rows]) -> None:
    for answer in answers:
        values = tuple(f'"{each}"' if isinstance(each, str) else _shown(float(each)) for each in answer.arguments)
        found.setdefault(answer.to_json()["time_point"], set()).add(values)


def said(case: Case, folder: Path, on: bool) -> dict[int, Rows] | None:
    """`None` where we refuse the formula or the log."""
    try:
        return told(case, folder, on)
    except PresageError:
        return None


def is_the_same(case: Case, folder: Path) -> bool:
    ends = "-nonewlastts" not in case.words
    ours, theirs = said(case, folder, ends), case.decided
    if ours is None or case.refused:
        return ours is None and case.refused
    if "-verbose" in case.words and not ends:
        later = said(case, folder, True) or {}
        decided = max(theirs, default=-1)
        assert all(later[point] == rows for point, rows in ours.items()), "what is said stays"
        ours = {point: rows for point, rows in ours.items() if point <= decided}
    return ours == {point: rows for point, rows in theirs.items() if rows}


@pytest.mark.skipif(not FOLDER, reason="MONPOLY_TESTS does not say where MonPoly's tests are")
def test_verdicts(tmp_path: Path) -> None:
    given = cases(Path(FOLDER))
    assert len(given) > 400
    assert {case.name for case in given if not is_the_same(case, tmp_path)} == set(DIFFERENT)
