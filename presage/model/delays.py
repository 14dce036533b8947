"""How late a fact may be, by the declarations of its input: of those that match, the last wins.

What is open in a fact may be anything, so that several declarations may be the one. The checker of proofs has a reading
of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from presage.model.statements import Distribution, Input
from presage.model.terms import Number

Excluded = frozenset[tuple[int, Any]]
"""Places of a fact's arguments with values they do not have together."""


def delay_of(declared: Input) -> Number:
    """The greatest delay a declaration allows."""
    if isinstance(declared.delay, Distribution):
        return max((wait for wait, share in declared.delay.parts if share), default=0)  # type: ignore[type-var,return-value]
    return declared.delay or 0  # type: ignore[return-value]


def conditions_of(declared: Input) -> tuple[tuple[int, Any], ...]:
    """What a declaration is for: places of arguments, with the values that they have there."""
    places = {column.name: place for place, column in enumerate(declared.columns)}
    return tuple((places[each.column], each.value.value) for each in declared.where)


def declarations_for(
    inputs: Sequence[Input], arguments: Sequence[Any], without: Iterable[Excluded] = ()
) -> Iterator[Input]:
    """The declarations that some instance may fall under; `None` is any value, but for those that are excluded."""
    for declared in reversed(inputs):
        asked = conditions_of(declared) if declared.where else ()
        still_open = frozenset(pair for pair in asked if arguments[pair[0]] is None)
        if any(arguments[place] != wanted for place, wanted in asked if (place, wanted) not in still_open):
            continue
        if still_open and any(excluded <= still_open for excluded in without):
            continue
        yield declared
        if not still_open:
            return


def longest_delay(inputs: Sequence[Input], arguments: Sequence[Any], without: Iterable[Excluded] = ()) -> Number:
    """The greatest delay of any instance."""
    return max(map(delay_of, declarations_for(inputs, arguments, without)), default=0)
