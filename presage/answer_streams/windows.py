"""What each kind of window selects from a stream ([LARS] Definitions 3 to 6)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from presage.answer_streams.streams import FiniteStream, TimedAtom
from presage.core.formulas import Only, Rows, Seen
from presage.core.reach import Reach
from presage.model.windows import RowsWindow
from presage.time.points import FAR, Times

Selecting = Seen | Rows | Only


def select(window: Selecting, stream: FiniteStream, whole: FiniteStream, at: int) -> FiniteStream:
    """The window of a stream at a time. A time of the whole stream that is not in the current one leaves it as it
    is, as the definitions have it; from times outside the whole stream windows reach in as far as they go."""
    if isinstance(window, Only):
        if stream.is_point:
            return stream
        only = stream.facts.only(window.patterns)
        opposite = only if stream.opposite is stream.facts else stream.opposite.only(window.patterns)
        return stream.of(only, opposite)
    if stream.is_point:
        return stream
    if whole.low <= at <= whole.high and not stream.low <= at <= stream.high:
        return stream
    if isinstance(window, Seen):
        return stream.between(*reach(window, at))
    low, high, rows = last_rows(window.window, stream, at)
    kept = stream.facts.with_rows(rows)
    opposite = kept if stream.opposite is stream.facts else stream.opposite.with_rows(rows)
    return stream.of(kept, opposite).between(low, high)


def reach(window: Seen, at: int) -> tuple[int, int]:
    """From when to when a time window reaches, if nothing cuts it off."""
    hop = length(window.hop) if window.hop is not None else 1
    pivot = at // hop * hop
    low, high = ends(window.reach)
    return (low if low <= -FAR else pivot + low), (high if high >= FAR else pivot + high)


def ends(reach: Reach) -> tuple[int, int]:
    """The least and the greatest distance of a reach on the discrete timeline."""
    return (-FAR if reach.near is None else length(reach.near)), (FAR if reach.far is None else length(reach.far))


def length(quantity: object) -> int:
    """A length of time in a normalised program on the discrete timeline."""
    assert isinstance(quantity, int)
    return quantity


def visible(rows: list[TimedAtom], stream: FiniteStream) -> list[TimedAtom]:
    """Of rows in order of time, those within the stream's timeline."""
    first = bisect_right(rows, stream.low - 1, key=_time)
    return rows[first : bisect_right(rows, stream.high, key=_time)]


def _time(row: TimedAtom) -> int:
    return row[0]


def last_rows(window: RowsWindow, stream: FiniteStream, at: int) -> tuple[int, int, list[TimedAtom]]:
    """The ends of a window of rows, and the rows in it. A partition none of whose rows the window can reach does
    not count; of what fits no pattern no row is taken ([LARS] Example 6), so the window reaches to now anyway."""
    if not window.by:
        return count(window, stream, visible(stream.facts.rows(), stream), at)
    low = high = at
    kept: list[TimedAtom] = []
    for partition in stream.facts.partitions(window.by):
        rows = visible(partition, stream)
        if rows and (window.ahead or rows[0][0] <= at):
            first, last, found = count(window, stream, rows, at)
            low, high = min(low, first), max(high, last)
            kept += found
    return low, high, kept


def count(window: RowsWindow, stream: FiniteStream, rows: list[TimedAtom], at: int) -> tuple[int, int, list[TimedAtom]]:
    """The last rows up to a time and the next ones after it. Where they are fewer than wanted, the window
    reaches to the end of the stream; of the rows at the far end, the greatest stay."""
    here = bisect_right(rows, at, key=_time)
    low, high = at, at
    kept: list[TimedAtom] = []
    if window.rows:
        kept = rows[max(0, here - window.rows) : here]
        low = kept[0][0] if len(kept) == window.rows else stream.low
    if window.ahead:
        following = rows[here : here + window.ahead]
        if len(following) == window.ahead:
            high = following[-1][0]
            certain = [row for row in following if row[0] < high]
            end = bisect_right(rows, high, key=_time)
            following = certain + rows[end - (window.ahead - len(certain)) : end]
        else:
            high = stream.high
        kept = kept + following
    return low, high, kept


def selections(
    window: Selecting, stream: FiniteStream, whole: FiniteStream, when: Times
) -> Iterator[tuple[FiniteStream, Times]]:
    """What a window selects at each of the times, those that select the same together where that is cheap."""
    if isinstance(window, Only) or stream.is_point:
        yield select(window, stream, whole, 0), when
        return
    # Beyond these times the selection stays as it is there.
    first, last = whole.low - 1, whole.high + 1
    if isinstance(window, Seen):
        hop = 1 if window.hop is None else length(window.hop)
        first -= (0 if window.reach.far is None else length(window.reach.far)) + hop
        last += (0 if window.reach.near is None else -length(window.reach.near)) + hop
    for edge, side in ((first, Times.between(-FAR, first)), (last, Times.between(last, FAR))):
        if when & side:
            yield select(window, stream, whole, edge), when & side
    for at in (when & Times.between(first + 1, last - 1)).points():
        yield select(window, stream, whole, at), Times.at(at)
