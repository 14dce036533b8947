"""Numbers as data writes them."""

from __future__ import annotations

import re
from fractions import Fraction

from presage.model.terms import Number, number

MOST_DIGITS = 60
# An exponent of more digits would make a number that no memory holds.
_NUMBER = re.compile(r"-?(?:[0-9]+/[0-9]+|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)")


def exact(text: str) -> Number | None:
    """The number that a text writes: `3`, `-0.5`, `1e-05`, `1/3`; `None` if it writes none."""
    if not _NUMBER.fullmatch(text):
        return None
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} characters is more than {MOST_DIGITS}")
    if text.isdigit():
        return int(text)
    try:
        return number(Fraction(text))
    except ZeroDivisionError:
        return None
