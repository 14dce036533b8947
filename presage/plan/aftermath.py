"""How long after a fact an answer may lie that rests on it: `always[5,10] h(X) :- p(X).` speaks of ten more.

A run that nobody ends goes on so long, so that its last answers are told as well, and nothing stays possible. It is
a figure of the program, not of the data: every shard of a run on Spark, and every way of telling answers, ends at the
same time without asking others. What absence alone speaks for has no last fact; of what goes on for ever, the beginning
counts; and what a rule makes of its own conclusions, later and later, is left to the time that is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from presage.analysis.aggregates import alone, needs_a_tuple
from presage.analysis.differences import INF, NOW, START, Differences
from presage.analysis.subject import Subject
from presage.core.formulas import (
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Gathered,
    Lasts,
    Measured,
    Not,
    Seen,
    Shift,
    Some,
    children,
)
from presage.core.reach import EVERYWHERE, Reach
from presage.core.rules import Conclusion, CoreRule
from presage.model.formulas import Atom, Comparison, aggregates
from presage.model.formulas import Formula as Written
from presage.model.terms import Bound, Constant, Now, Number, Variable, number
from presage.rewrite import core_of


@dataclass(frozen=True, slots=True)
class _After:
    """How far something can lie after a fact that it rests on; `free` if it may also rest on none."""

    distance: Bound = -INF
    free: bool = False

    def both(self, other: _After) -> _After:
        if self.free and other.free:
            return _After(max(self.distance, other.distance), True)
        if self.free or other.free:
            return other if self.free else self
        known = [each.distance for each in (self, other) if each.distance != INF]
        return _After(max(known, default=INF))

    def either(self, other: _After) -> _After:
        return _After(max(self.distance, other.distance), self.free or other.free)

    def moved(self, by: Bound) -> _After:
        return _After(self.distance + by, self.free)


_NEVER = _After()
_FREE = _After(free=True)


def aftermath(subject: Subject) -> Number:
    """How long after the last fact the last answer may lie that is known by then."""
    asked = [query.atom.predicate for query in subject.queries]
    found = _of_predicates(subject)
    return _finite(max([0, *(found[name].distance for name in asked if name in found)]))


def last_fixed(subject: Subject) -> Number:
    """The last time that facts in the program itself speak of."""
    reaches = [
        each.reach for rule in core_of(subject).rules if rule.is_fact for each in rule.conclusions if each.is_fixed
    ]
    ends = [each.near if each.far is None else each.far for each in reaches]
    return max([0, *(end for end in ends if end is not None)])


def _of_predicates(subject: Subject) -> dict[str, _After]:
    rules = core_of(subject).rules
    timings = {id(each.rule): each.bounds for each in subject.timings}
    known = {
        name: _FREE if each.is_static else _After(0) if each.is_input else _NEVER
        for name, each in subject.predicates.items()
    }

    def once_more(of: dict[str, _After], left_out: frozenset[str]) -> frozenset[str]:
        grown = set()
        for rule in rules:
            for each in rule.conclusions:
                name = each.atom.predicate
                if name in left_out and not left_out.isdisjoint(rule.below()):
                    continue
                new = of[name].either(_Rule(rule, each, timings[id(rule.rule)], of, subject.discrete).after())
                if new != of[name]:
                    of[name] = new
                    grown.add(name)
        return frozenset(grown)

    left_out: frozenset[str] = frozenset()
    while True:
        found = dict(known)
        grown: frozenset[str] = frozenset()
        for _ in range(len(found) + 2):
            grown = once_more(found, left_out)
            if not grown:
                return found
        # What grows after every simple path goes on for ever: its own conclusions do not count.
        if grown <= left_out:
            return found
        left_out |= grown


@dataclass(frozen=True)
class _Rule:
    rule: CoreRule
    conclusion: Conclusion
    bounds: Differences
    known: dict[str, _After]
    discrete: bool

    def after(self) -> _After:
        if self.rule.is_fact:
            return _After(0, free=True) if self.conclusion.is_fixed else _FREE
        if not self.bounds.check():
            return _NEVER
        found = self._all(self.rule.body, self._ahead + self._behind(Now()))
        return replace(found, distance=0) if found.distance == INF else found

    @property
    def _ahead(self) -> Number:
        """How far the conclusion holds after the time that it hangs on."""
        reach = self.conclusion.reach
        return _finite(reach.far if reach.far is not None else reach.near)

    def _behind(self, base: Variable | Now | None) -> Bound:
        """How far a time of the rule may lie before the one that its conclusion hangs on."""
        return self.bounds.range(_node(self.conclusion.base), _node(base))[1]

    def _all(self, parts: tuple[CoreFormula, ...], late: Bound) -> _After:
        return reduce(_After.both, (self._of(each, late) for each in parts), _FREE)

    def _set(self, of: Gathered, written: Written | None, late: Bound) -> _After:
        """Of what a set is worth: where a bound may be kept by nothing, more facts speak against it if for anything."""
        found = self._all(of.body, late)
        for each in aggregates(written) if isinstance(written, Comparison) else ():
            if each.span == of.span and not needs_a_tuple(written, each):  # type: ignore[arg-type]
                beside = alone(written)  # type: ignore[arg-type]
                is_bound = beside is not None and isinstance(beside[2], Constant)
                return _FREE if is_bound else replace(found, free=True)
        return found

    def _of(self, formula: CoreFormula, late: Bound) -> _After:
        """Of a formula that is looked at so long before the time of the conclusion, at most."""
        match formula:
            case Atom(predicate=name):
                return self.known[name].moved(late)
            case Comparison() | Not():
                return _FREE
            case Measured(sets=sets, written=written):
                return reduce(_After.both, (self._set(each, written, late) for each in sets), _FREE)
            case All(parts=parts):
                return self._all(parts, late)
            case Any(parts=parts):
                return reduce(_After.either, (self._of(each, late) for each in parts), _NEVER)
            case At(base=base, offset=offset, part=part):
                return self._of(part, self._ahead + self._behind(base) - offset)
            case Shift(distance=distance, part=part):
                return self._of(part, late - distance)
            case Some(reach=reach, part=part) | Every(reach=reach, part=part) if reach == EVERYWHERE:
                return self._of(part, INF)
            case Some(reach=reach, part=part):
                return self._of(part, late - _first(reach))
            case Every(reach=reach, part=part):
                return self._of(part, late - _first(reach))
            case Lasts(reach=reach, left=left, right=right):
                return self._of(right, late - _first(reach)).either(self._of(left, late - _first(reach)))
            case Seen(reach=reach, part=part, hop=hop):
                found = self._of(part, late)
                if reach.near is None:
                    return found
                oldest = late - reach.near + (0 if hop is None else hop)
                return _After(min(found.distance, oldest), found.free)
            case _:
                return self._all(children(formula), late)


def _node(base: Variable | Now | None) -> str:
    return START if base is None else NOW if isinstance(base, Now) else base.name


def _first(reach: Reach) -> Number:
    """The least distance, which is how far back facts may lie; without a bound on that side, the nearest."""
    return _finite(reach.near if reach.near is not None else reach.far)


def _finite(value: Bound | None) -> Number:
    return 0 if value is None or isinstance(value, float) else number(value)
