"""How much a program must remember ([MTL] Theorems 12 and 15; [HA] delay and window).

For forward-propagating programs the theorems bound the number of remembered facts by a formula in
what the stream brings: the number of its objects, the step, the gcd of its timestamps. They are
about the normal form of the program ([MTL] Definition 5), whose size is counted here without
building it. For other programs the window of the queries says how long a fact is kept.

Theorem 15's exponent is (t_Π + step)/K over R: the number of ways to add up to (t_Π + step)/K rule
endpoints. (In the paper's proof the exponent is lost in print.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from presage.analysis.differences import INF
from presage.analysis.granularity import granularity, intervals
from presage.analysis.subject import Subject
from presage.analysis.timing import plain
from presage.model.formulas import And, Atom, Comparison, Formula, Metric, children, walk
from presage.model.printer import show_number
from presage.model.statements import Rule
from presage.model.terms import Number, number


@dataclass(frozen=True, slots=True)
class NormalForm:
    """How many rules and predicates the normal form of a program has."""

    rules: int
    predicates: int
    arity: int


def normal_form(subject: Subject) -> NormalForm:
    extra_rules = 0
    for rule in subject.program.rules:
        if not rule.is_fact:
            extra_rules += _extra(rule)
    rules = [rule for rule in subject.program.rules if not rule.is_fact]
    names = subject.predicates
    return NormalForm(
        len(rules) + extra_rules,
        len(names) + extra_rules,
        max((each.arity for each in names.values()), default=0),
    )


def _extra(rule: Rule) -> int:
    """Each operator that is not the whole body of a rule over a plain atom gets a rule and a predicate."""
    operators = sum(_operators(literal) for literal in rule.body)
    alone = len(rule.body) == 1 and isinstance(rule.body[0], Metric) and isinstance(rule.body[0].formula, Atom)
    boxed_heads = sum(isinstance(atom, Metric) for atom in rule.head_atoms)
    return (0 if alone else operators) + boxed_heads


def _operators(formula: Formula) -> int:
    return isinstance(formula, Metric) + sum(_operators(part) for part in children(formula))


@dataclass(frozen=True, slots=True)
class MemoryBound:
    keeps: Number | None
    """How long after its time a fact can matter; `None` where it may matter for ever."""
    history: bool = False
    """Whether it must also be remembered, without its time, that something ever held."""
    theorems: dict[int, str] = field(default_factory=dict)
    """For forward-propagating programs, the bounds by theorem."""
    numbers: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "keeps": None if self.keeps is None else _json_number(self.keeps),
            "history": self.history,
            "theorems": {str(theorem): formula for theorem, formula in self.theorems.items()},
            **self.numbers,
        }


def _head_bounds(head: Formula) -> set[Number]:
    """The normal form adds up the intervals of nested boxes in a head."""
    low: Number = 0
    high: Number | None = 0
    nested = head
    while isinstance(nested, Metric):
        low += plain(nested.interval.low)
        high = None if high is None or nested.interval.high is None else high + plain(nested.interval.high)
        nested = nested.formula
    if nested is head:
        return set()
    return {number(low)} | (set() if high is None else {number(high)})


def _json_number(value: Number) -> int | str:
    return value if isinstance(value, int) else show_number(value)


def memory_bound(subject: Subject, forward: bool, window: Number | None) -> MemoryBound | None:
    """`window` is the greatest window size of the queries; facts may also come late."""
    late = max((each.delay for each in subject.predicates.values() if each.delay is not None), default=0)
    if forward and all(_is_datalog_mtl(rule) for rule in subject.program.rules):
        return _of_theorems(subject, late)
    if window is None:
        return None
    return MemoryBound(number(Fraction(window) + late))


def _is_datalog_mtl(rule: Rule) -> bool:
    """Whether a rule is one of the papers' DatalogMTL: atoms under metric operators, no more."""
    return all(
        isinstance(node, (Atom, Metric, Comparison, And)) for formula in rule.body for node in walk(formula)
    ) and all(isinstance(node, (Atom, Metric)) for formula in rule.head_atoms if rule.body for node in walk(formula))


def _of_theorems(subject: Subject, late: Number) -> MemoryBound:
    rules = subject.program.rules
    bounds = {
        plain(bound)
        for interval in intervals(Rule(None, rule.body) for rule in rules)
        for bound in (interval.low, interval.high)
        if bound is not None
    }
    for rule in rules:
        for head in rule.head_atoms:
            bounds |= _head_bounds(head)
    longest = max(bounds, default=0)
    shortest = granularity(rules)
    least = min((bound for bound in bounds if bound != 0), default=None)
    form = normal_form(subject)
    facts = f"{form.predicates}·objects^{form.arity}"
    step = "1" if subject.discrete else "step"
    gcd = "1" if subject.discrete else "gcd"
    theorems = {12: f"(4·(({show_number(longest)} + {step})/{gcd} + 1)² + 1)·{facts}"}
    if shortest and least is not None:
        # A program without bounded intervals has granularity ∞ and nothing to divide by.
        intervals_kept = f"2·({show_number(longest)}/{show_number(shortest)} + 2)"
        ways = f"{form.rules}^(({show_number(longest)} + {step})/{show_number(least)})"
        theorems[15] = f"9·({intervals_kept}·{ways})²·{facts}"
    numbers = {
        "t_pi": _json_number(longest),
        "k": None if least is None else _json_number(least),
        "rules": form.rules,
        "predicates": form.predicates,
        "arity": form.arity,
    }
    unbounded = any(edge.low == -INF for edge in subject.dependencies)
    return MemoryBound(number(Fraction(longest) + late), unbounded, theorems, numbers)
