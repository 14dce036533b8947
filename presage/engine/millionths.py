"""Constants as so many millionths, so that sums of whole numbers and of decimals are exact; and what these come to as
constants again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from presage.engine.symbols import Symbols
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.lines import AS_IS
from presage.model.terms import number

SCALE = 1_000_000
MOST = 1 << 50
"""A number of so many millionths is too large, and so is a sum of more than a thousand of them."""
UNKNOWN, UNFIT = np.iinfo(np.int64).min, np.iinfo(np.int64).min + 1
FEW = 64
ORDERS = {"max": 1, "min": -1, "last": 1, "first": -1}
"""Which way up the values of a function that looks for one of them are compared."""


class NotByColumn(Exception):
    """There is something that is no number, or a number that is too large or too fine."""


class Millionths:
    """Constants as numbers of millionths, worked out once each."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols, self.values = symbols, symbols.values
        self.known = np.full(FEW, UNKNOWN, np.int64)

    def of(self, constants: Ints32) -> Ints:
        """Raises `NotByColumn`."""
        floats = self.symbols.floats[constants]
        if (np.abs(floats) < MOST // SCALE).all() and (floats == np.floor(floats)).all():
            return floats.astype(np.int64) * SCALE
        values: Any = self.symbols.values
        if values is not self.values:
            # Numbers of constants may belong to others now.
            self.values, self.known = values, np.full(FEW, UNKNOWN, np.int64)
        if len(self.known) < len(values):
            more = np.full(max(len(values), 2 * len(self.known)) - len(self.known), UNKNOWN, np.int64)
            self.known = np.concatenate([self.known, more])
        found = self.known[constants]
        new = found == UNKNOWN
        if new.any():
            unknown = np.unique(constants[new])
            floats = self.symbols.floats[unknown]
            whole = (np.abs(floats) < MOST // SCALE) & (floats == np.floor(floats))
            self.known[unknown[whole]] = floats[whole].astype(np.int64) * SCALE
            for constant in unknown[~whole].tolist():
                self.known[constant] = _millionths(values[constant])
            found = self.known[constants]
        if (found == UNFIT).any():
            raise NotByColumn
        return found


def _millionths(value: Any) -> int:
    if isinstance(value, int):
        found = value * SCALE
    elif isinstance(value, Fraction) and SCALE % value.denominator == 0:
        found = value.numerator * (SCALE // value.denominator)
    else:
        return UNFIT
    return found if -MOST < found < MOST else UNFIT


def worth(function: str, size: Ints, total: Ints, constant: Ints, symbols: Symbols, as_is: bool = False) -> Any:
    """What a function is worth of groups, as constants: of how many tuples there are, what they come to in millionths,
    and which constant is looked for. With `as_is` whole numbers need not be constants."""
    match function:
        case "first" | "last":
            return constant
        case "count":
            return _wholes(size, symbols, as_is)
        case "avg":
            pairs, which = np.unique(np.column_stack([total, size]), axis=0, return_inverse=True)
            values: list[Any] = [number(Fraction(each, SCALE * count)) for each, count in pairs.tolist()]
        case _:
            total = total * ORDERS.get(function, 1)
            wholes, rest = np.divmod(total, SCALE)
            if not rest.any():
                return _wholes(wholes, symbols, as_is)
            used, which = np.unique(total, return_inverse=True)
            whole = used % SCALE == 0
            values = (used // SCALE).tolist()
            for place in np.flatnonzero(~whole).tolist():
                values[place] = Fraction(int(used[place]), SCALE)
    return symbols.number_all(values)[which.ravel()]


def _wholes(numbers: Ints, symbols: Symbols, as_is: bool) -> Any:
    return numbers + AS_IS if as_is else symbols.number_wholes(numbers)
