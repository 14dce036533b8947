"""Windows that move every so often, by cases: how long ago they did."""

from __future__ import annotations

from collections.abc import Iterator

from presage.core.formulas import CoreFormula
from presage.model.terms import Number
from presage.patterns.body_questions import remainder, selects_again
from presage.patterns.clause import RULE_TIME, ClauseBody, NoClauses
from presage.patterns.places import FormulaPlace, windowed
from presage.support import NO_PATTERNS


def check_hopping(inner: CoreFormula, place: FormulaPlace, hop: int, most: int) -> None:
    """Refuses what has no such cases."""
    if place.when.base != RULE_TIME:
        raise NoClauses(NO_PATTERNS["hop below an operator"])
    if place.windows or selects_again(inner):
        # At a time that a window does not cover, one below it selects nothing anew; and two may share no time.
        raise NoClauses(NO_PATTERNS["hop in a window"])
    if hop > most:
        raise NoClauses(f"a window that hops by {hop} has more cases than {most}")


def hops(
    place: FormulaPlace, window: tuple[Number | None, Number | None], hop: int
) -> Iterator[tuple[ClauseBody, FormulaPlace]]:
    """Each case: what makes it one, and where the window then lies."""
    low, high = window
    for ago in range(hop):
        moved = windowed(place, None if low is None else low - ago, None if high is None else high - ago)
        yield ClauseBody(comparisons=((remainder(place.when, hop, ago), True),)), moved
