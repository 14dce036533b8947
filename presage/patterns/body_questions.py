"""Questions about the formulas of a body: what they look at, and whether there is one way for them to hold."""

from __future__ import annotations

from presage.core.formulas import (
    All,
    Any,
    CoreFormula,
    Every,
    Not,
    Only,
    Rows,
    Seen,
    Shift,
    Some,
    Whole,
    children,
    uses_now,
)
from presage.core.reach import EVERYWHERE
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Arithmetic, Constant, Now, Term
from presage.patterns.clause import When


def selects_again(formula: CoreFormula) -> bool:
    """Whether a window below looks at the same time, and not at one that `some` or `all` has chosen."""
    match formula:
        case Seen() | Rows() | Only():
            return True
        case Whole():
            return False
        case Some(reach=reach, clip=True) | Every(reach=reach, clip=True):
            return reach != EVERYWHERE
        case _:
            return any(map(selects_again, children(formula)))


def looks_at_all(formula: CoreFormula, positive: bool) -> bool:
    """Whether something in a formula must hold at all times of a window of its own."""
    match formula:
        case Not(part=inner):
            return looks_at_all(inner, not positive)
        case Some(clip=True) | Every(clip=True) if isinstance(formula, Some) != positive:
            return True
        case _:
            return any(looks_at_all(each, positive) for each in children(formula))


def asks_for_facts(formula: CoreFormula, positive: bool) -> bool:
    """Whether a steady formula cannot hold where nothing does."""
    match formula:
        case Atom():
            return positive
        case Not(part=inner):
            return asks_for_facts(inner, not positive)
        case _:
            return any(asks_for_facts(each, positive) for each in children(formula))


def asks_of_no_times(
    formula: CoreFormula, static: frozenset[str], derived: frozenset[str], positive: bool = True
) -> bool:
    """Whether something would be asked by a formula that is to hold throughout a stretch without times: what is so at
    all times or at none, and what looks at times beside its own, by itself or by the rules of what it names."""
    match formula:
        case Atom(predicate=name):
            return name in static or (positive and name in derived)
        case Comparison() | Some() | Every():
            return True
        case Not(part=inner):
            return asks_of_no_times(inner, static, derived, not positive)
        case _:
            return any(asks_of_no_times(each, static, derived, positive) for each in children(formula))


def remainder(when: When, hop: int, ago: int) -> Comparison:
    """That a time lies so long after a multiple of a number."""
    moved: Term = Arithmetic("+", Now(), Constant(when.offset)) if when.offset else Now()
    return Comparison("=", Arithmetic("%", moved, Constant(hop)), Constant(ago))


def is_steady(formula: CoreFormula, positive: bool, unsteady: frozenset[str], selected: bool) -> bool:
    """Whether there is one way for a formula to hold, or not to, throughout a stretch: the same at each of its times.
    `unsteady` predicates can hold for different reasons; `selected`: a window chooses facts."""

    def steady(part: CoreFormula, sign: bool) -> bool:
        return is_steady(part, sign, unsteady, selected)

    match formula:
        case Atom(predicate=name):
            return name not in unsteady if positive else not selected
        case Comparison():
            return not uses_now(formula)
        case Not(part=inner):
            return steady(inner, not positive)
        case All(parts=parts):
            return positive and all(steady(each, True) for each in parts)
        case Any(parts=parts):
            return not positive and all(steady(each, False) for each in parts)
        case Shift(part=inner):
            return steady(inner, positive)
        case Some(reach=reach, clip=False, part=inner) | Every(reach=reach, clip=False, part=inner):
            return reach.farthest is not None and isinstance(formula, Some) != positive and steady(inner, positive)
        case _:
            return False
