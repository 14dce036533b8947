"""Which patterns are superfluous: the same up to renaming, or met only where a smaller one is.

Not to find that a pattern is superfluous is safe, since answers drop what is not minimal anyway; so
this looks at plain patterns only, whose times all hang on the answer's and that ask for nothing
beside their literals.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from presage.model.terms import Number
from presage.patterns.embedding import MOST_ATOMS, embeds
from presage.patterns.premises import START, Fixed, Pattern, Premise, SlotOrConstant, Time

Mapping = dict[int, SlotOrConstant]


def is_plain(pattern: Pattern) -> bool:
    if pattern.lookups or pattern.conditions or pattern.tallies or any(each.held for each in pattern.literals):
        return False
    times = {each.when.base for each in pattern.literals} | {pattern.when.base}
    return len(times - {START}) <= 1 and len(times) == 1


def _shape(premise: Premise) -> tuple[str, bool, int, Number, tuple[str, ...]]:
    arguments = tuple(repr(each.value) if isinstance(each, Fixed) else "?" for each in premise.arguments)
    return premise.predicate, premise.positive, premise.when.base, premise.when.offset, arguments


def canonical(pattern: Pattern) -> Hashable:
    """The same for most renamings of a pattern."""
    names: dict[int, int] = {}
    times: dict[int, int] = {START: START}

    def renamed(arguments: tuple[SlotOrConstant, ...]) -> tuple[SlotOrConstant, ...]:
        return tuple(each if isinstance(each, Fixed) else names.setdefault(each, len(names)) for each in arguments)

    def moved(when: Time) -> Time:
        return Time(times.setdefault(when.base, len(times)), when.offset)

    answer = (renamed(pattern.arguments), moved(pattern.when), pattern.shape)
    literals = [
        replace(
            each,
            arguments=renamed(each.arguments),
            when=moved(each.when),
            held=None if each.held is None else replace(each.held, until=moved(each.held.until)),
        )
        for each in sorted(pattern.literals, key=_shape)
    ]
    lookups = [(each.predicate, renamed(each.arguments), each.positive) for each in pattern.lookups]
    upper = {(times[x], times[y]): most for (x, y), most in pattern.upper.items() if x in times and y in times}
    conditions = [(each.operator, str(each.left), str(each.right), each.wanted) for each in pattern.conditions]
    tallies = tuple(map(str, pattern.tallies))
    return answer, frozenset(literals), frozenset(lookups), frozenset(upper.items()), tuple(conditions), tallies


def subsumed_by(special: Pattern, general: Pattern) -> bool:
    """Whether wherever `special` is met, so is `general`, for the same answer."""
    if not is_plain(general) or general.when.base != special.when.base:
        return False
    if general.shape != special.shape or not all(each is None or each.is_fixed for each in general.shape):
        return False
    # Both ways of writing the answer's time: T and T + offset.
    shift = special.when.offset - general.when.offset
    base = general.when.base
    if base != START:
        low, high = _range(general, base)
        other_low, other_high = _range(special, base)
        if low is not None and (other_low is None or other_low + shift < low):
            return False
        if high is not None and (other_high is None or other_high + shift > high):
            return False
    elif shift:
        return False
    start = _match(general.arguments, special.arguments, {})
    return start is not None and _embeds(general.literals, special.literals, start, shift)


def kinds(pattern: Pattern) -> frozenset[tuple[str, bool, int, Number]]:
    """Which predicates a pattern asks for, or asks not to be, at which distances from its answer. Where one makes
    another superfluous, its kinds are among the other's, which is quickly seen."""
    return frozenset(
        (each.predicate, each.positive, each.when.base, each.when.offset - pattern.when.offset)
        for each in pattern.literals
    )


def _range(pattern: Pattern, base: int) -> tuple[Number | None, Number | None]:
    low = pattern.upper.get((START, base))
    return None if low is None else -low, pattern.upper.get((base, START))


def _embeds(wanted: tuple[Premise, ...], offered: tuple[Premise, ...], start: Mapping, shift: Number) -> bool:
    def kind(each: Premise, by: Number) -> tuple[str, bool, int, Number]:
        return each.predicate, each.positive, each.when.base, each.when.offset + by

    # The two patterns' variables are numbers of their own: those of the one are told apart from those of the other.
    return embeds(
        [(kind(each, shift), tuple(_general(argument) for argument in each.arguments)) for each in wanted],
        [(kind(each, 0), tuple(map(_special, each.arguments))) for each in offered if each.held is None],
        {_general(variable): _special(argument) for variable, argument in start.items()},
        lambda argument: argument[0] == "variable",
        lambda wanted, offered: True,
    )


def _general(argument: SlotOrConstant) -> tuple[str, SlotOrConstant]:
    return ("", argument) if isinstance(argument, Fixed) else ("variable", argument)


def _special(argument: SlotOrConstant) -> tuple[str, SlotOrConstant]:
    return "", argument


def _match(general: tuple[SlotOrConstant, ...], special: tuple[SlotOrConstant, ...], bound: Mapping) -> Mapping | None:
    bound = dict(bound)
    for first, second in zip(general, special, strict=True):
        if isinstance(first, Fixed):
            if first != second:
                return None
        elif bound.setdefault(first, second) != second:
            return None
    return bound


def condensed(pattern: Pattern) -> Pattern:
    """Without literals that the others imply."""
    if not is_plain(pattern) or len(pattern.literals) > MOST_ATOMS:
        return pattern
    for premise in pattern.literals:
        smaller = replace(
            pattern,
            premises=tuple(each for each in pattern.premises if each != premise),
            absences=tuple(each for each in pattern.absences if each != premise),
        )
        if subsumed_by(smaller, pattern):
            return condensed(smaller)
    return pattern


def minimal(patterns: list[Pattern]) -> list[Pattern]:
    """The patterns no other makes superfluous, in the order found."""
    reduced = [condensed(pattern) for pattern in patterns]
    kept: list[tuple[Pattern, frozenset[Any]]] = []
    for pattern in sorted(reduced, key=lambda each: len(each.literals)):
        own = kinds(pattern)
        if not any(asked <= own and subsumed_by(pattern, other) for other, asked in kept):
            kept.append((pattern, own))
    return sorted((pattern for pattern, _ in kept), key=reduced.index)
