"""Questions about the formulas of a body: what they look at, and what makes atoms those a filter selects."""

from __future__ import annotations

from presage.hypothesis.clause import When
from presage.model.formulas import (
    And,
    Atom,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Reset,
    Top,
    Windowed,
    children,
)
from presage.model.terms import Arithmetic, Constant, Now, Term, Variable, subterms


def selects_again(formula: Formula) -> bool:
    """Whether a window below looks at the same time, and not at one that a modality has chosen."""
    if isinstance(formula, (Modal, Reset)):
        return False
    return isinstance(formula, Windowed) or any(map(selects_again, children(formula)))


def looks_at_all(formula: Formula, positive: bool) -> bool:
    """Whether something in a formula must hold at all times of a window of its own."""
    if isinstance(formula, Not):
        return looks_at_all(formula.formula, not positive)
    if isinstance(formula, Implies):
        return looks_at_all(formula.left, not positive) or looks_at_all(formula.right, positive)
    if isinstance(formula, Modal) and (formula.operator == "some") != positive:
        return True
    return any(looks_at_all(each, positive) for each in children(formula))


def asks_for_facts(formula: Formula, positive: bool) -> bool:
    """Whether a steady formula cannot hold where nothing does."""
    match formula:
        case Atom():
            return positive
        case Not(formula=inner):
            return asks_for_facts(inner, not positive)
        case Implies(left=left, right=right):
            return asks_for_facts(left, True) or asks_for_facts(right, False)
        case Comparison() | Top():
            return False
        case _:
            return any(asks_for_facts(each, positive) for each in children(formula))


def uses_now(comparison: Comparison) -> bool:
    return any(isinstance(each, Now) for side in (comparison.left, comparison.right) for each in subterms(side))


def matching(pattern: Atom, atom: Atom) -> tuple[Comparison, ...] | None:
    """What makes an atom one that a filter's pattern selects; `None` if nothing does. The pattern's variables are its
    own."""
    if (pattern.predicate, len(pattern.arguments)) != (atom.predicate, len(atom.arguments)):
        return None
    equations: list[Comparison] = []
    first: dict[str, Term] = {}
    for wanted, given in zip(pattern.arguments, atom.arguments, strict=True):
        if isinstance(wanted, Variable):
            wanted = given if wanted.is_anonymous else first.setdefault(wanted.name, given)
        if isinstance(wanted, Constant) and isinstance(given, Constant):
            if wanted.value != given.value:
                return None
        elif wanted != given:
            equations.append(Comparison("=", given, wanted))
    return tuple(equations)


def remainder(when: When, hop: int, ago: int) -> Comparison:
    """That a time lies so long after a multiple of a number."""
    moved: Term = Arithmetic("+", Now(), Constant(when.offset)) if when.offset else Now()
    return Comparison("=", Arithmetic("%", moved, Constant(hop)), Constant(ago))


def is_steady(formula: Formula, positive: bool, unsteady: frozenset[str], selected: bool) -> bool:
    """Whether there is one way for a formula to hold, or not to, throughout a stretch: the same at each of its times.
    `unsteady` predicates can hold for different reasons; `selected`: a window or a filter chooses facts."""
    match formula:
        case Atom(predicate=name):
            return name not in unsteady if positive else not selected
        case Comparison():
            return not uses_now(formula)
        case Top():
            return positive
        case Not(formula=inner):
            return is_steady(inner, not positive, unsteady, selected)
        case And(parts=parts):
            return positive and all(is_steady(each, True, unsteady, selected) for each in parts)
        case Or(parts=parts):
            return not positive and all(is_steady(each, False, unsteady, selected) for each in parts)
        case Implies(left=left, right=right):
            steady = is_steady(left, True, unsteady, selected) and is_steady(right, False, unsteady, selected)
            return not positive and steady
        case Metric(operator=operator, interval=interval, formula=inner):
            if interval.high is None:
                return False
            some = (operator in ("once", "eventually")) == positive
            return (interval.low == interval.high or not some) and is_steady(inner, positive, unsteady, selected)
        case _:
            return False
