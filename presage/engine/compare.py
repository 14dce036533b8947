"""Comparisons and arithmetic over columns of symbols.

Where all values of a column are exact as floats, whole columns are compared and calculated at once; otherwise each
choice of values that occurs, once, with exact rationals. No rounded number ever decides.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from presage.engine.symbols import Null, Symbols
from presage.kernels.arrays import Flags, Floats, Ints, Ints32
from presage.model.formulas import Comparison
from presage.model.terms import Arithmetic, Case, Constant, Function, Negative, Term, Value, Variable, term_variables
from presage.model.values import NOW, decided, is_true, value_of

_SAFE = float(1 << 52)
FEW = 16
"""Rows that are not worth looking which of them are alike."""
_OF_WHOLES: dict[str, np.ufunc] = {
    "abs": np.absolute, "floor": np.positive, "ceil": np.positive, "min": np.minimum, "max": np.maximum, "mod": np.mod,
}  # fmt: skip
"""Functions that whole numbers give whole numbers for."""
_VECTOR = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def holds(comparison: Comparison, bindings: Ints32, variables: dict[str, int], symbols: Symbols) -> Flags:
    """For each row whether the comparison is true."""
    if comparison.operator in ("=", "!="):
        left, right = (
            _column(comparison.left, bindings, variables, symbols),
            _column(comparison.right, bindings, variables, symbols),
        )
        if left is not None and right is not None:
            return np.asarray(left == right if comparison.operator == "=" else left != right, bool)
    fast = _floats(comparison.left, bindings, variables, symbols)
    other = _floats(comparison.right, bindings, variables, symbols) if fast is not None else None
    if fast is not None and other is not None:
        return np.asarray(_VECTOR[comparison.operator](fast, other), bool)
    rows, which = _distinct((comparison.left, comparison.right), bindings, variables)
    return np.array([_exactly(comparison, row, variables, symbols) for row in rows], bool)[which]


def _distinct(terms: Iterable[Term], bindings: Ints32, variables: dict[str, int]) -> tuple[Ints32, Ints]:
    """A row for each choice of values of the variables of some terms, and which of these each row has."""
    named = {NOW, *(each.name for term in terms for each in term_variables(term))}
    used = sorted(variables[each] for each in named if each in variables)
    if len(bindings) < FEW:
        return bindings, np.arange(len(bindings))
    if not used:
        return bindings[:1], np.zeros(len(bindings), np.int64)
    which, count = np.zeros(len(bindings), np.int64), 1
    for column in used:
        values, places = np.unique(bindings[:, column], return_inverse=True)
        _, which = np.unique(which * len(values) + places, return_inverse=True)
        count = int(which.max()) + 1
    first = np.empty(count, np.int64)
    first[which[::-1]] = np.arange(len(bindings))[::-1]
    return bindings[first], which


def _column(term: Term, bindings: Ints32, variables: dict[str, int], symbols: Symbols) -> Ints32 | None:
    """The symbols of a plain variable or constant: equal symbols are equal values."""
    if isinstance(term, Variable):
        return bindings[:, variables[term.name]]
    if isinstance(term, Constant):
        return np.full(len(bindings), symbols.number(term.value), np.int32)
    return None


class _NotExact(Exception):
    """There is something that is not exact as a float."""


def _every(masks: Iterable[Flags]) -> Flags:
    return np.asarray(np.logical_and.reduce(list(masks)), bool)


def _some(masks: Iterable[Flags]) -> Flags:
    return np.asarray(np.logical_or.reduce(list(masks)), bool)


def _floats(term: Term, bindings: Ints32, variables: dict[str, int], symbols: Symbols) -> Floats | None:
    """The values of a term as floats, if every one of them is exact."""
    found: Floats
    match term:
        case Constant(value=value):
            number = symbols.number(value)  # which may be new, and make room for itself
            found = np.full(len(bindings), symbols.floats[number])
        case Variable(name=name):
            found = symbols.floats[bindings[:, variables[name]]]
        case Negative(term=inner):
            below = _floats(inner, bindings, variables, symbols)
            if below is None:
                return None
            found = -below
        case Arithmetic(operator=operator, left=left, right=right) if operator != "/":
            first = _floats(left, bindings, variables, symbols)
            second = _floats(right, bindings, variables, symbols) if first is not None else None
            if first is None or second is None:
                return None
            # Sums and products of multiples of 1/1024 are exact while they stay small.
            if (first != np.floor(first)).any() or (second != np.floor(second)).any():
                return None
            found = first + second if operator == "+" else first - second if operator == "-" else first * second
        case Case(condition=condition, then=then, otherwise=otherwise):
            one = _floats(then, bindings, variables, symbols)
            other = _floats(otherwise, bindings, variables, symbols) if one is not None else None
            if one is None or other is None:
                return None

            def compared(part: Comparison) -> Flags:
                left = _floats(part.left, bindings, variables, symbols)
                right = _floats(part.right, bindings, variables, symbols) if left is not None else None
                if left is None or right is None:
                    raise _NotExact
                return np.asarray(_VECTOR[part.operator](left, right), bool)

            try:
                chosen = decided(condition, compared, _every, _some, np.logical_not)
            except _NotExact:
                return None
            found = np.where(chosen, one, other)
        case Function(name=name, arguments=arguments) if name in _OF_WHOLES:
            parts = [_floats(each, bindings, variables, symbols) for each in arguments]
            given = [part for part in parts if part is not None and (part == np.floor(part)).all()]
            if len(given) != _OF_WHOLES[name].nin or len(parts) != len(given):
                return None
            if name == "mod" and not given[1].all():
                return None
            found = _OF_WHOLES[name](*(part.astype(np.int64) for part in given)).astype(np.float64)
        case _:
            return None
    return found if bool((np.abs(found) < _SAFE).all()) else None


def value(term: Term, row: Ints32, variables: dict[str, int], symbols: Symbols) -> Value | Null | None:
    """The exact value of a term in a row of symbols."""
    return value_of(term, lambda name: symbols.value_or_null(int(row[variables[name]])))


def _exactly(comparison: Comparison, row: Ints32, variables: dict[str, int], symbols: Symbols) -> bool:
    left, right = value(comparison.left, row, variables, symbols), value(comparison.right, row, variables, symbols)
    return is_true(comparison.operator, left, right)


def computed(term: Term, bindings: Ints32, variables: dict[str, int], symbols: Symbols) -> tuple[Ints32, Flags]:
    """The symbols of a term's values, and where it has one."""
    plain = _column(term, bindings, variables, symbols)
    if plain is not None:
        return plain, np.ones(len(bindings), bool)
    fast = _floats(term, bindings, variables, symbols) if len(bindings) >= FEW else None
    if fast is not None and (fast == np.floor(fast)).all():
        return symbols.number_wholes(fast.astype(np.int64)), np.ones(len(bindings), bool)
    rows, which = _distinct((term,), bindings, variables)
    values = [value(term, row, variables, symbols) for row in rows]
    known = np.array([each is not None for each in values], bool)
    numbers = np.array([0 if each is None else symbols.number(each) for each in values], np.int32)
    return numbers[which], known[which]
