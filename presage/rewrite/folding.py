"""What says the same in fewer words: negations of negations, conjunctions within conjunctions, operators at a single
distance, and what can be told now to be true or false."""

from __future__ import annotations

from dataclasses import replace

from presage.core.formulas import (
    FALSE,
    TRUE,
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Lasts,
    Not,
    Only,
    Rows,
    Seen,
    Shift,
    Some,
    Whole,
    transform,
)
from presage.core.rules import Core


def fold(formula: CoreFormula, core: Core) -> CoreFormula:
    return transform(formula, _node)


def _node(formula: CoreFormula) -> CoreFormula:
    match formula:
        case Not(part=Not(part=inner)):
            return inner
        case Not(part=inner) if inner in (TRUE, FALSE):
            return FALSE if inner == TRUE else TRUE
        case All(parts=parts):
            return FALSE if FALSE in parts else _joined(formula, tuple(_flat(parts, All)))
        case Any(parts=parts):
            return TRUE if TRUE in parts else _joined(formula, tuple(_flat(parts, Any)))
        case Some(reach=reach, clip=False, part=part) | Every(reach=reach, clip=False, part=part):
            return _moved(formula, part)
        case Lasts(reach=reach, right=right) if reach.is_empty or right == FALSE:
            return FALSE
        case Seen(part=part) | Rows(part=part) | Only(part=part) | Whole(part=part) if part in (TRUE, FALSE):
            return part
        case Shift(part=part) if part in (TRUE, FALSE):
            return part
        case Some(part=part) | Every(part=part) | At(part=part) if part == FALSE:
            # What is clipped has a time in sight, its own at least.
            return FALSE
        case _:
            return formula


def _moved(formula: Some | Every, part: CoreFormula) -> CoreFormula:
    is_some = isinstance(formula, Some)
    if formula.reach.is_empty:
        return FALSE if is_some else TRUE
    if part in (TRUE, FALSE):
        return part
    step = formula.reach.step
    if step is None:
        return formula
    return Shift(step, part, written=formula.written) if step else part


def _flat(parts: tuple[CoreFormula, ...], kind: type[All] | type[Any]) -> tuple[CoreFormula, ...]:
    return tuple(each for part in parts for each in (part.parts if isinstance(part, kind) else (part,)))


def _joined(formula: All | Any, parts: tuple[CoreFormula, ...]) -> CoreFormula:
    return parts[0] if len(parts) == 1 else replace(formula, parts=parts)
