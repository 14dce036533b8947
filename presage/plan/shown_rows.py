"""What is asked of the facts that a window of rows shows.

The plan knows `some φ` where φ is a fact, or facts and comparisons at one time; a fact with a time variable of its own,
which is then a value like others; and a fact at the time the rule is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from presage.core.formulas import All, At, CoreFormula, Not, Some, conjuncts, walk
from presage.core.reach import EVERYWHERE
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Term, Variable
from presage.plan.nodes import Shows


@dataclass(frozen=True, slots=True)
class AskedFact:
    """A fact that is asked for, with what stands for its time, if anything does."""

    atom: Atom
    shows: Shows
    moment: Variable | None = None
    absent: bool = False


def parts_in_rows(formula: CoreFormula, fresh: Callable[[], Variable]) -> list[AskedFact | Comparison] | None:
    """The parts of what is asked below a window of rows; `None` for what the plan does not know."""
    match formula:
        case Atom():
            return [AskedFact(formula, Shows.AT_ONCE)]
        case At(base=Variable() as base, offset=0, part=Atom() as atom):
            return [AskedFact(atom, Shows.WITH_TIME, base)]
        case Some(reach=reach, clip=True, part=Atom() as atom) if reach == EVERYWHERE:
            return [AskedFact(atom, Shows.WHILE_IN)]
        case Some(reach=reach, clip=True, part=All() as inner) if reach == EVERYWHERE:
            moment = fresh()
            found: list[AskedFact | Comparison] = []
            for part in conjuncts(inner):
                match part:
                    case Comparison():
                        found.append(part)
                    case Atom():
                        found.append(AskedFact(part, Shows.WITH_TIME, moment))
                    case Not(part=Atom() as atom):
                        found.append(AskedFact(atom, Shows.WITH_TIME, moment, absent=True))
                    case _:
                        return None
            return found
        case _:
            return None


def conjuncts_among(formula: CoreFormula, chosen: Callable[[Atom], bool]) -> list[Atom] | None:
    """The chosen atoms of a formula, if they are parts of a conjunction; `None` if some of them stand elsewhere."""
    parts = list(conjuncts(formula))
    found = [part for part in parts if isinstance(part, Atom) and chosen(part)]
    rest = (inner for part in parts if not isinstance(part, Atom) for inner in walk(part))
    return None if any(isinstance(inner, Atom) and chosen(inner) for inner in rest) else found


def are_columns(arguments: Iterable[Term]) -> bool:
    """Whether an atom has all tuples of its relation: a variable for each column."""
    given = tuple(arguments)
    found = {each.name for each in given if isinstance(each, Variable)}
    return len(found) == len(given)
