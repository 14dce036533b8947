"""Comparisons and arithmetic over columns of symbols.

Where all values of a column are exact as floats, whole columns are compared at once; otherwise value
by value with exact rationals. No rounded number ever decides.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from presage.engine.relation import Symbols32
from presage.engine.symbols import Null, Symbols, Value
from presage.model.formulas import Comparison
from presage.model.terms import Arithmetic, Constant, Negative, Term, Variable
from presage.model.values import is_true, value_of

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
_SAFE = float(1 << 52)
_VECTOR = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def holds(comparison: Comparison, bindings: Symbols32, variables: dict[str, int], symbols: Symbols) -> Mask:
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
    return np.array([_exactly(comparison, row, variables, symbols) for row in bindings], bool).reshape(len(bindings))


def _column(term: Term, bindings: Symbols32, variables: dict[str, int], symbols: Symbols) -> Symbols32 | None:
    """The symbols of a plain variable or constant: equal symbols are equal values."""
    if isinstance(term, Variable):
        return bindings[:, variables[term.name]]
    if isinstance(term, Constant):
        return np.full(len(bindings), symbols.number(term.value), np.int32)
    return None


def _floats(term: Term, bindings: Symbols32, variables: dict[str, int], symbols: Symbols) -> Floats | None:
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
        case _:
            return None
    return found if bool((np.abs(found) < _SAFE).all()) else None


def value(term: Term, row: Symbols32, variables: dict[str, int], symbols: Symbols) -> Value | Null | None:
    """The exact value of a term in a row of symbols."""
    return value_of(term, lambda name: symbols.value_or_null(int(row[variables[name]])))


def _exactly(comparison: Comparison, row: Symbols32, variables: dict[str, int], symbols: Symbols) -> bool:
    left, right = value(comparison.left, row, variables, symbols), value(comparison.right, row, variables, symbols)
    return is_true(comparison.operator, left, right)


def computed(term: Term, bindings: Symbols32, variables: dict[str, int], symbols: Symbols) -> tuple[Symbols32, Mask]:
    """The symbols of a term's values, and where it has one."""
    plain = _column(term, bindings, variables, symbols)
    if plain is not None:
        return plain, np.ones(len(bindings), bool)
    values = [value(term, row, variables, symbols) for row in bindings]
    known = np.array([each is not None for each in values], bool).reshape(len(bindings))
    numbers = np.array([0 if each is None else symbols.number(each) for each in values], np.int32)
    return numbers.reshape(len(bindings)), known
