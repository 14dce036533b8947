"""One case, run: the program over the case's facts, up to the last time that is looked at, and all that was said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presage.answers import Answer, shown_name
from presage.checking import Report, check_file
from presage.errors import nearest
from presage.io.facts import Fact
from presage.io.files import read_facts
from presage.languages import SUFFIXES
from presage.model.terms import Constant, Number, Variable
from presage.run.choice import Choice
from presage.run.reasoner import Reasoner, reasoner_of
from presage.run.schedule import default_end, steps
from presage.testing.cases import GivenFact, TestCase
from presage.testing.notation import CaseError, ExpectedLiteral

_OPEN_TIME = re.compile(r"[A-Z_]\w*(\s*[+-]\s*\S+)?")


@dataclass(frozen=True, slots=True)
class CaseRun:
    """What a case's run said, line by line, and the reasoner that said it."""

    stepper: Reasoner
    told: list[Answer]
    late: list[Fact]


def run_case(case: TestCase, params: tuple[tuple[str, str], ...] = ()) -> CaseRun:
    """Runs a case, with other values for parameters of its program; a program, a file or a fact that is wrong raises a
    message with its place."""
    report = _checked(_program_of(case), params)
    stepper = reasoner_of(report, case.emit, Choice(everybody=_is_about_everybody(case)))
    checker = stepper.checker
    facts = [*read_facts(case.fact_files, checker), *(fact_of(stepper, case, given) for given in case.facts)]
    known = [*read_facts(case.static_files, checker), *(fact for fact in facts if fact.low is None)]
    for fact in known:
        if fact.low is not None:
            raise CaseError(f"{case.file}:{case.line}: `{fact.predicate}` is not static: give its facts with `facts`")
        stepper.add_statics([fact])
    arriving = [fact for fact in facts if fact.low is not None]
    times = check_expectations(case, stepper)
    if case.until is not None:
        line, text = case.until
        end = time_of(stepper, text, f"{case.file}:{line}")
        if times and max(times) > end:
            raise CaseError(f"{case.file}:{line}: the run ends at {text}, and something is expected after that")
    else:
        end = max([default_end(stepper, arriving), *times])
    told = [answer for answers in steps(stepper, arriving, end) for answer in answers]
    return CaseRun(stepper, told, list(stepper.late))


def _is_about_everybody(case: TestCase) -> bool:
    """Whether an answer with an open variable is expected: nothing but absence may speak for it."""
    return any(
        isinstance(term, Variable) and not term.is_anonymous
        for each in case.expectations
        if each.literal is not None and each.kind != "no"
        for term in each.literal.atom.arguments
    )


def check_expectations(case: TestCase, stepper: Reasoner) -> list[Number]:
    """The times of a case's expectations. One about something the program never says would be met, or not,
    whatever happens; so it is refused."""
    asked = {shown_name(query.atom.predicate): len(query.atom.arguments) for query in stepper.subject.queries}
    times = []
    for expected in case.expectations:
        where = f"{case.file}:{expected.line}"
        if expected.time:
            times.append(time_of(stepper, expected.time, where))
        if expected.kind == "late":
            assert expected.literal is not None
            fact_of(stepper, case, GivenFact(expected.line, expected.literal, None))
            continue
        name = expected.of if expected.literal is None else expected.literal.atom.predicate
        if name is None:
            continue
        if name not in asked:
            near = nearest(name, asked)
            hint = f"; did you mean `{near}`?" if near else f" (its queries: {', '.join(sorted(asked)) or 'none'})"
            raise CaseError(f"{where}: no query of the program asks for `{name}`{hint}")
        if expected.literal is not None and name != "violated" and asked[name] != len(expected.literal.atom.arguments):
            count = len(expected.literal.atom.arguments)
            raise CaseError(f"{where}: `{name}` has {asked[name]} arguments in the program and {count} here")
        if expected.literal is not None and expected.kind != "no":
            _check_time(stepper, expected.literal, where)
    return times


def _check_time(stepper: Reasoner, literal: ExpectedLiteral, where: str) -> None:
    """An answer has a time, an interval or, as long as it is not known, a variable for it."""
    if literal.time is None:
        raise CaseError(f"{where}: `{literal}` has no time: write {literal}@3")
    if literal.interval is not None:
        low, high, _ = literal.interval
        time_of(stepper, low, where)
        if high != "inf":
            time_of(stepper, high, where)
    elif not _OPEN_TIME.fullmatch(literal.time):
        time_of(stepper, literal.time, where)


def time_of(stepper: Reasoner, text: str, where: str) -> Number:
    time = stepper.checker.time(text, where)
    if time < 0:
        raise CaseError(f"{where}: {text} lies before time 0, the start of the stream")
    if stepper.subject.discrete and not isinstance(time, int):
        raise CaseError(f"{where}: {text} is not a whole number, as times of the discrete timeline are")
    return time


def _program_of(case: TestCase) -> Path:
    if case.program is not None:
        return case.program
    for folder in (case.file.resolve().parent, case.file.resolve().parent.parent):
        found = sorted(each for each in folder.glob("*.*") if each.suffix.lower()[1:] in SUFFIXES)
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(path.name for path in found)
            raise CaseError(f"{case.file}:{case.line}: which program? {folder} has {names}: add a line `program NAME`")
    raise CaseError(f"{case.file}:{case.line}: there is no program beside the file or above: add a line `program PATH`")


def _checked(path: Path, params: tuple[tuple[str, str], ...]) -> Report:
    return check_file(path, params=dict(params)).or_raise()


def fact_of(stepper: Reasoner, case: TestCase, given: GivenFact) -> Fact:
    """A fact of a case, checked against the program as facts of files are."""
    where = f"{case.file}:{given.line}"
    literal = given.literal
    if literal.negated:
        raise CaseError(f"{where}: what does not arrive is not written down: leave out `{literal}`")
    values = []
    for term in literal.atom.arguments:
        if not isinstance(term, Constant):
            raise CaseError(
                f"{where}: `{literal}` has a variable; a fact has values, and text in quotes may begin large"
            )
        values.append(term.value)
    entry: dict[str, Any] = {"pred": literal.atom.predicate, "args": values}
    if literal.interval is not None:
        low, high, bounds = literal.interval
        entry.update({"from": low, "to": None if high == "inf" else high, "bounds": bounds})
    elif literal.time is not None:
        entry["time"] = literal.time
    if given.arrives is not None:
        entry["arrives"] = given.arrives
    return stepper.checker.fact(entry, where)
