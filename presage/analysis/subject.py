"""What every analysis looks at: a normalised program with its predicates, timeline and queries.

Parts that several analyses share (the times of each rule, the dependency graph) are made once,
when first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from presage.analysis.aggregates import non_negative
from presage.analysis.graph import component_of, reachable
from presage.analysis.predicates import Predicate
from presage.analysis.safety import Safety
from presage.analysis.timing import Occurrence, RuleTiming, time_rule
from presage.model.delays import delay_of
from presage.model.formulas import Atom, atoms
from presage.model.program import Program
from presage.model.statements import Query, Rule
from presage.model.terms import Bound, Variable


@dataclass(frozen=True, slots=True)
class Dependency:
    """`head` may depend on `body`, whose time is between `low` and `high` later than the head's."""

    head: str
    body: str
    negative: bool
    windowed: bool
    low: Bound
    high: Bound
    rule: Rule
    atom: Atom
    aggregated: bool = False
    """Whether it stands in the braces of an aggregate."""


@dataclass(frozen=True)
class Subject:
    program: Program
    predicates: dict[str, Predicate]
    timeline: str
    safety: Safety

    @property
    def discrete(self) -> bool:
        return self.timeline == "discrete"

    def narrowed(self, queries: tuple[Query, ...]) -> Subject:
        """The same with fewer queries asked."""
        found = replace(self)
        found.__dict__["queries"] = queries
        return found

    @cached_property
    def waits_by_instance(self) -> bool:
        """Whether absence is settled earlier for some facts of a predicate than for others. The engine of entailed
        facts waits for the last of them; judging what can still arrive does not."""
        delays = [{delay_of(each) for each in known.inputs} for known in self.predicates.values()]
        return any(len(each) > 1 for each in delays) and any(edge.negative for edge in self.dependencies)

    @cached_property
    def leaves_open(self) -> bool:
        """Whether answers may keep a variable, for all values but some ([HA] section 6)."""
        asked = {id(timing.rule) for timing in self.relevant_rules()}
        return any(id(self.program.rules[index]) in asked for index in self.safety.schematic)

    @cached_property
    def reading(self) -> str:
        return self.program.reading

    @cached_property
    def timings(self) -> tuple[RuleTiming, ...]:
        return tuple(time_rule(rule, self.discrete, self.non_negative) for rule in self.program.rules)

    @cached_property
    def non_negative(self) -> frozenset[tuple[str, int]]:
        """The columns whose values are declared not to be negative, also through rules that only pass them on."""
        return non_negative(self.program, self.predicates)

    @cached_property
    def dependencies(self) -> tuple[Dependency, ...]:
        return tuple(self._dependencies())

    def _dependencies(self) -> Iterator[Dependency]:
        for timing in self.timings:
            for head in timing.heads:
                name = head.atom.predicate
                for occurrence in timing.occurrences:
                    atom = occurrence.atom
                    if self.predicates[atom.predicate].is_static:
                        continue
                    reach = timing.range(occurrence, head)
                    if reach is None:
                        continue
                    for negative in self._signs(occurrence):
                        yield Dependency(
                            name, atom.predicate, negative, occurrence.windowed, *reach, timing.rule, atom,
                            occurrence.aggregated,
                        )  # fmt: skip
                    yield from self._counted(name, occurrence, reach, timing.rule)

    def _signs(self, occurrence: Occurrence) -> Iterator[bool]:
        if occurrence.positive:
            yield False
        if occurrence.negative:
            yield True

    def _counted(
        self, head: str, occurrence: Occurrence, reach: tuple[Bound, Bound], rule: Rule
    ) -> Iterator[Dependency]:
        """With `reading now` a window of rows counts all facts: one more can push another out."""
        if self.reading != "now":
            return
        for window in occurrence.rows:
            counted = {pattern.predicate for pattern in window.by} or set(self.predicates)
            for name in sorted(counted):
                if self.predicates[name].kind == "derived":
                    yield Dependency(head, name, True, True, *reach, rule, occurrence.atom)

    @cached_property
    def successors(self) -> dict[str, set[str]]:
        """For each predicate those it depends on directly."""
        found: dict[str, set[str]] = {name: set() for name in self.predicates}
        for edge in self.dependencies:
            found[edge.head].add(edge.body)
        return found

    @cached_property
    def component(self) -> dict[str, int]:
        return component_of(sorted(self.successors), {name: sorted(to) for name, to in self.successors.items()})

    @cached_property
    def recursive_predicates(self) -> frozenset[str]:
        size: dict[int, int] = {}
        for number in self.component.values():
            size[number] = size.get(number, 0) + 1
        return frozenset(
            name for name, number in self.component.items() if size[number] > 1 or name in self.successors[name]
        )

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """The standing queries: those declared, or the derived predicates no rule uses, or, where all
        are used, those of the topmost recursive groups."""
        declared = self.program.queries
        if declared:
            return declared
        derived = [name for name, each in self.predicates.items() if each.kind == "derived"]
        used = {atom.predicate for rule in self.program.rules for literal in rule.body for atom in atoms(literal)}
        asked = [name for name in derived if name not in used]
        if not asked:
            below = {
                self.component[edge.body]
                for edge in self.dependencies
                if self.component[edge.head] != self.component[edge.body]
            }
            asked = [name for name in derived if self.component[name] not in below]
        return tuple(Query(Atom(name, self._variables(name))) for name in asked)

    def _variables(self, name: str) -> tuple[Variable, ...]:
        """Names for the arguments of an undeclared query: those of the first rule, where they are variables."""
        arity = self.predicates[name].arity
        taken: set[str] = set()
        chosen: list[Variable] = []
        first = self._first_heads[name]
        for position in range(arity):
            argument = first.arguments[position] if position < len(first.arguments) else None
            written = argument.name if isinstance(argument, Variable) and "#" not in argument.name else ""
            variable = written if written and written not in taken else f"X{position + 1}"
            taken.add(variable)
            chosen.append(Variable(variable))
        return tuple(chosen)

    @cached_property
    def _first_heads(self) -> dict[str, Atom]:
        """Of each derived predicate, the head of its first rule."""
        found: dict[str, Atom] = {}
        for rule in self.program.rules:
            for head in rule.head_atoms:
                for atom in atoms(head):
                    found.setdefault(atom.predicate, atom)
        return found

    @cached_property
    def _below(self) -> dict[int, frozenset[str]]:
        return {}

    def below(self, name: str) -> frozenset[str]:
        """The predicates a predicate depends on, and itself; shared by those that depend on one another."""
        number = self.component.get(name, -1)
        if number not in self._below:
            self._below[number] = frozenset(reachable({name}, self.successors))
        return self._below[number]

    @cached_property
    def relevant(self) -> frozenset[str]:
        """The predicates a query or a constraint depends on."""
        start = {query.atom.predicate for query in self.queries}
        for timing in self.timings:
            if timing.rule.is_constraint:
                start |= {occurrence.atom.predicate for occurrence in timing.occurrences}
        return frozenset(reachable(start, self.successors))

    def relevant_rules(self) -> tuple[RuleTiming, ...]:
        """The rules that can matter for a query or a constraint."""
        return tuple(
            timing
            for timing in self.timings
            if timing.rule.is_constraint or any(head.atom.predicate in self.relevant for head in timing.heads)
        )

    def place(self, rule: Rule) -> str:
        return self.program.place_of(rule)
