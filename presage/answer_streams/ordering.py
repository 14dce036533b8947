"""In which order the parts of a conjunction are solved: what finds values comes before what needs them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from presage.core.formulas import (
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Lasts,
    Measured,
    Not,
    Seen,
    Some,
    as_window,
    children,
    names,
)
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Case, Function, subterms, term_variables

Task = Union[CoreFormula, str]
"""A part to solve, or the name of a time variable whose values the comparisons leave to be tried."""


class Ordering:
    """Knows the variables of formulas, and the order of conjunctions for each set of bound variables."""

    def __init__(self, times: frozenset[str], statics: frozenset[str] = frozenset()) -> None:
        """`times` are the variables of pins, `statics` the predicates that hold at all times."""
        self.times, self.statics = times, statics
        self._names: dict[int, tuple[str, ...]] = {}
        self._windows: dict[int, Seen] = {}
        self._orders: dict[tuple[int, frozenset[str]], list[Task]] = {}
        # Formulas are known by identity, so those that were asked about must stay alive.
        self._kept: list[CoreFormula] = []

    def names(self, formula: CoreFormula) -> tuple[str, ...]:
        """The variables of a formula, each once."""
        found = self._names.get(id(formula))
        if found is None:
            found = names(formula)
            self._names[id(formula)] = found
            self._kept.append(formula)
        return found

    def window(self, formula: Some | Every) -> Seen:
        """What is clipped to a reach, as a window; the same one each time."""
        found = self._windows.get(id(formula))
        if found is None:
            found = self._windows[id(formula)] = as_window(formula)
            self._kept.append(formula)
        return found

    def steps(self, conjunction: All, bound: Iterable[str]) -> list[Task]:
        known = frozenset(bound) & frozenset(self.names(conjunction))
        key = (id(conjunction), known)
        if key not in self._orders:
            self._orders[key] = self._order(conjunction.parts, set(known))
        return self._orders[key]

    def _order(self, parts: tuple[CoreFormula, ...], bound: set[str]) -> list[Task]:
        waiting: list[CoreFormula] = list(parts)
        steps: list[Task] = []
        while waiting:
            ranked = [(self._rank(part, bound), place) for place, part in enumerate(waiting)]
            (rank, *_), place = min(ranked)
            if rank == _GUESSES:
                held = self._held_between(waiting, bound)
                if held is not None:
                    steps.append(held)
                    bound.add(held)
                    continue
            part = waiting.pop(place)
            steps.append(part)
            bound.update(self.names(part))
        return steps

    def _rank(self, part: CoreFormula, bound: set[str]) -> tuple[int, int]:
        missing = set(self.names(part)) - bound
        if isinstance(part, Measured) and missing:
            # An aggregate gives values to what nothing else does, and comes after all else.
            given = bound | {name for each in part.sets for name in each.binds}
            if not set(self.names(part)) - given or unknown_of(part, given) is not None:
                return _FINDS, 2 * _MANY + len(missing)
        if not missing:
            return (_TESTS if isinstance(part, (Comparison, Measured)) else _CHECKS), 0
        if isinstance(part, Comparison) and determined(part, bound) is not None:
            return _TESTS, 0
        if self.guesses(part, bound):
            # What a set shares with its rule is never tried: whatever gives it a value comes first.
            return _GUESSES, len(missing) + (_MANY if isinstance(part, Measured) else 0)
        # Something that holds for ever and is pinned to an open time has as many answers as there are times.
        everlasting = 0 if self._has_times(part) else _MANY
        return _FINDS, everlasting + len(missing) - len(set(self.names(part)) & bound)

    def _held_between(self, parts: list[CoreFormula], bound: set[str]) -> str | None:
        """A time variable that comparisons with known values bound."""
        for part in parts:
            if isinstance(part, Comparison) and part.operator != "!=":
                missing = set(self.names(part)) - bound
                if len(missing) == 1 and missing <= self.times:
                    return missing.pop()
        return None

    def guesses(self, formula: CoreFormula, bound: set[str]) -> bool:
        """Whether some variable gets its values by trying all there are."""
        match formula:
            case Atom():
                return False
            case Measured(sets=sets):
                given = bound | {name for each in sets for name in each.binds}
                return bool(set(self.names(formula)) - given) and unknown_of(formula, given) is None
            case Comparison():
                return bool(set(self.names(formula)) - bound) and determined(formula, bound) is None
            case Not():
                return bool(set(self.names(formula)) - bound)
            case All():
                seen = set(bound)
                for step in self.steps(formula, bound):
                    if not isinstance(step, str) and self.guesses(step, seen):
                        return True
                    seen.update((step,) if isinstance(step, str) else self.names(step))
                return False
            case Any(parts=parts):
                needed = set(self.names(formula)) - bound
                return any(needed - set(self.names(part)) or self.guesses(part, bound) for part in parts)
            case Lasts(left=left, right=right):
                found = bound | set(self.names(right))
                return self.guesses(right, bound) or bool(set(self.names(left)) - found)
            case _:
                return any(self.guesses(part, bound) for part in children(formula))

    def _has_times(self, formula: CoreFormula) -> bool:
        """Whether a formula holds at the times of some facts, or at no open time."""
        match formula:
            case Atom(predicate=predicate):
                return predicate not in self.statics
            case At(part=inner):
                return self._has_times(inner) or formula.variable is None
            case Not() | Measured():
                return False
            case _:
                return any(self._has_times(part) for part in children(formula))


_MANY = 100
_TESTS, _CHECKS, _FINDS, _GUESSES = range(4)


def determined(comparison: Comparison, bound: set[str], named: frozenset[str] = frozenset()) -> str | None:
    """The one open variable of an equation. What a function is worth does not say what it was given; nor does what a
    set is worth, for which a variable is `named`."""
    if comparison.operator != "=":
        return None
    left = {variable.name for variable in term_variables(comparison.left)} - bound
    right = {variable.name for variable in term_variables(comparison.right)} - bound
    if len(left | right) != 1 or (left and right):
        return None
    (unknown,) = left | right
    side = comparison.left if left else comparison.right
    if any(isinstance(each, (Function, Case)) for each in subterms(side)):
        return None
    return None if named & {each.name for each in term_variables(side)} else unknown


def unknown_of(measured: Measured, bound: set[str]) -> str | None:
    """The one open variable of an equation with what sets are worth, where all that these share is bound."""
    shared = {name for each in measured.sets for name in each.shared}
    if shared - bound:
        return None
    own = frozenset(each.name for each in measured.sets)
    return determined(measured.comparison, bound | own, own)
