"""What is known of negated derived atoms, each judged by itself for all its times at once.

That is exact where no fact matters both to such an atom and to what stands beside it; other programs are judged by
evolutions (`evolutions.py`), which answers the same questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.hypothesis.ranges.told import so_far, spoken_of
from presage.hypothesis.ranges.turns import ends
from presage.hypothesis.ranges.world import Judged
from presage.model.terms import Number, Values
from presage.time.stretches import EVER, Stretch, minus, union
from presage.time.zones import ANSWER

if TYPE_CHECKING:
    from presage.hypothesis.ranges.engine import AnswersKey, Ranges
    from presage.hypothesis.ranges.pieces import ZonePiece


class AtomByAtom:
    """Judges each negated derived atom by itself."""

    def __init__(self, engine: Ranges) -> None:
        self.engine = engine
        self.judged: dict[tuple[str, Values], tuple[Judged, Number | None]] = {}
        self.wake: Number | None = None
        """When something about what was judged since it was last set changes by time alone."""
        self.goes_on = False
        """Whether the answers that were looked at last are to be looked at at each time."""

    def begin(self) -> None:
        """What was open may be so no more."""
        self.judged.clear()

    def pieces(self, key: AnswersKey, times: Stretch) -> list[ZonePiece]:
        """All that speaks for the answers of a key now."""
        engine = self.engine
        (found, left_out), self.goes_on = self._at_any_time(key, times), False
        if left_out:
            # What no evidence bounds is judged at the times of what evidence does, and as far as time may settle it.
            near = spoken_of(engine.line, found, engine.told.get(key))
            if near is None or key in engine.seeds:
                self.goes_on = True
                near = so_far(engine.line, engine.patterns[key[0]], times, engine.now or 0, near)
            found, _ = self._at_any_time(key, near.meet(times) or near)
        return found

    def _at_any_time(self, key: AnswersKey, times: Stretch) -> tuple[list[ZonePiece], list[Stretch]]:
        name, arguments = key
        matchings, now = self.engine.matchings[name], self.engine.now
        assert now is not None
        found = [piece for each in matchings for piece in each.pieces(arguments, now, times)]
        return found, [times for each in matchings for times in each.left_out]

    def judge(self, name: str, arguments: Values, times: Stretch) -> Judged:
        """When a negated derived atom is true, and when it never can be."""
        key = (name, arguments)
        found = self.judged.get(key)
        if found is None:
            engine, before = self.engine, self.wake
            self.wake = None
            pieces, left_out = self._at_any_time(key, EVER)
            sure: list[Stretch] = []
            maybe: list[Stretch] = []
            turned: list[Number] = []
            for piece in pieces:
                there = engine.line.of_range(piece.zone.range(ANSWER))
                (maybe if piece.needs or piece.limits else sure).append(there)
                turned += ends(piece, engine.delays, engine.matchings)
            true = union(sure)
            assert engine.now is not None
            if left_out:
                maybe += left_out
                turned.append(engine.now + 1)
            judged = Judged(true, minus([EVER], [*true, *maybe]))
            next_turn = min((at for at in turned if at > engine.now), default=None)
            found = judged, earliest(next_turn, self.wake)
            self.judged[key] = found
            self.wake = before
        self.wake = earliest(self.wake, found[1])
        return found[0]


def earliest(one: Number | None, other: Number | None) -> Number | None:
    return other if one is None else one if other is None else min(one, other)
