"""Whether a query has finitely many premise patterns, so that hypothetical answers can be given.

One that does not ([HA] Example 7) still runs with confirmed answers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presage.analysis.patterns import NoPatterns, Unfolding, general_atom
from presage.analysis.strata import Stratification
from presage.analysis.subject import Subject
from presage.analysis.timing import RuleTiming
from presage.model.formulas import (
    BinaryMetric,
    Formula,
    Implies,
    Metric,
    Modal,
    Reset,
    Windowed,
    children,
    walk,
)
from presage.model.statements import Query, Rule
from presage.model.windows import RowsWindow, TimeWindow


@dataclass(frozen=True, slots=True)
class Hypothetical:
    possible: bool
    reason: str = ""
    rules: tuple[Rule, ...] = ()


def hypothetical(
    unfolding: Unfolding, query: Query, strata: Stratification, forbidden: dict[str, tuple[Rule, str]]
) -> Hypothetical:
    """Unfolds the query, and every predicate that occurs negated below it, or says what forbids it."""
    if not strata.stratified:
        rules = tuple(dict.fromkeys(edge.rule for edge in strata.cycle))
        return Hypothetical(False, "negation runs through a cycle that time does not break", rules)
    subject = unfolding.subject
    for name in sorted(subject.below(query.atom.predicate) & forbidden.keys()):
        rule, reason = forbidden[name]
        return Hypothetical(False, reason, (rule,))
    todo, seen = [query.atom], {query.atom.predicate}
    try:
        while todo:
            for pattern in unfolding.patterns(todo.pop()):
                for premise in pattern.premises:
                    name = premise.atom.predicate
                    if not premise.positive and subject.predicates[name].kind == "derived" and name not in seen:
                        seen.add(name)
                        todo.append(general_atom(subject, name))
    except NoPatterns as found:
        return Hypothetical(False, found.reason, tuple(timing.rule for timing in found.rules))
    return Hypothetical(True)


def obstacles(subject: Subject) -> dict[str, tuple[Rule, str]]:
    """For each predicate whose rules cannot be unfolded, one of them and why."""
    found: dict[str, tuple[Rule, str]] = {}
    for timing in subject.timings:
        for reason in _reasons(timing):
            for head in timing.heads:
                found.setdefault(head.atom.predicate, (timing.rule, reason))
    return found


def _endless_all(formula: Formula, bounded: bool = False) -> bool:
    """Whether an `all` ranges over times without end."""
    if isinstance(formula, Modal) and formula.operator == "all" and not bounded:
        return True
    if isinstance(formula, Windowed) and isinstance(formula.window, TimeWindow):
        bounded = bounded or (formula.window.back is not None and formula.window.ahead is not None)
    elif isinstance(formula, Reset):
        bounded = False
    return any(_endless_all(part, bounded) for part in children(formula))


def _reasons(timing: RuleTiming) -> Iterator[str]:
    if timing.rule.head is not None and timing.rule.head.choice:
        yield "a rule with alternatives in its head has several models"
    for literal in timing.rule.body:
        if _endless_all(literal):
            yield "`all` outside a bounded window asks for infinitely many times"
        for node in walk(literal):
            match node:
                case Metric(operator=operator, interval=interval) if interval.high is None:
                    yield f"`{operator}` without an upper bound opens infinitely many times"
                case BinaryMetric(operator=operator):
                    yield f"`{operator}` has no premise patterns"
                case Implies():
                    yield "`implies` has no premise patterns"
                case Windowed(window=RowsWindow()):
                    yield "a window of rows has no premise patterns: which times it covers depends on what arrives"
                case Windowed(window=TimeWindow(back=back, ahead=ahead)) if back is None or ahead is None:
                    yield "a window without end opens infinitely many times"
    for head in timing.rule.head_atoms:
        for node in walk(head):
            if isinstance(node, Metric) and node.interval.high is None:
                yield f"`{node.operator}` without an upper bound in a head opens infinitely many times"
