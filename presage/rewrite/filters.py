"""Filters become conditions on the facts below them: `window(only p(a, _)) q` asks of each fact what the pattern does.

What is static is known through any window. Above a window of rows a filter says which rows are counted: it becomes the
one partition of that window where it has patterns for that, and stays where it has none.
"""

from __future__ import annotations

from dataclasses import replace

from presage.core.formulas import (
    FALSE,
    TRUE,
    All,
    CoreFormula,
    Only,
    Rows,
    Whole,
    both,
    children,
    either,
    transform,
    walk,
    with_children,
)
from presage.core.rules import Core
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Constant, Term, Variable


def without_filters(formula: CoreFormula, core: Core) -> CoreFormula:
    """An equivalent formula that asks of its facts what the filters above them let through."""
    return _Filtering(core).through(formula, ())


class _Filtering:
    def __init__(self, core: Core) -> None:
        self.statics, self.inputs = core.statics, core.inputs

    def through(self, formula: CoreFormula, filters: tuple[Only, ...]) -> CoreFormula:
        match formula:
            case Only(part=part):
                return self.through(part, (*filters, formula))
            case Whole(part=part):
                return replace(formula, part=self.through(part, ()))
            case Rows() if filters:
                return self._counted(formula, filters)
            case Atom(predicate=predicate) if predicate not in self.statics:
                conditions = [each for only in filters if (each := _asked(formula, only)) != TRUE]
                if FALSE in conditions:
                    return FALSE
                return All((formula, *conditions), written=formula) if conditions else formula
            case _:
                # Hiding facts and hiding times go together in either order.
                return with_children(formula, tuple(self.through(part, filters) for part in children(formula)))

    def _counted(self, formula: Rows, filters: tuple[Only, ...]) -> CoreFormula:
        """Rows that are not let through are not counted. With no rows at all, such a window is not the same as one with
        partitions: it reaches to the start of the stream, which only rows themselves do not show."""
        by = () if len(filters) > 1 or formula.window.by else _one_partition(filters[0])
        if by:
            part = transform(self.through(formula.part, ()), lambda each: self._hidden(each, by))
            if all(self._is_of_rows(each) for each in walk(part)):
                return replace(formula, window=replace(formula.window, by=by), part=part)
        found: CoreFormula = formula
        for only in reversed(filters):
            found = replace(only, part=found)
        return found

    def _hidden(self, formula: CoreFormula, patterns: tuple[Atom, ...]) -> CoreFormula:
        """Nothing, instead of an atom that no pattern is about."""
        if not isinstance(formula, Atom) or formula.predicate in self.statics:
            return formula
        return formula if any(each.predicate == formula.predicate for each in patterns) else FALSE

    def _is_of_rows(self, formula: CoreFormula) -> bool:
        if isinstance(formula, Atom):
            return formula.predicate in self.statics or formula.predicate in self.inputs
        return not isinstance(formula, Whole)


def _one_partition(only: Only) -> tuple[Atom, ...]:
    """Patterns for all that a filter lets through, as one partition; none where there are no such patterns."""
    found = []
    for pattern in only.patterns:
        named = [each.name for each in pattern.arguments if isinstance(each, Variable) and not each.is_anonymous]
        if len(set(named)) < len(named):
            return ()
        anything = Variable("_")
        arguments = (anything if isinstance(each, Variable) else each for each in pattern.arguments)
        found.append(replace(pattern, arguments=tuple(arguments)))
    return tuple(found)


def _asked(atom: Atom, only: Only) -> CoreFormula:
    """What an atom must fulfil for a filter to let it through."""
    ways = [_fitting(atom, pattern) for pattern in only.patterns if pattern.predicate == atom.predicate]
    if any(not way for way in ways):
        return TRUE
    return either(tuple(both(way) for way in ways))


def _fitting(atom: Atom, pattern: Atom) -> tuple[CoreFormula, ...]:
    """What an atom must fulfil to have the constants of a pattern, and to be equal where the pattern is."""
    conditions: list[CoreFormula] = []
    first: dict[str, Term] = {}
    for wanted, given in zip(pattern.arguments, atom.arguments, strict=True):
        if isinstance(wanted, Constant):
            conditions.append(Comparison("=", given, wanted))
        elif isinstance(wanted, Variable) and not wanted.is_anonymous:
            same = first.setdefault(wanted.name, given)
            if same is not given:
                conditions.append(Comparison("=", given, same))
    return tuple(conditions)
