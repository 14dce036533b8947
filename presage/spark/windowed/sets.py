"""What the groups of a shard are worth along time, worked out of all their tuples at once.

Tuples in the order of their group and time enter and leave in that order. So how many there are at a time is how many
have entered less how many have left, and a sum is a difference of sums. The least, the greatest, the first and the last
of windows that hop are looked for in each window. Numbers are whole, and what is made of them is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from presage.kernels.arrays import Ints
from presage.model.terms import number
from presage.plan.windowed_set import BY_WINDOW, WindowedSet
from presage.spark.windowed.packing import ShardTuples

MOST = 1 << 62
"""What is less can be added in 64 bits."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Numbers: as they are, or as places among some that are no such integers."""

    numbers: Ints
    values: list[Any] | None = None

    def at(self, rows: Any) -> Worth:
        return Worth(self.numbers[rows], self.values)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Groups and their worth, from when to when."""

    group: Ints
    worth: list[Worth]
    low: Ints
    high: Ints

    def at(self, rows: Any) -> Stretches:
        return Stretches(self.group[rows], [each.at(rows) for each in self.worth], self.low[rows], self.high[rows])

    def __len__(self) -> int:
        return len(self.group)


def stretches(tuples: ShardTuples, about: WindowedSet, end: int) -> Stretches:
    """What all groups are worth up to a time, in the order of groups and times. What is the same goes on."""
    group, time, *rest = distinct_rows([tuples.group, tuples.time, *tuples.rest])
    value = rest[0] if rest else time
    enters, leaves, shown = _at_times(time, about, end)
    if shown is not None:
        group, time, value = group[shown], time[shown], value[shown]
        enters, leaves = enters[shown], leaves[shown]
    if not BY_WINDOW.isdisjoint(about.functions):
        found = _by_window(group, time, value, enters, leaves, about, end)
    else:
        found = _along_time(group, value, enters, leaves, about)
    return joined(found)


def _at_times(time: Ints, about: WindowedSet, end: int) -> tuple[Ints, Ints, Any]:
    """For tuples of these times, from when on a window shows each, and from when on no longer; and which are shown, if
    not all are."""
    first, last = int(time.min(initial=0)), int(time.max(initial=0))
    are_few = last - first < len(time)
    times = np.arange(first, last + 1) if are_few else time
    enters, leaves = times + about.near, times + about.far
    if about.hop is not None:
        enters, leaves = -(-enters // about.hop) * about.hop, leaves // about.hop * about.hop + about.hop - 1
    shown = (enters <= leaves) & (enters <= end)
    leaves = np.minimum(leaves, end) + 1
    if not are_few:
        return enters, leaves, None if shown.all() else shown
    places = time - first
    return enters[places], leaves[places], None if shown.all() else shown[places]


def distinct_rows(columns: list[Ints]) -> list[Ints]:
    """Rows in their order, each once."""
    if not len(columns[0]):
        return columns
    least = [int(each.min()) for each in columns]
    bits = [(int(each.max()) - low).bit_length() for each, low in zip(columns, least, strict=True)]
    if sum(bits) > 62:
        order = np.lexsort(columns[::-1])
        columns = [each[order] for each in columns]
        new = np.ones(len(order), bool)
        new[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in columns])
        return columns if new.all() else [each[new] for each in columns]
    # Rows as single numbers are put in order many times as fast.
    rows = columns[0].astype(np.int64)
    rows -= least[0]
    for each, low, size in zip(columns[1:], least[1:], bits[1:], strict=True):
        rows <<= size
        rows += each
        rows -= low
    rows.sort()
    same = rows[1:] == rows[:-1]
    if same.any():
        rows = rows[np.append(True, ~same)]
    found = []
    for low, size in zip(least[:0:-1], bits[:0:-1], strict=True):
        found.append((rows & ((1 << size) - 1)) + low)
        rows >>= size
    return [rows + least[0], *found[::-1]]


def _along_time(group: Ints, value: Ints, enters: Ints, leaves: Ints, about: WindowedSet) -> Stretches:
    """From one time at which something enters or leaves to the next. All leave, at the end if not before."""
    cells = None
    if int(leaves.max(initial=0)).bit_length() + int(group.max(initial=0)).bit_length() > 62:
        cells, places = np.unique(np.concatenate([enters, leaves]), return_inverse=True)
        enters, leaves = np.split(places, 2)
    size = int(leaves.max(initial=0)).bit_length()
    entering, leaving = group << size | enters, group << size | leaves
    (enter_turns, entered), (leave_turns, left) = _counted(entering), _counted(leaving)
    turns, _ = _counted(np.sort(np.concatenate([enter_turns, leave_turns])))
    # Those of other groups have left as often as they have entered.
    entered = entered[np.searchsorted(enter_turns, turns, "right")]
    left = left[np.searchsorted(leave_turns, turns, "right")]
    count = entered - left
    some = np.flatnonzero(count)
    if about.least is not None:
        some = some[count[some] >= about.least]
    at = turns & ((1 << size) - 1)
    at = at if cells is None else cells[at]
    # In no group is there anything after the last turn.
    group, low, high, count = turns[some] >> size, at[some], at[some + 1] - 1, count[some]
    total = None
    if about.adds:
        total = _between(value, entered[some], left[some])
    return Stretches(group, [_worth(each, count, total) for each in about.functions], low, high)


def _counted(ordered: Ints) -> tuple[Ints, Ints]:
    """Each once, and how many there are before each, and in all."""
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    return ordered[first], np.append(first, len(ordered))


def _between(value: Ints, entered: Ints, left: Ints) -> Any:
    """The sums of what has entered and not left."""
    sums = np.zeros(len(value) + 1, np.int64 if _fits(value) else object)
    np.cumsum(value.astype(sums.dtype), out=sums[1:])
    return sums[entered] - sums[left]


def _fits(value: Ints) -> bool:
    return not len(value) or max(abs(int(value.max())), abs(int(value.min()))) * len(value) < MOST


def _worth(function: str, count: Ints, total: Any) -> Worth:
    if function == "count":
        return Worth(count)
    if function == "sum":
        return Worth(total) if total.dtype != object else _numbered(total.tolist())
    if total.dtype != object:
        pairs, places = np.unique(np.stack([total, count]), axis=1, return_inverse=True)
        # Different sums of different sizes may have one mean.
        means = _numbered([number(Fraction(*pair)) for pair in pairs.T.tolist()])
        return Worth(means.numbers[places.reshape(-1)], means.values)
    return _numbered([number(Fraction(*pair)) for pair in zip(total.tolist(), count.tolist(), strict=True)])


def _numbered(values: list[Any]) -> Worth:
    places: dict[Any, int] = {}
    numbers = [places.setdefault(each, len(places)) for each in values]
    return Worth(np.array(numbers, np.int64), list(places))


def _by_window(
    group: Ints, time: Ints, value: Ints, enters: Ints, leaves: Ints, about: WindowedSet, end: int
) -> Stretches:
    """Each window by itself."""
    assert about.hop is not None
    windows = -(-(leaves - enters) // about.hop)
    rows = np.repeat(np.arange(len(group)), windows)
    first = np.repeat(enters, windows) + about.hop * (
        np.arange(len(rows)) - np.repeat(np.cumsum(windows) - windows, windows)
    )
    kept = first <= end
    rows, first = rows[kept], first[kept]
    rows, first = _in_order(group, rows, first, about.hop)
    group, time, value = group[rows], time[rows], value[rows]
    if not len(rows):
        return Stretches(group, [Worth(value) for _ in about.functions], first, first)
    begins = np.flatnonzero(np.append(True, (group[1:] != group[:-1]) | (first[1:] != first[:-1])))
    ends = np.append(begins[1:], len(rows))
    count = ends - begins
    total = _between(value, ends, begins)
    # Of what comes last at once the least comes first.
    last_times = np.flatnonzero(
        np.append(True, (group[1:] != group[:-1]) | (first[1:] != first[:-1]) | (time[1:] != time[:-1]))
    )
    worth = []
    for function in about.functions:
        if function in ("min", "max"):
            best = (np.minimum if function == "min" else np.maximum).reduceat(value, begins)
            worth.append(Worth(best))
        elif function == "first":
            worth.append(Worth(value[begins]))
        elif function == "last":
            worth.append(Worth(value[last_times[np.searchsorted(last_times, ends, "left") - 1]]))
        else:
            worth.append(_worth(function, count, total))
    low = first[begins]
    return Stretches(group[begins], worth, low, np.minimum(low + about.hop - 1, end))


def _in_order(group: Ints, rows: Ints, first: Ints, hop: int) -> tuple[Ints, Ints]:
    """Rows by group and window, and as they come."""
    if not len(rows):
        return rows, first
    window = (first - first.min()) // hop
    size, more = int(window.max()).bit_length(), len(group).bit_length()
    if int(group.max()).bit_length() + size + more > 62:
        order = np.lexsort((rows, first, group[rows]))
        return rows[order], first[order]
    placed = (group[rows] << size | window) << more | rows
    placed.sort()
    return placed & ((1 << more) - 1), (placed >> more & ((1 << size) - 1)) * hop + first.min()


def joined(found: Stretches) -> Stretches:
    """Stretches in order, those that touch and are worth the same made one."""
    if not len(found):
        return found
    begins = np.ones(len(found), bool)
    begins[1:] = (found.group[1:] != found.group[:-1]) | (found.low[1:] != found.high[:-1] + 1)
    for each in found.worth:
        begins[1:] |= each.numbers[1:] != each.numbers[:-1]
    if begins.all():
        return found
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(found)) - 1
    return Stretches(found.group[first], [each.at(first) for each in found.worth], found.low[first], found.high[last])
