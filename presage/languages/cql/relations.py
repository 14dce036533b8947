"""Relations as rules see them: bodies that say when there is a row, and terms for its columns.

Relations are bags: a row is a choice of facts with their times, so the assignments of all variables of a body are its
rows, and two rows may have the same columns. Where only the columns count, the times are not asked for; where rows are
counted, they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from presage.errors import Span
from presage.languages.writing import FreshNames, flat, names_in, replacing
from presage.model.formulas import Atom, Comparison, Formula, Not, Or, map_terms
from presage.model.terms import Aggregate, Arithmetic, Constant, Negative, Term, Variable, term_variables

NUMBERS = ("int", "float")


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a relation: what it is called, what it is worth, and its type."""

    name: str
    term: Term
    kind: str = "any"
    nullable: bool = False
    """Whether SQL would have rows here in which it is NULL, and rules have none."""


@dataclass(frozen=True, slots=True)
class BodyRows:
    body: tuple[Formula, ...]
    columns: tuple[RelationColumn, ...]
    hidden: tuple[Term, ...] = ()
    """What tells rows apart besides their columns, where that is not each variable of the body: the keys of groups."""


@dataclass(frozen=True, slots=True)
class RowsRelation:
    parts: tuple[BodyRows, ...]
    """The rows of all parts together."""
    overlapping: bool = False
    """Whether parts may have the same rows, which count once: columns and what is hidden then make a row."""

    @property
    def columns(self) -> tuple[RelationColumn, ...]:
        return self.parts[0].columns

    @property
    def is_set(self) -> bool:
        """Whether no two rows can have the same columns."""
        if self.overlapping:
            return not any(each.hidden for each in self.parts)
        if len(self.parts) > 1:
            return False
        (rows,) = self.parts
        shown = {each.term.name for each in rows.columns if isinstance(each.term, Variable)}
        return shown.issuperset(names_in(rows.body))


def equated(body: Iterable[Formula], fixed: frozenset[str]) -> tuple[tuple[Formula, ...], dict[str, Term]]:
    """What is left of a body when variables that it says are equal are one, and those that are constants are these; and
    what each variable became. `fixed` ones keep their names."""
    known: dict[str, Term] = {}

    def end(term: Term) -> Term:
        while isinstance(term, Variable) and term.name in known:
            term = known[term.name]
        return term

    left: list[Formula] = []
    bound = {each for formula in body if not isinstance(formula, Comparison) for each in names_in((formula,))}
    for formula in body:
        if isinstance(formula, Comparison) and formula.operator == "=":
            one, other = end(formula.left), end(formula.right)
            if isinstance(one, Variable) and one == other:
                continue
            if isinstance(one, Constant) or (isinstance(one, Variable) and one.name in fixed):
                one, other = other, one
            if isinstance(one, Variable) and one.name not in fixed and one.name in bound:
                if isinstance(other, Constant) or (isinstance(other, Variable) and other.name in bound | fixed):
                    known[one.name] = other
                    continue
        left.append(formula)
    ends = {name: end(Variable(name)) for name in known}
    change = replacing(ends)
    return tuple(map_terms(each, change) for each in left), ends


def row_terms(body: Iterable[Formula], beside: Iterable[Term]) -> tuple[Variable, ...]:
    """The variables that tell the rows of a body apart, those aside that are known: what a condition alone speaks of,
    such as the value of a query in one side of an `Or`, makes no row."""
    known = {each.name for term in beside for each in term_variables(term)}
    rows = [each for formula in body for each in flat(formula) if not isinstance(each, (Or, Not))]
    return tuple(Variable(name) for name in dict.fromkeys(names_in(rows)) if name not in known)


def atom_of(predicate: str, columns: Iterable[Term], span: Span) -> Atom:
    return Atom(predicate, tuple(columns), span=span)


def bare(relation: RowsRelation) -> tuple[BodyRows, ...]:
    return tuple(replace(each, hidden=()) for each in relation.parts)


def has_value(term: Term, counted: bool = False) -> bool:
    """Whether a term has a value for all numbers; aggregates have, where that is `counted` otherwise."""
    match term:
        case Constant() | Variable():
            return True
        case Aggregate():
            return counted
        case Negative(term=inner):
            return has_value(inner, counted)
        case Arithmetic(operator=operator, left=left, right=right):
            return operator != "/" and has_value(left, counted) and has_value(right, counted)
    return False


def may_be_null(cell: RelationColumn) -> bool:
    return cell.nullable or not has_value(cell.term)


def with_names(cells: list[RelationColumn]) -> tuple[RelationColumn, ...]:
    names = FreshNames()
    return tuple(
        replace(each, name=names.fresh(each.name if each.name and each.name != "*" else "n")) for each in cells
    )
