"""Where the premises of one way are among those of another.

A premise is among others if each of its times is a time of one of them. For a stretch these may be several that follow
each other without a gap: where times are open, whether they do is a matter of zones as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from presage.hypothesis.likeness import Binding
from presage.patterns.literals import Open
from presage.patterns.zoned import Moment, Need, at_most, begins_within, ends_within, inside, same
from presage.time.zones import Constraint, Zone

CoveredNeed = tuple[Need, Need]
"""A premise, and one that it is among, or a part of it is."""


def placed(need: Need, places: Sequence[int]) -> Need:
    """A premise with other names for its times."""

    def put(moment: Moment) -> Moment:
        return moment if moment.base == 0 else Moment(places[moment.base - 1], moment.offset)

    return replace(need, low=put(need.low), high=put(need.high))


def arranged(
    zone: Zone, needs: Sequence[Need], kin: Sequence[Sequence[Need]], binding: Binding | None
) -> Iterator[tuple[Zone, list[CoveredNeed], Binding | None]]:
    """Where premises are all among others, each among its kin, and which among which. With a `binding`, open variables
    of the premises stand for one thing each: for what they are known to be, or for what this makes of them."""
    if not needs:
        yield zone, [], binding
        return
    for part, chosen in _covered(zone, needs[0], kin[0]):
        bound = binding
        for have in chosen:
            bound = None if bound is None else with_values(bound, needs[0], have)
        if binding is not None and bound is None:
            continue
        for last, pairs, found in arranged(part, needs[1:], kin[1:], bound):
            yield last, [*((needs[0], have) for have in chosen), *pairs], found


def with_values(binding: Binding, need: Need, have: Need) -> Binding | None:
    """What open variables stand for and must be, where a premise is to be among another; nothing if that cannot be.
    What is counted stands for all values of its open variables, not for some."""
    found = binding.with_values(need.arguments, have.arguments)
    return None if found is None or (need.amount is not None and found.same != binding.same) else found


def is_kin(need: Need, have: Need) -> bool:
    """Whether one premise may be among another: of so many, if there are as many and nothing else is asked of them."""
    if (have.predicate, have.positive) != (need.predicate, need.positive):
        return False
    if any(
        want != has and not isinstance(want, Open) and not (isinstance(has, Open) and need.amount is None)
        for want, has in zip(need.arguments, have.arguments, strict=True)
    ):
        return False
    if need.amount is None or have.amount is None:
        return need.amount is None and have.amount is None
    if (need.amount.words, need.amount.differ) != (have.amount.words, have.amount.differ):
        return False
    more, less = (have, need) if need.positive else (need, have)
    if not set(need.amount.limits) <= set(have.amount.limits) or (not need.positive and need.amount != have.amount):
        return False
    return more.amount.value >= less.amount.value  # type: ignore[union-attr]


def equal(zone: Zone, needs: Sequence[Need], pairs: Sequence[CoveredNeed], binding: Binding) -> Iterator[Zone]:
    """Where premises that are all among some needs are all of them: each of those is among the premises in turn."""

    def are_kin(have: Need, need: Need) -> bool:
        return any(other is need and _alike(each, have, binding) for other, each in pairs)

    found: list[Need] = []
    for need, _ in pairs:
        if not any(each is need for each in found):
            found.append(need)
    kin = [[have for have in found if are_kin(need, have)] for need in needs]
    if all(kin):
        for part, _, _ in arranged(zone, needs, kin, None):
            yield part


def _alike(one: Need, other: Need, binding: Binding) -> bool:
    """Whether two premises are about the same, at whatever times."""
    atoms = (one.predicate, one.positive) == (other.predicate, other.positive)
    same = [*map(binding.of, one.arguments)] == [*map(binding.of, other.arguments)]
    return atoms and same and one.amount == other.amount


def _covered(zone: Zone, need: Need, haves: Sequence[Need]) -> Iterator[tuple[Zone, tuple[Need, ...]]]:
    """Where the times of a premise are among those of another, or of several that follow each other."""
    for have in haves:
        part = zone.within(_among(need, have))
        if not part.empty:
            yield part, (have,)
    if need.throughout and need.amount is None and len(haves) > 1:
        for have in haves:
            part = zone.within([begins_within(need, have)])
            if not part.empty:
                yield from _followed(part, need, (have,), [each for each in haves if each is not have])


def _followed(
    zone: Zone, need: Need, chain: tuple[Need, ...], rest: Sequence[Need]
) -> Iterator[tuple[Zone, tuple[Need, ...]]]:
    """Where more premises follow the last one without a gap, up to the end of a stretch."""
    last = chain[-1]
    for each in rest:
        if not _may_be_alike(each, last):
            continue
        gap = (1, 0) if zone.whole else (0, 0 if last.closed_high or each.closed_low else -1)
        part = zone.within([at_most(each.low, last.high, gap)])
        if part.empty:
            continue
        whole = part.within([ends_within(need, each)])
        if not whole.empty:
            yield whole, (*chain, each)
        yield from _followed(part, need, (*chain, each), [other for other in rest if other is not each])


def _may_be_alike(one: Need, other: Need) -> bool:
    """Whether open variables can stand for values that make two premises about the same."""
    return all(
        here == there or isinstance(here, Open) or isinstance(there, Open)
        for here, there in zip(one.arguments, other.arguments, strict=True)
    )


def _among(need: Need, have: Need) -> Iterator[Constraint]:
    """What makes the times of one premise times of another; of so many of something, those among which the other
    chooses."""
    if need.amount is not None:
        yield at_most(need.low, have.low, (0, -1 if have.closed_low and not need.closed_low else 0))
        yield at_most(have.high, need.high, (0, -1 if have.closed_high and not need.closed_high else 0))
    elif not have.throughout:
        yield from (*same(need.low, have.low), *same(need.high, have.high))
    elif not need.throughout:
        yield from inside(need.low, have)
    else:
        yield begins_within(need, have)
        yield ends_within(need, have)
