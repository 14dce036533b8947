"""Where a formula is looked at: at a time or, on dense time, throughout a stretch of it; and inside which windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from presage.analysis.differences import INF
from presage.core.formulas import Any, At, CoreFormula, Every, Not, Seen, Some
from presage.core.printer import word_of
from presage.model.terms import Bound, Number
from presage.patterns.clause import Distance, NoClauses, StretchFrom, When
from presage.patterns.edges import Edge


@dataclass(frozen=True, slots=True)
class FormulaPlace:
    """Where a formula is looked at: its time, and the windows around it as times with distances."""

    when: When
    windows: tuple[tuple[When, Number | None, Number | None], ...] = ()
    stretch: StretchFrom | None = None
    """Set where it must hold throughout."""


def check_throughout(formula: CoreFormula, positive: bool) -> None:
    """What holds throughout a stretch of dense time can be told of its parts only where there is one way to hold."""
    refused = "has no premise patterns below `historically`, `always` or `all` on dense time"
    match formula:
        case Not() | Any() | At() | Seen():
            word = {Not: "not", Any: "or", At: "@", Seen: "window"}[type(formula)]
            raise NoClauses(f"`{word}` {refused}")
        case Some() | Every(clip=True):
            raise NoClauses(f"`{word_of(formula)}` {refused}")
        case _ if not positive:
            raise NoClauses(f"`not` {refused}")


def throughout(place: FormulaPlace, low: Distance | None, high: Distance | None, word: str) -> FormulaPlace:
    """The stretch of dense time that an operator asks for, or that all of a stretch together ask for."""
    if low is None or high is None:
        raise NoClauses(f"`{word}` without an upper bound asks for infinitely many times")
    before = place.stretch or StretchFrom(place.when)
    first, last = (each.value if isinstance(each, Edge) else each for each in (low, high))
    stretch = StretchFrom(
        before.until.later(last),
        before.closed_low and not isinstance(low, Edge),
        before.closed_high and not isinstance(high, Edge),
    )
    return replace(place, when=place.when.later(first), stretch=stretch)


def later(place: FormulaPlace, distance: Distance) -> FormulaPlace:
    assert not isinstance(distance, Edge)
    stretch = place.stretch
    if stretch is not None:
        stretch = replace(stretch, until=stretch.until.later(distance))
    return replace(place, when=place.when.later(distance), stretch=stretch)


def windowed(place: FormulaPlace, low: Number | None, high: Number | None) -> FormulaPlace:
    return replace(place, windows=(*place.windows, (place.when, low, high)))


def has_now(low: Number | None, high: Number | None) -> bool:
    return (low is None or low <= 0) and (high is None or high >= 0)


def until(place: FormulaPlace, high: Distance | None, word: str) -> FormulaPlace:
    """A stretch that goes on to so much before or after the time it was looked at."""
    if high is None:
        raise NoClauses(f"`{word}` without an upper bound asks for infinitely many times")
    assert place.stretch is not None
    last = high.value if isinstance(high, Edge) else high
    end = replace(place.stretch, until=place.stretch.until.later(last), closed_high=not isinstance(high, Edge))
    return replace(place, stretch=end)


def span_of(place: FormulaPlace, word: str) -> tuple[When, Number | None, Number | None]:
    """A time, and between which distances from it the times lie that are in all of the windows."""
    bounds = place.windows
    if len({at.base for at, _, _ in bounds}) != 1:
        raise NoClauses(f"`{word}` has premise patterns in a bounded window only")
    anchor = bounds[0][0]
    lows = [at.offset - anchor.offset + low for at, low, _ in bounds if low is not None]
    highs = [at.offset - anchor.offset + high for at, _, high in bounds if high is not None]
    return anchor, max(lows, default=None), min(highs, default=None)


def sides_of(
    low: Number | None, high: Number | None, discrete: bool
) -> Iterator[tuple[Distance | None, Distance | None]]:
    """The distances outside a window."""
    if low is not None:
        yield None, low - 1 if discrete else Edge(low, -1)
    if high is not None:
        yield high + 1 if discrete else Edge(high, 1), None


def lasting_cases(
    low: Distance | None, high: Distance | None, is_past: bool, discrete: bool, apart: bool
) -> Iterator[tuple[Distance | None, Distance | None, bool]]:
    """How far away the right side of `since` or `until` may be, and whether there are times in between, where these are
    told `apart`: in a window they have to lie in it, what would be asked for of none has to hold where there are some,
    and where there are none nothing has to."""
    if apart and not discrete:
        nearest = high if is_past else low
        if nearest == 0:
            yield 0, 0, False
            low, high = (low, Edge(0, -1)) if is_past else (Edge(0, 1), high)
            if (low if is_past else high) == 0:
                return
    if not discrete or not apart:
        yield low, high, True
        return
    assert not isinstance(low, Edge) and not isinstance(high, Edge)
    shortest: Bound = -INF if low is None else low
    longest: Bound = INF if high is None else high
    near, far = ((-1, INF), (-INF, -2)) if is_past else ((-INF, 1), (2, INF))
    for (least, most), is_between in ((near, False), (far, True)):
        first, last = max(shortest, least), min(longest, most)
        if first <= last:
            yield _bound(first), _bound(last), is_between


def _bound(distance: Bound) -> Number | None:
    return None if isinstance(distance, float) else distance
