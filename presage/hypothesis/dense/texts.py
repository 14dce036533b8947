"""Ways on dense time in words: premises with their times, and what open times must not be.

The answer's time is called T, and stands for each time of the line's interval; other open times are T1, T2, …
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from presage.hypothesis.dense.patterns import ANSWER, Moment, Need
from presage.hypothesis.dense.pieces import Piece
from presage.hypothesis.dense.stretches import Stretch
from presage.hypothesis.dense.zones import START, Constraint, Zone
from presage.hypothesis.literals import Open, show
from presage.hypothesis.texts import show_clause
from presage.model.formulas import Comparison
from presage.model.printer import show_number
from presage.model.terms import Arithmetic, Constant, Number, Term, Variable, number


class Words:
    """Words for one way of the answers at the times of a stretch."""

    def __init__(self, piece: Piece, times: Stretch, taken: Iterable[str] = ()) -> None:
        self.piece, self.times = piece, times
        used = set(taken) | {each.name for need in piece.needs for each in need.arguments if isinstance(each, Open)}
        names = (name for number_of in count() if (name := f"T{number_of or ''}") not in used)
        self.names = [next(names) for _ in range(1, piece.zone.size)]

    def because(self) -> tuple[str, ...]:
        known = sorted((times, show(name, arguments)) for name, arguments, times in self.piece.because)
        return tuple(f"{atom}@{times}" for times, atom in known)

    def needs(self) -> tuple[str, ...]:
        found = sorted(
            (self._first(each.low), f"{show(each.predicate, each.arguments)}@{self._when(each)}")
            for each in self.piece.needs
        )
        return tuple(text for _, text in found)

    def _first(self, moment: Moment) -> Number:
        if moment.base == START:
            return moment.offset
        return (self.piece.zone.range(moment.base).low or 0) + moment.offset

    def _when(self, need: Need) -> str:
        if need.is_point:
            return self._moment(need.low)
        first, last = "[" if need.closed_low else "(", "]" if need.closed_high else ")"
        return f"{first}{self._moment(need.low)},{self._moment(need.high)}{last}"

    def _moment(self, moment: Moment) -> str:
        if moment.base == START:
            return show_number(moment.offset)
        return str(Open(self.names[moment.base - 1], moment.offset))

    def unless(self) -> tuple[str, ...]:
        return (*self.piece.unless, *(show_clause((self._opposite(each),)) for each in self._told()))

    def _told(self) -> list[Constraint]:
        """What the zone says of open times that does not follow from the rest, nor from where the stream starts."""
        zone, size = self.piece.zone, self.piece.zone.size
        given: list[Constraint] = [(START, each, (0, 0)) for each in range(1, size)]
        given += self.times.within(ANSWER)
        told = [each for each in sorted(zone.constraints()) if max(each[:2]) > ANSWER]

        # Where another bound says as much, those by a fixed time go first, except that the answer's own is known.
        def fixed(constraint: Constraint) -> bool:
            return min(constraint[:2]) == (ANSWER if self.times.is_point else START)

        for each in sorted(told, key=lambda each: (not fixed(each), each)):
            rest = [other for other in told if other != each]
            if Zone.of(size, [*given, *rest]) == zone:
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
