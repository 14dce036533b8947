"""Rules of core: what holds where a body does, and which times must be on the timeline for that."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from presage.core.formulas import CoreFormula, Every, Some, atoms, times_named, walk
from presage.core.reach import HERE, Reach
from presage.errors import Span
from presage.model.formulas import Atom
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Now, Number, Variable


@dataclass(frozen=True, slots=True)
class Conclusion:
    """An atom of a head: it holds within reach of the time at which the rule is looked at, of a time variable or,
    without a base, of the start."""

    atom: Atom
    base: Variable | Now | None = field(default_factory=Now)
    reach: Reach = HERE

    @property
    def is_fixed(self) -> bool:
        return self.base is None


@dataclass(frozen=True, slots=True)
class Pinpoint:
    """A time that a rule names. Where it lies before the start, the rule has no instance."""

    base: Variable | Now | None
    offset: Number


@dataclass(frozen=True, slots=True)
class CoreRule:
    conclusions: tuple[Conclusion, ...]
    body: tuple[CoreFormula, ...]
    pins: tuple[Pinpoint, ...]
    """All times that the rule names, but for those in the sets of aggregates."""
    rule: Rule
    """The rule of the program it comes from."""

    @property
    def span(self) -> Span:
        return self.rule.span

    @property
    def is_fact(self) -> bool:
        return bool(self.conclusions) and not self.body

    @property
    def is_choice(self) -> bool:
        return self.rule.head is not None and self.rule.head.choice

    @property
    def exists(self) -> tuple[Variable, ...]:
        return () if self.rule.head is None else self.rule.head.exists

    @property
    def lasting(self) -> bool:
        return self.rule.head is not None and self.rule.head.lasting

    @property
    def times(self) -> set[str]:
        """The time variables that it names."""
        found = {pin.base.name for pin in self.pins if isinstance(pin.base, Variable)}
        return found.union(*map(times_named, self.body))

    def below(self) -> set[str]:
        """The predicates of the body."""
        return {atom.predicate for literal in self.body for atom in atoms(literal)}


@dataclass(frozen=True)
class Core:
    """A program's rules in core, and what passes need to know of the program."""

    program: Program
    discrete: bool
    rules: tuple[CoreRule, ...]
    statics: frozenset[str]
    inputs: frozenset[str]

    @cached_property
    def _by_rule(self) -> dict[int, CoreRule]:
        return {id(each.rule): each for each in self.rules}

    def of(self, rule: Rule) -> CoreRule:
        """What became of a rule of the program."""
        return self._by_rule[id(rule)]

    def spreads(self, rule: Rule) -> bool:
        """Whether a rule has an operator over more than one time."""
        found = self.of(rule)
        operators = [node for literal in found.body for node in walk(literal) if isinstance(node, (Some, Every))]
        return any(each.clip for each in operators) or any(
            each.reach.step is None for each in (*found.conclusions, *operators)
        )
