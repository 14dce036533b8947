"""How likely it is that so many come, no more, or just so many.

Each time of a stretch is one choice, with the chance that its fact still comes. While the answer's time is open, some
time of it will do. What lies ahead of now is alike at all times, so that a long window costs what a short one does;
where premises hang together otherwise, the worlds of a few facts are gone through, and of many nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import comb

from presage.hypothesis.confidence import Confidence, NoProbability
from presage.hypothesis.ranges.pieces import ZonePiece
from presage.model.terms import Number
from presage.model.values import is_true, value_of
from presage.patterns.literals import Open
from presage.patterns.zoned import OWN_TIME, Amount, Moment, Need
from presage.time.zones import ANSWER, START

MOST_FACTS = 12
MOST_TIMES = 4096
"""So many times of an answer, or of what is there, are looked at one by one."""


class CountedChances:
    """The chances of the premises of one way that hang on its answer's time, or count something."""

    def __init__(self, piece: ZonePiece, chances: Confidence, now: Number) -> None:
        self.piece, self.chances, self.now = piece, chances, int(now)
        known = piece.zone.range(ANSWER)
        if known.low is None or known.high is None:
            raise NoProbability
        self.first, self.last = int(known.low), int(known.high)
        """Between which times the answer's lies."""

    def of(self, needs: Sequence[Need]) -> float:
        """That at some time of the answer all of these come true."""
        for each in needs:
            self._check(each)
        counted = [each for each in needs if each.amount is not None]
        if len(counted) == 1 and len(needs) <= 2:
            beside = next((each for each in needs if each.amount is None), None)
            found = self._in_one_go(counted[0], beside)
            if found is not None:
                return found
        return self._by_worlds(needs)

    def _check(self, need: Need) -> None:
        """Whether the facts of a premise are known by their times."""
        amount = need.amount
        if any(isinstance(each, Open) for each in need.arguments) or not {need.low.base, need.high.base} <= {
            START,
            ANSWER,
        }:
            raise NoProbability
        if amount is not None and (amount.differ or amount.words not in ("", "at most", "exactly")):
            raise NoProbability

    def _chance(self, need: Need, at: int) -> float:
        return self.chances.chance((need.predicate, need.arguments, at), self.now)

    # -- at least so many, where a later time of the answer has all that an earlier one has ------------------

    def _in_one_go(self, need: Need, beside: Need | None) -> float | None:
        """For one amount, perhaps beside a fact of the same kind at the end of its stretch. `None` where that does not
        suffice."""
        amount = need.amount
        assert amount is not None
        if need.high.base == START and need.low.base == START and beside is None:
            begin, end = self._span(need, self.first)
            return self._tally(need, begin, end, self._test(amount))
        if amount.words or self._span(need, self.last)[0] > self._earliest(need):
            return None
        begin, end = self._span(need, self.last)
        if beside is None:
            return self._tally(need, begin, end, self._test(amount))
        is_last = need.closed_high and beside.positive and not beside.throughout and beside.low == need.high
        alike = (beside.predicate, beside.arguments) == (need.predicate, need.arguments)
        if not is_last or not alike:
            return None
        return self._with_last(need, begin, end, self._span(need, self.first)[1], int(amount.value))

    def _earliest(self, need: Need) -> int:
        since = need.amount.since if need.amount is not None else None
        return 0 if since is None else max(0, int(since) + 1)

    def _span(self, need: Need, at: int) -> tuple[int, int]:
        """The first and the last choice, with the answer at a time."""
        low, high = self._time(need.low, at), self._time(need.high, at)
        low, high = low + (not need.closed_low), high - (not need.closed_high)
        return max(low, self._earliest(need)) if need.amount is not None else low, high

    def _time(self, moment: Moment, at: int) -> int:
        return int(moment.offset) + (at if moment.base == ANSWER else 0)

    def _barred(self, amount: Amount) -> Callable[[int], bool] | None:
        """Which times are no choices."""
        if not amount.limits:
            return None
        return lambda at: any(all(_holds(each, at) for each in clause) for clause in amount.limits)

    def _choices(self, need: Need, begin: int, end: int) -> Iterator[float]:
        assert need.amount is not None
        barred = self._barred(need.amount)
        for at in range(begin, end + 1):
            if barred is None or not barred(at):
                yield self._chance(need, at)

    def _test(self, amount: Amount) -> Callable[[int], bool]:
        wanted = int(amount.value)
        match amount.words:
            case "at most":
                return lambda count: count <= wanted
            case "exactly":
                return lambda count: count == wanted
            case _:
                return lambda count: count >= wanted

    def _tally(self, need: Need, begin: int, end: int, test: Callable[[int], bool]) -> float:
        """That a number of choices passes a test, which may ask for no more than `most`."""
        assert need.amount is not None
        most = int(need.amount.value) + 1
        alike = self._alike(need, begin, end)
        counts = _counted(list(self._choices(need, begin, alike - 1)), most)
        ahead = end - alike + 1
        if ahead > 0:
            later = _binomial(ahead, self._chance(need, alike), most)
            counts = _added(counts, later, most)
        return sum(share for count, share in enumerate(counts) if test(count))

    def _alike(self, need: Need, begin: int, end: int) -> int:
        """From when on all times are alike."""
        assert need.amount is not None
        alike = max(begin, self.now + 1)
        for clause in need.amount.limits:
            for each in clause:
                sides = [value_of(side, lambda _: None) for side in (each.left, each.right)]
                known = [side for side in sides if isinstance(side, int)]
                if each.operator != "=" or len(known) != 1 or len(clause) != 1:
                    alike = end + 1
                else:
                    alike = max(alike, known[0] + 1)
        alike = min(alike, end + 1)
        if alike - begin > MOST_TIMES:
            raise NoProbability
        return alike

    def _with_last(self, need: Need, begin: int, end: int, least: int, wanted: int) -> float:
        """At least so many, one of them at a time from `least` on that is the last of them."""
        assert need.amount is not None
        barred = self._barred(need.amount)
        alike = min(max(self._alike(need, begin, end), least), end + 1)
        if alike - begin > MOST_TIMES:
            raise NoProbability
        counts, done = [1.0] + [0.0] * wanted, 0.0
        for at in range(begin, alike):
            if barred is not None and barred(at):
                continue  # what is there has been counted, and is no premise either
            chance = self._chance(need, at)
            moved = [0.0] * (wanted + 1)
            for count, share in enumerate(counts):
                moved[count] += share * (1 - chance)
                if at >= least and count + 1 >= wanted:
                    done += share * chance
                else:
                    moved[min(count + 1, wanted)] += share * chance
            counts = moved
        ahead = end - alike + 1
        if ahead > 0:
            chance = self._chance(need, alike)
            for count, share in enumerate(counts):
                missing = max(1, wanted - count)
                done += share * (1 - sum(_binomial(ahead, chance, missing)[:missing]))
        return done

    # -- by worlds -------------------------------------------------------------------------------------------

    def _by_worlds(self, needs: Sequence[Need]) -> float:
        if self.last - self.first >= MOST_TIMES:
            raise NoProbability
        asked: dict[tuple[object, ...], float] = {}
        times: list[list[tuple[Need, list[tuple[object, ...]]]]] = []
        for at in range(self.first, self.last + 1):
            parts = []
            for need in needs:
                barred = None if need.amount is None else self._barred(need.amount)
                begin, end = self._span(need, at)
                facts: list[tuple[object, ...]] = []
                for time in range(begin, end + 1):
                    if barred is not None and barred(time):
                        continue
                    fact = (need.predicate, need.arguments, time)
                    facts.append(fact)
                    asked[fact] = self._chance(need, time)
                    if len(asked) > MOST_FACTS:
                        raise NoProbability
                parts.append((need, facts))
            times.append(parts)
        total = 0.0
        for world in product((False, True), repeat=len(asked)):
            there = {fact for fact, comes in zip(asked, world, strict=True) if comes}
            if any(all(self._is_met(need, facts, there) for need, facts in parts) for parts in times):
                share = 1.0
                for chance, comes in zip(asked.values(), world, strict=True):
                    share *= chance if comes else 1 - chance
                total += share
        return total

    def _is_met(self, need: Need, facts: list[tuple[object, ...]], there: set[tuple[object, ...]]) -> bool:
        count = sum(fact in there for fact in facts)
        if need.amount is not None:
            return self._test(need.amount)(count)
        return count == len(facts) if need.positive else count == 0


def _holds(comparison: object, at: int) -> bool:
    left, right = (
        value_of(side, lambda name: at if name == OWN_TIME else None)
        for side in (comparison.left, comparison.right)  # type: ignore[attr-defined]
    )
    if left is None or right is None:
        raise NoProbability
    return is_true(comparison.operator, left, right)  # type: ignore[attr-defined]


def _counted(choices: Sequence[float], most: int) -> list[float]:
    """How likely each number of them is; the last stands for all above."""
    counts = [1.0] + [0.0] * most
    for chance in choices:
        for count in range(most, -1, -1):
            stays = counts[count] * (1.0 if count == most else 1 - chance)
            counts[count] = stays + (counts[count - 1] * chance if count else 0.0)
    return counts


def _binomial(tries: int, chance: float, most: int) -> list[float]:
    """The same where all are alike."""
    found = [
        comb(tries, count) * chance**count * (1 - chance) ** (tries - count) for count in range(min(most, tries + 1))
    ]
    found += [0.0] * (most - len(found))
    return [*found, max(0.0, 1 - sum(found))]


def _added(one: Sequence[float], other: Sequence[float], most: int) -> list[float]:
    found = [0.0] * (most + 1)
    for count, share in enumerate(one):
        for more, rest in enumerate(other):
            found[min(most, count + more)] += share * rest
    return found
