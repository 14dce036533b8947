"""Which values make a formula true, and when: the definitions on sets of times.

A `Solver` knows formulas; where facts come from is its user's business (`answers`), and so is who answers
for what stands below a negation (`opposite`). A solver that only *may* be right (`sure` is false) leaves
variables open whose values are not known, and takes what hangs on them for possible.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from presage.core.binding import binds
from presage.core.formulas import All, Any, At, CoreFormula, Every, Lasts, Not, Some, walk
from presage.core.reach import Reach
from presage.core.rules import Conclusion
from presage.errors import PresageError
from presage.evidence.proof import Asked, NamedValues
from presage.model import values
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Constant, Now, Term, Value, Variable, subterms, term_variables
from presage.time.exact_sets import ALWAYS, NEVER, ExactTimes, PieceArithmetic, hull, meet, union, without

Solution = tuple[NamedValues, ExactTimes]


class NotExplained(PresageError):
    """Something the prover does not know."""


class Solver(ABC):
    line: PieceArithmetic
    sure: bool
    statics: dict[str, set[tuple[Value, ...]]]

    @abstractmethod
    def answers(self, predicate: str, pattern: Asked, during: ExactTimes) -> Iterator[tuple[Asked, ExactTimes]]:
        """What is known of a predicate, as far as it matches the pattern and matters during those times."""

    @property
    @abstractmethod
    def opposite(self) -> Solver: ...

    def solve(self, formula: CoreFormula, binding: NamedValues, during: ExactTimes) -> list[Solution]:
        """All extensions of the binding, each with the times among `during` at which the formula then holds."""
        if not during:
            return []
        match formula:
            case Comparison():
                return self._compare(formula, binding, during)
            case Atom():
                return self._atom(formula, binding, during)
            case All(parts=parts):
                return self.all_of(parts, binding, during)
            case Any(parts=parts):
                return [found for part in parts for found in self.solve(part, binding, during)]
            case Not(part=inner):
                if names(inner) - binding.keys():
                    return [] if self.sure else [(binding, during)]
                held = union(times for _, times in self.opposite.solve(inner, binding, during))
                absent = without(during, held)
                return [(binding, absent)] if absent else []
            case At():
                return self._pinned(formula, binding, during)
            case Some() | Every():
                return self._within_reach(formula, binding, during)
            case Lasts():
                return self._lasting(formula, binding, during)
            case _:
                raise NotExplained("explanations do not know this window")

    def times(self, formula: CoreFormula, binding: NamedValues, during: ExactTimes) -> ExactTimes:
        """When a formula holds whose variables all have values."""
        return union(times for _, times in self.solve(formula, binding, during))

    def all_of(self, parts: Sequence[CoreFormula], binding: NamedValues, during: ExactTimes) -> list[Solution]:
        """A conjunction: what can bind variables first, what needs them bound when they are."""
        if not parts:
            return [(binding, during)]
        chosen = min(range(len(parts)), key=lambda place: _urgency(parts[place], binding))
        rest = [part for place, part in enumerate(parts) if place != chosen]
        return [
            found
            for more, times in self.solve(parts[chosen], binding, during)
            for found in self.all_of(rest, more, times)
        ]

    def _atom(self, atom: Atom, binding: NamedValues, during: ExactTimes) -> list[Solution]:
        pattern = tuple(known(term, binding) for term in atom.arguments)
        if atom.predicate in self.statics:
            rows: Iterator[tuple[Asked, ExactTimes]] = ((row, ALWAYS) for row in self.statics[atom.predicate])
        else:
            rows = self.answers(atom.predicate, pattern, during)
        found: list[Solution] = []
        for arguments, when in rows:
            times = meet(when, during)
            more = matched(atom, arguments, binding) if times else None
            if more is not None:
                found.append((more, times))
        return found

    def _compare(self, comparison: Comparison, binding: NamedValues, during: ExactTimes) -> list[Solution]:
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if comparison.operator == "=" and isinstance(side, Variable) and side.name not in binding:
                if term_names(other) <= binding.keys():
                    value = value_of(other, binding)
                    return [] if value is None else [({**binding, side.name: value}, during)]
        if names(comparison) - binding.keys():
            return [] if self.sure else [(binding, during)]
        return [(binding, during)] if compare(comparison, binding) else []

    def _pinned(self, formula: At, binding: NamedValues, during: ExactTimes) -> list[Solution]:
        offset, inner = formula.offset, formula.part
        if formula.base is None:
            there = self.solve(inner, binding, self.line.point(offset))
            return [(more, during) for more, times in there if times]
        shifted = self.solve(inner, binding, self.line.shifted(during, offset))
        return [(more, self.line.shifted(times, -offset)) for more, times in shifted]

    def _within_reach(self, formula: Some | Every, binding: NamedValues, during: ExactTimes) -> list[Solution]:
        """At some or all times within reach; what is clipped begins with the stream at the earliest."""
        reach, always = distances(self.line, formula.reach), isinstance(formula, Every)
        if not reach:
            return [(binding, during)] if always else []
        looked_at = hull(self.line.later(during, reach))
        if formula.clip:
            looked_at = meet(looked_at, from_start(self.line))
        found: list[Solution] = []
        for more, times in self._grouped(self.solve(formula.part, binding, looked_at)):
            if always:
                held = without(during, self.line.earlier(without(looked_at, times), reach))
            else:
                held = meet(during, self.line.earlier(times, reach))
            if held:
                found.append((more, held))
        return found

    def _lasting(self, formula: Lasts, binding: NamedValues, during: ExactTimes) -> list[Solution]:
        reach = distances(self.line, formula.reach)
        if not reach:
            return []
        looked_at = hull(self.line.later(during, reach))
        found: list[Solution] = []
        for more, right in self._grouped(self.solve(formula.right, binding, looked_at)):
            between = hull(union((looked_at, during)))
            left = [(more, NEVER), *self._grouped(self.solve(formula.left, more, between))]
            for most, left_times in left:
                held = meet(during, union(lasting(self.line, left_times, right, reach)))
                if held:
                    found.append((most, held))
        return found

    def _grouped(self, solutions: list[Solution]) -> list[Solution]:
        """One solution for each binding, with all times at which the formula holds (or may hold) for its values."""
        by_values: dict[frozenset[tuple[str, Value]], list[ExactTimes]] = {}
        bindings: dict[frozenset[tuple[str, Value]], NamedValues] = {}
        for binding, times in solutions:
            key = frozenset(binding.items())
            by_values.setdefault(key, []).append(times)
            bindings[key] = binding
        if len({frozenset(binding) for binding in bindings.values()}) < 2:
            return [(bindings[key], union(times)) for key, times in by_values.items()]
        counts = _includes if self.sure else _agree
        return [
            (own, union(times for key, found in by_values.items() if counts(own, bindings[key]) for times in found))
            for own in bindings.values()
        ]


def lasting(line: PieceArithmetic, left: ExactTimes, right: ExactTimes, reach: ExactTimes) -> Iterator[ExactTimes]:
    """Where `since` or `until` hold: the right side's times moved by the distances, as long as the left side
    lasts. Where nothing lies between two times, the left side need not hold."""
    immediate = meet(reach, line.piece(-1, 1) if line.discrete else line.point(0))
    yield line.earlier(right, immediate)
    for piece in left:
        inside = line.closure(piece)
        yield meet(line.earlier(meet(right, inside), reach), inside)


def _includes(first: NamedValues, second: NamedValues) -> bool:
    """Whether the second says nothing that the first does not."""
    return second.items() <= first.items()


def _agree(first: NamedValues, second: NamedValues) -> bool:
    return all(second.get(name, value) == value for name, value in first.items())


def _urgency(formula: CoreFormula, binding: NamedValues) -> tuple[int, int]:
    """What is best looked at first: what is ready and bound, then what binds; what is not ready comes last."""
    open_names = names(formula) - binding.keys()
    if not open_names:
        return (0, isinstance(formula, Not))
    if isinstance(formula, Comparison):
        sides = ((formula.left, formula.right), (formula.right, formula.left))
        for side, other in sides:
            if formula.operator == "=" and isinstance(side, Variable) and term_names(other) <= binding.keys():
                return (0, 1)
        return (9, 0)
    if open_names - binds(formula):
        return (8, 0)
    return (1, len(open_names))


def names(formula: CoreFormula) -> set[str]:
    """The variables that stand for values; the one that stands for the rule's time is not among them."""
    found: set[str] = set()
    for node in walk(formula):
        if isinstance(node, Atom):
            found.update(each.name for each in node.arguments if isinstance(each, Variable))
        elif isinstance(node, Comparison):
            found |= term_names(node.left) | term_names(node.right)
    return found


def term_names(term: Term) -> set[str]:
    return {each.name for each in term_variables(term)}


def distances(line: PieceArithmetic, reach: Reach) -> ExactTimes:
    """The distances of a reach as a set."""
    near = -math.inf if reach.near is None else reach.near
    return line.piece(near, math.inf if reach.far is None else reach.far, not reach.open_near, not reach.open_far)


def from_start(line: PieceArithmetic) -> ExactTimes:
    return line.piece(0, math.inf)


def known(term: Term, binding: NamedValues) -> Value | None:
    """The value of an argument, if it has one."""
    return term.value if isinstance(term, Constant) else binding.get(term.name) if isinstance(term, Variable) else None


def matched(atom: Atom, arguments: Asked, binding: NamedValues) -> NamedValues | None:
    """The binding extended such that the atom has these arguments; open ones fit everything."""
    found = dict(binding)
    for term, value in zip(atom.arguments, arguments, strict=True):
        if value is None:
            continue
        if isinstance(term, Constant):
            if term.value != value:
                return None
        elif isinstance(term, Variable) and found.setdefault(term.name, value) != value:
            return None
    return found


def value_of(term: Term, binding: NamedValues) -> Value | None:
    """The value of a term; none where it cannot be computed."""
    if any(isinstance(part, Now) for part in subterms(term)):
        raise NotExplained("explanations do not know times among the values")
    return values.value_of(term, binding.get)


def compare(comparison: Comparison, binding: NamedValues) -> bool:
    return values.is_true(comparison.operator, value_of(comparison.left, binding), value_of(comparison.right, binding))


def head_times(line: PieceArithmetic, head: Conclusion, body: ExactTimes) -> ExactTimes:
    """When the atom of a head holds, if the body holds at these times."""
    reach = distances(line, head.reach)
    if head.base is None:
        return reach if body else NEVER
    return line.later(body, reach)


def body_times(line: PieceArithmetic, head: Conclusion, wanted: ExactTimes) -> ExactTimes:
    """The other way round: where the body must hold for the head to cover any of the wanted times."""
    reach = distances(line, head.reach)
    if head.base is None:
        return ALWAYS if meet(wanted, reach) else NEVER
    return line.earlier(wanted, reach)
