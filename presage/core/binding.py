"""Which variables a formula of core gives values to."""

from __future__ import annotations

from collections.abc import Iterable

from presage.core.formulas import All, Any, At, CoreFormula, Lasts, Measured, Not, Seen, children, variables
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Variable, term_variables


def binds(formula: CoreFormula) -> set[str]:
    """The variables to which a formula, where it holds, gives finitely many values."""
    match formula:
        case Atom():
            return {variable.name for variable in variables(formula)}
        case At(base=base, part=part):
            found = binds(part)
            if isinstance(base, Variable) and _is_finite(part):
                found.add(base.name)
            return found
        case Seen(reach=reach, part=part) if reach.near is not None and reach.far is not None:
            return binds(part) | _times_in_sight(part)
        case Lasts(right=right):
            return binds(right)
        case All(parts=parts):
            known = set[str]().union(*map(binds, parts))
            return closed(known, (part for part in parts if isinstance(part, Comparison)))
        case Any(parts=parts):
            return set.intersection(*map(binds, parts)) if parts else set()
        case Measured(sets=sets):
            # What a set ranges over; `binds` says of which variables it is to give the values.
            return {name for each in sets for name in {*each.binds} & binds(All(each.body))}
        case Comparison() | Not():
            return set()
        case _:
            return binds(formula.part)


def closed(bound: Iterable[str], comparisons: Iterable[Comparison]) -> set[str]:
    """What is bound, with what equations give values to by it."""
    found, equations = {*bound}, [each for each in comparisons if each.operator == "="]
    changed = True
    while changed:
        changed = False
        for each in equations:
            for side, other in ((each.left, each.right), (each.right, each.left)):
                if isinstance(side, Variable) and side.name not in found:
                    if all(variable.name in found for variable in term_variables(other)):
                        found.add(side.name)
                        changed = True
    return found


def _times_in_sight(formula: CoreFormula) -> set[str]:
    """The time variables a formula pins to, where the window around it holds finitely many times."""
    match formula:
        case At(base=base, part=part):
            return _times_in_sight(part) | ({base.name} if isinstance(base, Variable) else set())
        case All(parts=parts):
            return set[str]().union(*map(_times_in_sight, parts))
        case Seen(part=part):
            return _times_in_sight(part)
        case _:
            return set()


def _is_finite(formula: CoreFormula) -> bool:
    """Whether a formula can hold only at finitely many times of a finite stream."""
    match formula:
        case Atom():
            return True
        case Not() | Comparison() | Measured():
            return False
        case Any(parts=parts):
            return bool(parts) and all(map(_is_finite, parts))
        case Lasts(right=right):
            return _is_finite(right)
        case _:
            return any(map(_is_finite, children(formula)))
