"""A relation in memory: tuples of symbols with the times at which they hold.

Wraps the arrays of `kernels.tables`: grows them, keeps the indexes the plan joins on, and knows which
rows to look at when the past is forgotten. The cost of every operation follows what it touches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from presage.kernels import tables
from presage.kernels.joins import FAR

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Delta:
    """What an insertion added: pieces of rows, each with the coalesced interval it belongs to now."""

    row: Ints
    low: Ints
    high: Ints
    whole_low: Ints
    whole_high: Ints
    earliest: int
    """Where the first piece starts."""

    def __len__(self) -> int:
        return len(self.row)


class Index:
    """Rows grouped by some columns."""

    __slots__ = ("following", "heads", "key", "preceding", "state")

    def __init__(self, key: tuple[int, ...], capacity: int) -> None:
        self.key = np.array(key, np.int64)
        self.heads = np.full(_power(capacity * 2), tables.EMPTY, np.int64)
        self.following = np.full(capacity, -1, np.int64)
        self.preceding = np.full(capacity, -1, np.int64)
        self.state = np.zeros(2, np.int64)


def _power(least: int) -> int:
    return 1 << max(4, (least - 1).bit_length())


class Relation:
    def __init__(self, arity: int) -> None:
        self.arity = arity
        self.width = max(1, arity)
        self.indexes: dict[tuple[int, ...], Index] = {}
        self.bucket = 1
        self.clear()

    def clear(self) -> None:
        """Empties the relation; its indexes stay."""
        capacity = 16
        self.columns = np.zeros((capacity, self.width), np.int64)
        self.first = np.full(capacity, -1, np.int64)
        self.low = np.zeros(capacity, np.int64)
        self.high = np.zeros(capacity, np.int64)
        self.after = np.full(capacity, -1, np.int64)
        self.slots = np.full(_power(capacity * 2), tables.EMPTY, np.int64)
        self.rows_free = np.zeros(capacity, np.int64)
        self.pool_free = np.zeros(capacity, np.int64)
        self.counts = np.zeros(6, np.int64)
        self.indexes = {key: Index(key, capacity) for key in self.indexes}
        # When rows may be forgotten: for a stretch of time, the rows with an interval that ends in it.
        self.expiring: dict[int, list[Ints]] = {}
        # The last cell at which anything has ever held.
        self.latest = -(1 << 62)

    def __len__(self) -> int:
        return int(self.counts[tables.LIVE])

    @property
    def intervals(self) -> int:
        return int(self.counts[tables.POOL] - self.counts[tables.POOL_FREE])

    @property
    def nbytes(self) -> int:
        own = (self.columns, self.first, self.low, self.high, self.after, self.slots, self.rows_free, self.pool_free)
        return sum(array.nbytes for array in own) + sum(
            index.heads.nbytes + index.following.nbytes + index.preceding.nbytes for index in self.indexes.values()
        )

    def add_index(self, key: tuple[int, ...]) -> None:
        if key and key not in self.indexes:
            index = self.indexes[key] = Index(key, len(self.first))
            rows = tables.live_rows(self.first, self.counts)
            tables.index_add(self.columns, index.heads, index.following, index.preceding, index.state, index.key, rows)

    def _make_room(self, more: int) -> None:
        rows = int(self.counts[tables.ROWS]) + more
        if rows > len(self.first):
            capacity = max(rows, 2 * len(self.first))
            self.columns = _grown(self.columns, capacity, 0)
            self.first = _grown(self.first, capacity, -1)
            self.rows_free = _grown(self.rows_free, capacity, 0)
            for index in self.indexes.values():
                index.following = _grown(index.following, capacity, -1)
                index.preceding = _grown(index.preceding, capacity, -1)
        pool = int(self.counts[tables.POOL]) + more
        if pool > len(self.low):
            capacity = max(pool, 2 * len(self.low))
            self.low = _grown(self.low, capacity, 0)
            self.high = _grown(self.high, capacity, 0)
            self.after = _grown(self.after, capacity, -1)
            self.pool_free = _grown(self.pool_free, capacity, 0)
        used = int(self.counts[tables.LIVE] + self.counts[tables.TOMBS]) + more
        if used * 2 > len(self.slots):
            live = int(self.counts[tables.LIVE]) + more
            self.slots = np.full(_power(live * 4), tables.EMPTY, np.int64)
            tables.rehash(self.columns, self.first, self.slots, self.counts, self.width)
        for index in self.indexes.values():
            if (int(index.state.sum()) + more) * 2 > len(index.heads):
                self._rebuild(index, int(index.state[0]) + more)

    def _rebuild(self, index: Index, groups: int) -> None:
        index.heads = np.full(_power(groups * 4), tables.EMPTY, np.int64)
        index.state[:] = 0
        rows = tables.live_rows(self.first, self.counts)
        tables.index_add(self.columns, index.heads, index.following, index.preceding, index.state, index.key, rows)

    def insert(self, rows: Ints, low: Ints, high: Ints) -> Delta:
        """Adds intervals to tuples; gives what is new."""
        self._make_room(len(rows))
        row, piece_low, piece_high, whole_low, whole_high, fresh = tables.insert(
            self.columns, self.first, self.low, self.high, self.after, self.slots,
            self.rows_free, self.pool_free, self.counts, rows, low, high, self.width,
        )  # fmt: skip
        if len(fresh):
            for index in self.indexes.values():
                tables.index_add(
                    self.columns, index.heads, index.following, index.preceding, index.state, index.key, fresh
                )
        earliest = int(piece_low.min()) if len(row) else 0
        delta = Delta(row, piece_low, piece_high, whole_low, whole_high, earliest)
        if not len(row):
            return delta
        self.latest = max(self.latest, int(delta.whole_high.max()))
        self._note_expiry(delta)
        return delta

    def _note_expiry(self, delta: Delta) -> None:
        finite = delta.whole_high < FAR
        if not finite.any():
            return
        buckets = delta.whole_high[finite] // self.bucket
        rows = delta.row[finite]
        least, most = int(buckets.min()), int(buckets.max())
        if least == most:
            self.expiring.setdefault(least, []).append(rows)
            return
        order = np.argsort(buckets, kind="stable")
        ordered, rows = buckets[order], rows[order]
        edges = np.flatnonzero(np.diff(ordered)) + 1
        for part, number in zip(np.split(rows, edges), ordered[np.r_[0, edges]], strict=True):
            self.expiring.setdefault(int(number), []).append(part)

    def forget(self, cutoff: int) -> int:
        """Drops what ended before the cutoff; gives the number of tuples that are gone."""
        due = [number for number in self.expiring if (number + 1) * self.bucket <= cutoff]
        gone = 0
        for number in due:
            candidates = np.concatenate(self.expiring.pop(number))
            emptied = tables.expire(
                self.columns, self.first, self.low, self.high, self.after, self.slots,
                self.rows_free, self.pool_free, self.counts, candidates, cutoff, self.width,
            )  # fmt: skip
            if len(emptied):
                for index in self.indexes.values():
                    tables.index_remove(
                        self.columns, index.heads, index.following, index.preceding, index.state, index.key, emptied
                    )
                tables.release(self.rows_free, self.counts, emptied)
                gone += len(emptied)
        return gone

    def rescale(self, factor: int) -> None:
        """Moves all intervals to a grid that is finer by a factor."""
        self.low = finer(self.low, factor, False)
        self.high = finer(self.high, factor, True)
        self.bucket *= factor
        self.latest = int(finer(np.array([self.latest]), factor, True)[0])

    def rows(self) -> Ints:
        return tables.live_rows(self.first, self.counts)  # type: ignore[no-any-return]

    def contents(self, rows: Ints | None = None) -> tuple[Ints, Ints, Ints]:
        """Tuples with their intervals, one line for each interval."""
        chosen = self.rows() if rows is None else rows
        row, low, high = tables.all_intervals(self.first, self.low, self.high, self.after, chosen)
        return self.columns[row, : self.arity], low, high

    def everything(self) -> Delta:
        """All that is held, as if it had just been added."""
        row, low, high = tables.all_intervals(self.first, self.low, self.high, self.after, self.rows())
        return Delta(row, low, high, low, high, int(low.min()) if len(low) else 0)


def finer(cells: Ints, factor: int, are_ends: bool) -> Ints:
    """Cells of the dense timeline on a finer grid: points stay points, a gap becomes its first or last cell."""
    shift = 1 if are_ends else -1
    moved = np.where(cells % 2 == 0, cells * factor, (cells + shift) * factor - shift)
    return np.where(np.abs(cells) >= FAR, cells, moved)


def _grown(array: Ints, capacity: int, fill: int) -> Ints:
    larger = np.full((capacity, *array.shape[1:]), fill, np.int64)
    larger[: len(array)] = array
    return larger
