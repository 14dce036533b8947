"""Explanations of what rests on invented values, by the names that a run gives them.

A run says which values each rule invented, for what and when, and how they were called once somebody was told. With
these as facts `exists Z: t(X, Z) :- a(X)` is a rule like others, `t(X, Z) :- a(X), invented(X, Z)`: it has proofs,
which the checker checks. Values that nobody was told have the names that follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from presage.checking import Report, check_program
from presage.explanations.outline import Outline, Sign
from presage.explanations.result import Explanation
from presage.io.facts import Fact
from presage.model.formulas import Atom, Formula, Over, Pinned, variables
from presage.model.statements import Column, Input, Rule, Statement
from presage.model.terms import Number, Variable
from presage.model.time import Pin
from presage.run.inventions import run_naming

WORDS = {"did not arrive": "was not invented", "may arrive": "may be invented", "arrived": "was invented"}
_A_NAME = re.compile(r'"(_:\d+)"')


@dataclass(frozen=True, slots=True)
class Named:
    """A program with what its rules invent as inputs, the facts of these, and how people see their predicates."""

    report: Report
    facts: list[Fact]
    word: str

    def as_printed(self, found: Explanation) -> Explanation:
        """With invented values as runs print them, and without the facts that say what was invented."""
        printed = _Printed(self.word)
        return replace(found, line=printed.plain(found.line), outline=printed.outline(found.outline))


def with_names(report: Report, facts: Sequence[Fact], at: Number) -> Named | None:
    """As of a time; nothing where no rule invents, or one does at a time that is not its own."""
    if report.program.reading != "every" or report.program.chase == "restricted":
        return None
    inventing = {id(rule): rule for rule in report.program.rules if rule.head is not None and rule.head.exists}
    times = {key: _times(rule) for key, rule in inventing.items()}
    if not inventing or any(len(each) != 1 for each in times.values()):
        return None
    assert report.findings is not None
    word = "invented"
    while word in report.findings.subject.predicates:
        word += "_value"
    naming = run_naming(report, facts, at)
    names = {key: f"{word}#{number}" for number, key in enumerate(inventing, 1)}
    statements: list[Statement] = []
    for each in report.program.statements:
        if id(each) in inventing and isinstance(each, Rule) and each.head is not None:
            (base,) = times[id(each)]
            asked: Formula = Atom(names[id(each)], _columns(each))
            asked = asked if base is None else Pinned(asked, Pin(base))
            head = replace(each.head, exists=(), lasting=False)
            statements.append(replace(each, head=head, body=(*each.body, asked)))
        else:
            statements.append(each)
    # As long as its rule may come to hold, something may be invented.
    declared = [
        Input(names[key], tuple(Column(each.name) for each in _columns(rule)), delay=naming.longest_lag)
        for key, rule in inventing.items()
    ]
    program = replace(report.program, statements=(*declared, *statements))
    return Named(check_program(program).or_raise(), list(naming.facts(names)), word)


def _times(rule: Rule) -> set[Variable | None]:
    """The time variables of a head's atoms, `None` for the time at which the rule is looked at; none at a fixed one."""
    found: set[Variable | None] = set()
    for atom in rule.head_atoms:
        if isinstance(atom, Pinned):
            if not isinstance(atom.pin.base, Variable):
                return set()
            found.add(atom.pin.base)
        elif isinstance(atom, Over):
            return set()
        else:
            found.add(None)
    return found


def _columns(rule: Rule) -> tuple[Variable, ...]:
    """What the body gives the head, in the order in which the engine has it, and what is invented."""
    assert rule.head is not None
    atoms = [each.formula if isinstance(each, Pinned) else each for each in rule.head_atoms]
    shown = {each.name for atom in atoms for each in variables(atom)} - {each.name for each in rule.head.exists}
    return (*map(Variable, sorted(shown)), *rule.head.exists)


class _Printed:
    def __init__(self, word: str) -> None:
        self.word = word
        self.numbered = re.compile(rf"{word}#\d+")
        self.arrives = re.compile(rf"({word}\(.*?\)@[^\s,:]+,? (?:which )?)({'|'.join(WORDS)})")

    def is_invention(self, text: Any) -> bool:
        return isinstance(text, str) and text.startswith((f"{self.word}#", f"{self.word}("))

    def text(self, text: str) -> str:
        """What is said of an invented value; it is nothing that arrives."""
        text = self.numbered.sub(self.word, _A_NAME.sub(r"\1", text))
        return self.arrives.sub(lambda found: found[1] + WORDS[found[2]], text)

    def plain(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case {"kind": "given", "holds": str(fact), **others} if self.is_invention(fact):
                kept = {name: each for name, each in others.items() if name not in ("fact", "arrived")}
                return {"kind": "invented", "holds": self.text(fact), **kept}
            case dict():
                return {name: self.plain(each) for name, each in value.items()}
            case list() | tuple():
                return [self.plain(each) for each in value if not self.is_invention(each)]
            case _:
                return value

    def outline(self, outline: Outline) -> Outline:
        text, reason = self.text(outline.text), self.text(outline.reason)
        if self.is_invention(outline.text):
            reason = (
                "" if outline.sign is Sign.THERE else self.text(f"{text} {outline.reason}").removeprefix(f"{text} ")
            )
        below = tuple(map(self.outline, outline.below))
        return replace(outline, text=text, reason=reason, subject=self.text(outline.subject), below=below)
