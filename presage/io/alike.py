"""Rows of values that are alike, as they mostly are: texts and whole numbers that their columns take as they stand.

No loop of ours looks at each value; what is not alike is checked, and said to be wrong, one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from presage.analysis.predicates import Predicate, is_within
from presage.model.terms import Value

TEXT_KINDS = {"any", "text"}
WHOLE_KINDS = {"any", "int", "float"}
"""The types of columns of which every whole number is a value."""


def columns_alike(known: Predicate, rows: Sequence[Any]) -> list[list[Value]] | None:
    """The columns of rows of a predicate, if nothing need be said of any of their values."""
    if set(map(type, rows)) - {tuple, list} or set(map(len, rows)) - {known.arity}:
        return None
    columns: list[list[Value]] = []
    for place in range(known.arity):
        # Not by `zip`: so many iterators at once would have Python look for garbage among all facts there are.
        values = list(map(itemgetter(place), rows))
        kind = known.columns[place].type if place < len(known.columns) else "any"
        if place < len(known.columns) and known.columns[place].bound is not None:
            return None
        types = set(map(type, values))
        if str in types:
            texts = values if len(types) == 1 else [each for each in values if type(each) is str]
            if kind not in TEXT_KINDS or not _are_whole_texts(texts):
                return None
        if (int in types and kind not in WHOLE_KINDS) or types - {str, int}:
            return None
        columns.append(values)
    return columns


def takes_wholes(known: Predicate, place: int, numbers: Any) -> bool:
    """Whether whole numbers, as an array, are values of a column as they stand."""
    if place >= len(known.columns):
        return True
    column = known.columns[place]
    if column.type not in WHOLE_KINDS or column.bound is None or not len(numbers):
        return column.type in WHOLE_KINDS
    # What lies between two numbers that are within a bound is so, too.
    return is_within(int(numbers.min()), column) and is_within(int(numbers.max()), column)


def _are_whole_texts(texts: Iterable[str]) -> bool:
    """Whether none has half a character."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True
