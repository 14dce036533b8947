"""How the premises of one way come to be among those of another: what the open variables of the one stand for, and what
those of the other must be for that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from presage.hypothesis.words import Comparisons, show_clause
from presage.model.formulas import MIRRORED, Comparison
from presage.model.terms import Constant, Term, Variable, map_term
from presage.model.values import is_true, value_of
from presage.patterns.literals import Open

MOST_CHOICES = 64
StandsFor = dict[Open, object]
"""What open variables stand for."""


class Binding(NamedTuple):
    values: StandsFor
    """What the open variables of the one way stand for in the other."""
    same: StandsFor
    """What open variables of the other must be for that."""

    def of(self, term: object) -> object:
        """What a term of the other way is then."""
        while isinstance(term, Open) and term in self.same:
            term = self.same[term]
        return term

    def value(self, variable: Open) -> object:
        """What a variable of the one way stands for."""
        return self.of(self.values[variable]) if variable in self.values else variable

    def with_values(self, wanted: Sequence[object], given: Sequence[object]) -> Binding | None:
        """The same where, besides, terms of the one way are those of the other; nothing if they cannot be."""
        found = Binding(dict(self.values), dict(self.same))
        for want, have in zip(wanted, given, strict=True):
            known = found.values.setdefault(want, have) if isinstance(want, Open) else want
            one, other = found.of(known), found.of(have)
            if one == other:
                continue
            if not isinstance(one, Open):
                one, other = other, one
            if not isinstance(one, Open):
                return None
            found.same[one] = other
        return found

    def clause(self) -> Iterator[Comparison]:
        """What the other way's variables must not be, lest it need too much."""
        for one in self.same:
            other = self.of(one)
            term = Variable(other.name) if isinstance(other, Open) else Constant(other)  # type: ignore[arg-type]
            yield Comparison("=", Variable(one.name), term)


def is_among(clauses: Iterable[Comparisons], known: Iterable[Comparisons], binding: Binding) -> bool:
    """Whether the other way stands for nothing that the one does not, given what the other's variables must not be or
    satisfy."""
    return next(beyond(clauses, known, binding), None) is None


def beyond(clauses: Iterable[Comparisons], known: Iterable[Comparisons], binding: Binding) -> Iterator[Comparisons]:
    """For what values the other way stands and the one does not."""
    said: list[Comparisons] | None = None
    shown: set[str] = set()
    for clause in clauses:
        named = _named(clause, binding.value)
        if not _may_be_true(named):
            continue  # it does not apply to these values
        if said is None:
            said = [_named(each, binding.of) for each in known]
            shown = set(map(show_clause, said))
        mirrored = tuple(map(_mirrored, named))
        if show_clause(named) in shown or show_clause(mirrored) in shown:
            continue
        if not any(all(any(_implies(one, other) for one in named) for other in each) for each in said):
            yield named


def _mirrored(comparison: Comparison) -> Comparison:
    return Comparison(MIRRORED[comparison.operator], comparison.right, comparison.left)


_STEEPER = {("<=", "<="): "<=", ("<=", "<"): "<", ("<", "<"): "<=", ("<", "<="): "<="}
_STEEPER |= {(MIRRORED[one], MIRRORED[other]): MIRRORED[how] for (one, other), how in _STEEPER.items()}
"""How the ends of two comparisons must compare for the first to imply the second."""


def _implies(one: Comparison, other: Comparison) -> bool:
    """Whether what is compared with one constant is compared so with another as well."""
    for first in (one, _mirrored(one)):
        for second in (other, _mirrored(other)):
            if first.left != second.left or not isinstance(first.right, Constant):
                continue
            if not isinstance(second.right, Constant):
                continue
            how = second.operator if first.operator == "=" else _STEEPER.get((first.operator, second.operator))
            if how is not None and is_true(how, first.right.value, second.right.value):
                return True
    return False


def can_all_be(several: Sequence[Sequence[Comparisons]], limits: Sequence[Comparisons]) -> bool:
    """Whether one of each of several lists of clauses can hold at once, for values that meet no limit. As far as
    equalities tell; more than a few lists are not looked at."""
    if prod(map(len, several)) > MOST_CHOICES:
        return True
    return any(_can_be([each for clause in chosen for each in clause], limits) for chosen in product(*several))


def _can_be(comparisons: Sequence[Comparison], limits: Sequence[Comparisons]) -> bool:
    known: dict[Term, Term] = {}

    def of(term: Term) -> Term:
        while isinstance(term, Variable) and term in known:
            term = known[term]
        return term

    for each in comparisons:
        if each.operator == "=" and of(each.left) != of(each.right):
            one, other = of(each.left), of(each.right)
            if not isinstance(one, Variable):
                one, other = other, one
            if not isinstance(one, Variable):
                return not (isinstance(one, Constant) and isinstance(other, Constant))
            known[one] = other
    return not any(all(each.operator == "=" and of(each.left) == of(each.right) for each in limit) for limit in limits)


def _named(clause: Comparisons, value: Callable[[Open], object]) -> Comparisons:
    """A clause about what its variables stand for."""

    def put(term: Term) -> Term:
        if not isinstance(term, Variable):
            return term
        known = value(Open(term.name))
        return Variable(known.name) if isinstance(known, Open) else Constant(known)  # type: ignore[arg-type]

    return tuple(Comparison(each.operator, map_term(each.left, put), map_term(each.right, put)) for each in clause)


def _may_be_true(clause: Comparisons) -> bool:
    for each in clause:
        left, right = value_of(each.left, lambda name: None), value_of(each.right, lambda name: None)
        if left is not None and right is not None and not is_true(each.operator, left, right):
            return False
    return True
