"""Ways in words: premises with their times, and what open times must not be.

The answer's time is called T where it is open; other open times are T1, T2, …
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import Any

from presage.hypothesis.ranges.pieces import ZonePiece, extent
from presage.hypothesis.ranges.segments import reach_of
from presage.hypothesis.words import show_clause
from presage.model.formulas import Comparison
from presage.model.printer import show_number, show_term
from presage.model.terms import Arithmetic, Constant, Number, Term, Variable, map_term, number, subterms
from presage.patterns.literals import Open, show
from presage.patterns.zoned import OWN_TIME, Amount, Moment, Need
from presage.time.sameness import arranged, comparable, distinct, in_order, texts_of
from presage.time.stretches import ENDLESS, Stretch, TimeLine
from presage.time.zones import ANSWER, START, Constraint, Zone


def _before(need: Need) -> str:
    """What stands before an atom."""
    if need.amount is None:
        return "" if need.positive else "not "
    words = f"{need.amount.words} " if need.amount.words else ""
    return f"{words}{show_number(need.amount.value)} of "


Order = tuple[Any, ...]
IN_STREAM = Stretch((0, 0), ENDLESS)


class Words:
    """Words for one way."""

    def __init__(self, piece: ZonePiece, line: TimeLine, taken: Iterable[str] = (), is_open: bool = False) -> None:
        """`is_open`: the answer's time is open, whatever it is in this way."""
        self.piece, self.line, self.is_open = piece, line, is_open
        used = set(taken) | {each.name for need in piece.needs for each in need.arguments if isinstance(each, Open)}
        names = (name for number_of in count() if (name := f"T{number_of or ''}") not in used)
        self.names = [next(names) for _ in range(1, piece.zone.size)]
        self.choices = {each: next(names) for each in piece.needs if each.amount is not None}
        """What the times of choices are called."""

    @property
    def order(self) -> tuple[Any, ...]:
        """Fewest premises first; then by their times, and those of the evidence."""
        needs = sorted(map(self._told, self.piece.needs))
        return len(distinct(text for _, text in needs)), needs, self._evidence, tuple(map(comparable, self.unless()))

    def because(self) -> tuple[str, ...]:
        return texts_of(text for _, text in self._evidence)

    @cached_property
    def _evidence(self) -> list[tuple[Order, Any]]:
        found: list[tuple[Order, Any]] = []
        for name, arguments, times in self.piece.because:
            interval = self.line.interval(times)
            text = comparable(f"{show(name, arguments)}@{interval}")
            found.append(((False, interval.low, text), text))
        for need in self.piece.settled:
            if self.piece.is_in_stream(need):
                found.append(self._told(self._in_stream(need)) if self.piece.needs else self._over(need))
        return in_order(found)

    def _over(self, need: Need) -> tuple[Order, Any]:
        """An absence over all the times of a confirmed stretch."""
        interval = self.line.interval(reach_of(self.line, self.piece.zone, need).meet(IN_STREAM) or IN_STREAM)
        text = comparable(f"{_before(need)}{show(need.predicate, need.arguments)}@{interval}")
        return (False, interval.low, text), text

    def _in_stream(self, need: Need) -> Need:
        """An absence from the start of the stream on."""
        low, high = extent(self.piece.zone, need.low)[0], extent(self.piece.zone, need.low)[1]
        if low is not None and low >= 0:
            return need
        if high is not None and high > 0:
            return need
        start = Moment(START, 0)
        return replace(need, low=start, closed_low=True, throughout=need.high != start)

    def needs(self) -> tuple[str, ...]:
        return texts_of(text for _, text in sorted(map(self._told, self.piece.needs)))

    def _told(self, need: Need) -> tuple[Order, Any]:
        atom = f"{_before(need)}{self._differ(need)}{show(need.predicate, need.arguments)}"
        text = comparable(f"{atom}@{self._when(need)}")
        is_open = self._fixed(need.low) is None or self._choice(need) is not None
        return (is_open, self._first(need.low), text), text

    def _choice(self, need: Need) -> str | None:
        """The name of the time of a choice, if there is more than one."""
        if need.amount is None or need not in self.choices:
            return None
        return None if need.low == need.high and self._fixed(need.low) is not None else self.choices[need]

    def _differ(self, need: Need) -> str:
        if need.amount is None or not need.amount.differ or need not in self.choices:
            return ""
        return f"{', '.join(show_term(self._named(each, self.choices[need])) for each in need.amount.differ)}: "

    def _named(self, term: Term, name: str) -> Term:
        return map_term(term, lambda part: Variable(name) if part == Variable(OWN_TIME) else part)

    def _fixed(self, moment: Moment) -> Number | None:
        low, high = extent(self.piece.zone, moment)
        return low if low == high else None

    def _first(self, moment: Moment) -> Number:
        low = extent(self.piece.zone, moment)[0]
        return 0 if low is None else low

    def _when(self, need: Need) -> str:
        choice = self._choice(need)
        if choice is not None:
            return choice
        if not need.throughout or need.low == need.high:
            return self._moment(need.low)
        low, high = self._moment(need.low), self._moment(need.high)
        if low == high and need.closed_low and need.closed_high:
            return low
        first, last = "[" if need.closed_low else "(", "]" if need.closed_high else ")"
        return f"{first}{low},{high}{last}"

    def _moment(self, moment: Moment) -> str:
        at = self._fixed(moment)
        if at is not None:
            return show_number(at)
        return str(Open(self.names[moment.base - 1], moment.offset))

    def unless(self) -> tuple[str, ...]:
        return (
            *self.limits(),
            *(show_clause((self._opposite(each),)) for each in self._bounds()),
            *(text for need, name in self.choices.items() for text in self._beyond(need, name)),
        )

    def limits(self) -> tuple[str, ...]:
        """What open values must not be or satisfy, those of settled amounts among them."""
        settled = (
            clause
            for need in self.piece.settled
            if need.amount is not None
            for clause in need.amount.limits
            if not any(Variable(OWN_TIME) in subterms(side) for each in clause for side in (each.left, each.right))
        )
        return arranged(show_clause(each) for each in (*self.piece.limits, *settled))

    def _beyond(self, need: Need, name: str) -> Iterator[str]:
        """What a choice must not be."""
        assert need.amount is not None
        if self._choice(need) is not None:
            yield from (show_clause((each,)) for each in self._outside(need, need.amount, Variable(name)))
        yield from self._limits(need, name)

    def _outside(self, need: Need, amount: Amount, chosen: Variable) -> Iterator[Comparison]:
        """When a choice no longer comes, or does not count."""
        low, high = extent(self.piece.zone, need.low)
        first, open_first = self._since(amount)
        if low is None or (low, not need.closed_low) < (first, open_first):
            if (first, open_first) > (0, False):
                yield Comparison("<=" if open_first else "<", chosen, Constant(first))
            is_told = high is None or (high, not need.closed_low) > (first, open_first)
        else:
            is_told = high is None or (high, not need.closed_low) > (0, False)
        if is_told:
            yield Comparison("<" if need.closed_low else "<=", chosen, self._at(need.low))
        yield Comparison(">" if need.closed_high else ">=", chosen, self._at(need.high))

    def _since(self, amount: Amount) -> tuple[Number, bool]:
        """The first time at which a choice can still come, and whether only after it."""
        since = amount.since
        if since is None or since < 0:
            return 0, False
        return (since + 1, False) if self.line.whole else (since, True)

    def _limits(self, need: Need, name: str) -> Iterator[str]:
        assert need.amount is not None
        for clause in need.amount.limits:
            yield show_clause(
                tuple(
                    replace(each, left=self._named(each.left, name), right=self._named(each.right, name))
                    for each in clause
                )
            )

    def _at(self, moment: Moment) -> Term:
        at = self._fixed(moment)
        return Constant(at) if at is not None else self._term(moment.base, moment.offset)

    def _bounds(self) -> list[Constraint]:
        """What the zone says of open times that does not follow from the rest, nor from where the stream starts."""
        zone, size = self.piece.zone, self.piece.zone.size
        fixed = zone.range(ANSWER).is_point and not self.is_open
        given: list[Constraint] = [(START, each, (0, 0)) for each in range(1, size)]
        if fixed:
            at = zone.range(ANSWER).low
            assert at is not None
            given += self.line.point(at).within(ANSWER)
        told = [each for each in sorted(zone.constraints()) if max(each[:2]) > (ANSWER if fixed else START)]
        told = [each for each in told if each not in given]

        # Where another bound says as much, those by a fixed time stay where the answer's is known.
        def first(constraint: Constraint) -> bool:
            return (min(constraint[:2]) == ANSWER) if fixed else (min(constraint[:2]) != START)

        own = {START, ANSWER}
        for each in sorted(told, key=lambda each: (not first(each), each)):
            if self.is_open and set(each[:2]) == own:
                continue  # between which times the answer lies is always said
            rest = [other for other in told if other != each]
            if Zone.of(size, zone.whole, [*given, *rest]) == zone:
                told = rest
        return sorted(told, key=lambda each: (max(each[:2]), each[0] > each[1], each))

    def _opposite(self, constraint: Constraint) -> Comparison:
        x, y, (limit, strict) = constraint
        if x > y:  # x is at most y + limit
            return Comparison(">=" if strict else ">", Variable(self.names[x - 1]), self._term(y, limit))
        return Comparison("<=" if strict else "<", Variable(self.names[y - 1]), self._term(x, number(-limit)))

    def _term(self, base: int, offset: Number) -> Term:
        if base == START:
            return Constant(offset)
        name = Variable(self.names[base - 1])
        if not offset:
            return name
        return Arithmetic("+" if offset > 0 else "-", name, Constant(max(offset, -offset)))
