"""Which queries can be worked off by columns, and what their patterns look like then.

A pattern qualifies if each of its premises, met by a fact, fixes the whole answer: it has no negated literals
and no static atoms, every premise binds the same variables, all of them are the answer's, and every time is the
answer's plus a constant. An answer is then one row with a bit for each premise. Several patterns of a query may
share the row if none of their premises can be one fact for the same answer: what one way still needs is then
never part of what another needs, and all ways that have evidence are minimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

from presage.hypothesis.engine import Hypotheses
from presage.model.delays import delay_of
from presage.model.formulas import Comparison
from presage.model.statements import Input
from presage.model.terms import Number, Value
from presage.patterns.premises import START, Fixed, Pattern, Premise
from presage.time.bounds import COUNTABLE

MOST_PREMISES = 62
"""Bits of a signed integer that are safe to use."""
FAR = 1 << 61


@dataclass(frozen=True, slots=True)
class Check:
    """A place must hold the same as another one, or a value."""

    place: int
    other: int | None
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A delay, for the answers that have these values at these places; of several the first that fits."""

    delay: int
    where: tuple[tuple[int, Value], ...]


@dataclass(frozen=True, slots=True)
class PremisePart:
    """A premise: how a fact leads to an answer, and how late it may come."""

    premise: Premise
    offset: int
    """From the answer's time."""
    sources: tuple[int | Fixed, ...]
    """For each argument of the answer: the fact's argument, or a constant."""
    checks: tuple[Check, ...]
    """What must hold of the fact's arguments."""
    options: tuple[Option, ...]

    @property
    def span(self) -> int:
        """How long after the answer's time it may come at most."""
        return self.offset + max(each.delay for each in self.options)


@dataclass(frozen=True, slots=True)
class PatternShape:
    """A pattern: its premises, and which answers it is for."""

    pattern: Pattern
    parts: tuple[PremisePart, ...]
    checks: tuple[Check, ...]
    """What must hold of the answer's arguments."""
    low: int
    high: int
    """The range of the answer's time."""
    comparisons: tuple[tuple[Comparison, bool], ...]
    """Each with whether it must be true, over the names in `variables`."""
    variables: dict[str, int]
    """The answer's arguments by the names of the pattern's variables."""


@dataclass(frozen=True, slots=True)
class QueryShape:
    """A query's predicate with all its patterns. Premises are numbered through."""

    name: str
    arity: int
    ways: tuple[PatternShape, ...]
    kept: int
    """How long after its time an answer is remembered."""


def shapes(hypotheses: Hypotheses) -> list[QueryShape] | None:
    """The shapes of all queries; `None` if some query does not qualify."""
    declared = [each for known in hypotheses.delays.predicates.values() for each in known.inputs]
    if not hypotheses.discrete or any(each.rate is not None or each.learned for each in declared):
        return None
    found = []
    for name in sorted(hypotheses.queries):
        shape = _shape(name, hypotheses)
        if shape is None:
            return None
        found.append(shape)
    return found


def _shape(name: str, hypotheses: Hypotheses) -> QueryShape | None:
    patterns = hypotheses.patterns[name]
    kept = hypotheses.spans.kept(name)
    ways = [_way(pattern, hypotheses) for pattern in patterns]
    if any(way is None for way in ways) or not isinstance(kept, int):
        return None
    known = tuple(way for way in ways if way is not None)
    if sum(len(way.parts) for way in known) > MOST_PREMISES:
        return None
    if len(known) > 1 and any(way.comparisons for way in known):
        return None
    if any(_may_share(first, second) for index, first in enumerate(known) for second in known[index + 1 :]):
        return None
    return QueryShape(name, hypotheses.subject.predicates[name].arity, known, kept)


def _way(pattern: Pattern, hypotheses: Hypotheses) -> PatternShape | None:
    base = pattern.when.base
    if pattern.absences or pattern.lookups or not pattern.premises or base == START or len(pattern.time_names) != 1:
        return None
    places: dict[int, int] = {}
    checks: list[Check] = []
    for place, argument in enumerate(pattern.arguments):
        if isinstance(argument, Fixed):
            checks.append(Check(place, None, argument.value))
        elif argument in places:
            checks.append(Check(place, places[argument]))
        else:
            places[argument] = place
    if len(places) != len(pattern.names) or any(each.times or not each.slots for each in pattern.conditions):
        return None
    parts = [_part(premise, pattern, places, hypotheses) for premise in pattern.premises]
    least, most = pattern.upper.get((START, base)), pattern.upper.get((base, START))
    ends = [pattern.when.offset, 0 if least is None else least, 0 if most is None else most]
    if any(part is None for part in parts) or not all(map(_countable, ends)):
        return None
    return PatternShape(
        pattern,
        tuple(part for part in parts if part is not None),
        tuple(checks),
        -FAR if least is None else int(pattern.when.offset - least),
        FAR if most is None else int(pattern.when.offset + most),
        tuple((Comparison(each.operator, each.left, each.right), each.wanted) for each in pattern.conditions),
        {name: places[slot] for name, slot in pattern.terms.items() if isinstance(slot, int)},
    )


def _countable(distance: Number) -> TypeGuard[int]:
    """Whether a distance in time fits the columns; conditions on times can make one of any size."""
    return isinstance(distance, int) and -COUNTABLE < distance < COUNTABLE


def _part(premise: Premise, pattern: Pattern, places: dict[int, int], hypotheses: Hypotheses) -> PremisePart | None:
    offset = premise.when.offset - pattern.when.offset
    if premise.when.base != pattern.when.base or premise.outside or not _countable(offset):
        return None
    first: dict[int, int] = {}
    checks: list[Check] = []
    for place, argument in enumerate(premise.arguments):
        if isinstance(argument, Fixed):
            checks.append(Check(place, None, argument.value))
        elif argument in first:
            checks.append(Check(place, first[argument]))
        else:
            first[argument] = place
    if first.keys() != places.keys():
        return None
    sources = tuple(each if isinstance(each, Fixed) else first[each] for each in pattern.arguments)
    options = _options(premise, places, hypotheses)
    return None if options is None else PremisePart(premise, offset, sources, tuple(checks), options)


def _options(premise: Premise, places: dict[int, int], hypotheses: Hypotheses) -> tuple[Option, ...] | None:
    """The delays of a premise's facts, the last declaration first."""
    if premise.predicate in hypotheses.delays.plain:
        plain = hypotheses.delays.plain[premise.predicate]
        return (Option(plain, ()),) if isinstance(plain, int) else None
    known = hypotheses.delays.predicates[premise.predicate]
    names = [column.name for column in known.columns]
    found: list[Option] = []
    for declared in (*reversed(known.inputs), None):
        delay: Number = 0 if declared is None else delay_of(declared)
        where = () if declared is None else _where(declared, premise, names, places)
        if where is None:
            continue
        if not isinstance(delay, int):
            return None
        found.append(Option(delay, where))
        if not where:
            break
    return tuple(found)


def _where(
    declared: Input, premise: Premise, names: list[str], places: dict[int, int]
) -> tuple[tuple[int, Value], ...] | None:
    """What a declaration asks of the answer's arguments; `None` if it never applies."""
    wanted: list[tuple[int, Value]] = []
    for each in declared.where:
        argument = premise.arguments[names.index(each.column)]
        if not isinstance(argument, Fixed):
            wanted.append((places[argument], each.value.value))
        elif argument.value != each.value.value:
            return None
    return tuple(wanted)


def _may_share(first: PatternShape, second: PatternShape) -> bool:
    """Whether for some answer a premise of the one and a premise of the other are the same fact."""
    if first.low > second.high or second.low > first.high:
        return False
    return any(
        _unify(
            [*zip(first.pattern.arguments, second.pattern.arguments, strict=True),
             *zip(one.premise.arguments, other.premise.arguments, strict=True)]
        )
        for one in first.parts
        for other in second.parts
        if one.premise.predicate == other.premise.predicate and one.offset == other.offset
    )  # fmt: skip


def _unify(pairs: list[tuple[int | Fixed, int | Fixed]]) -> bool:
    """Whether the variables of two patterns can be chosen so that the pairs are equal."""
    chosen: dict[object, object] = {}

    def found(each: object) -> object:
        while each in chosen:
            each = chosen[each]
        return each

    for one, other in pairs:
        left = found(one if isinstance(one, Fixed) else ("first", one))
        right = found(other if isinstance(other, Fixed) else ("second", other))
        if left == right:
            continue
        if isinstance(left, Fixed) and isinstance(right, Fixed):
            return False
        if isinstance(left, Fixed):
            left, right = right, left
        chosen[left] = right
    return True
