"""Sets of which the rule itself has a member: they are never empty where it is looked at.

In `total(K, S) :- e(K, V), S = sum { W, T : window(600) e(K, W)@T }` the fact that asks is in the window. What an empty
set is worth, which costs the absence of its relation and a way of its own to the head, need not be worked out there.
"""

from __future__ import annotations

from collections.abc import Iterable

from presage.core.formulas import At, CoreFormula, Gathered, Seen, Some, conjuncts
from presage.core.reach import Reach
from presage.model.formulas import Atom
from presage.model.terms import Constant, Now, Term, Variable


def has_member(gathered: Gathered, body: Iterable[CoreFormula]) -> bool:
    """Whether some atom of a rule's body, at the time at which the rule is looked at, is in the set of an aggregate."""
    if len(gathered.body) != 1 or not all(isinstance(each, (Variable, Constant)) for each in gathered.terms):
        return False
    member = _in_sight_now(gathered.body[0], gathered.shared)
    return member is not None and any(
        isinstance(part, Atom) and _is_instance(part, member, gathered.shared)
        for literal in body
        for part in conjuncts(literal)
    )


def _in_sight_now(formula: CoreFormula, shared: tuple[str, ...]) -> Atom | None:
    """The atom that makes a formula true where it holds at this very time."""
    match formula:
        case Atom():
            return formula
        case Seen(reach=reach, part=part, hop=None) | Some(reach=reach, part=part, clip=False) if _has_now(reach):
            return _in_sight_now(part, shared)
        case At(base=Variable(name=name), offset=0, part=Atom() as atom) if name not in shared:
            return None if Variable(name) in atom.arguments else atom
        case At(base=Now(), offset=0, part=part):
            return _in_sight_now(part, shared)
    return None


def _has_now(reach: Reach) -> bool:
    from_now = reach.near is None or reach.near < 0 or (reach.near == 0 and not reach.open_near)
    return from_now and (reach.far is None or reach.far > 0 or (reach.far == 0 and not reach.open_far))


def _is_instance(atom: Atom, general: Atom, shared: tuple[str, ...]) -> bool:
    """Whether an atom is one of those that another speaks of, whose variables are its own but for the shared ones."""
    if atom.predicate != general.predicate or len(atom.arguments) != len(general.arguments):
        return False
    meant: dict[str, Term] = {}
    for given, wanted in zip(atom.arguments, general.arguments, strict=True):
        if isinstance(wanted, Variable) and wanted.name not in shared:
            if meant.setdefault(wanted.name, given) != given:
                return False
        elif given != wanted:
            return False
    return True
