"""What goes on, told by the column: the stretches of confirmed answers over many steps at once.

It tells what `states.States` tells step by step. While nobody asks for single stretches they stay arrays; `States`
takes them over where steps are taken one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from presage.answers import Answer
from presage.kernels import going_on, numbering
from presage.kernels.arrays import Ints, Ints32
from presage.kernels.hashing import EMPTY
from presage.model.statements import Query
from presage.run.confirmed_rows import ConfirmedRows, Entailed, confirmed_answer
from presage.time.cells import Grid

HOLDS_ON = np.iinfo(np.int64).max
"""In place of the last time of what goes on."""


@dataclass(frozen=True, slots=True)
class GoingOn:
    """The stretches of a query that are not over: tuples, and rows as the kernel has them."""

    rows: Ints32
    kept: Ints

    @staticmethod
    def nothing(query: Query) -> GoingOn:
        empty = np.zeros((0, going_on.ROW_FIELDS), np.int64)
        return GoingOn(np.zeros((0, len(query.atom.arguments)), np.int32), empty)


@dataclass(frozen=True, slots=True)
class KnownPieces:
    """Pieces of what holds, and when each became known."""

    query: Query
    rows: Ints32
    low: Ints
    high: Ints
    known: Ints


def followed(before: GoingOn, pieces: KnownPieces, lag: int, until: int) -> tuple[GoingOn, Entailed, Ints]:
    """What goes on after some pieces, up to a time; and the lines about them, with when they are told."""
    rows = np.concatenate([before.rows, pieces.rows])
    given = np.zeros((len(rows), going_on.ROW_FIELDS), np.int64)
    given[: len(before.rows)] = before.kept
    new = given[len(before.rows) :]
    new[:, going_on.KNOWN], new[:, going_on.FIRST], new[:, going_on.LAST] = pieces.known, pieces.low, pieces.high
    order, about = _together(rows, given[:, going_on.KNOWN], given[:, going_on.FIRST])
    rows, given = rows[order], given[order]
    given[:, going_on.ABOUT] = about
    lines = np.empty((3 * len(rows), going_on.LINE_FIELDS), np.int64)
    kept = np.empty((len(rows), going_on.ROW_FIELDS), np.int64)
    told, going = going_on.follow(given, lag, until, lines, kept)
    lines, kept = lines[:told], kept[:going].copy()
    last = np.where(lines[:, going_on.OVER] == 1, lines[:, going_on.LINE_LAST], HOLDS_ON)
    tuples = rows[lines[:, going_on.LINE_OF]]
    now = lines[:, going_on.NOW]
    entailed = Entailed(pieces.query, tuples, lines[:, going_on.LINE_FIRST], last, np.zeros(told, np.int32))
    return GoingOn(rows[kept[:, going_on.ABOUT]], kept), entailed, now


def whole(pieces: KnownPieces, lines: Entailed, times: Ints) -> tuple[Entailed, Ints]:
    """Lines with when they are told, and those about pieces that are over and touch no others, of answers that need not
    be settled."""
    after = pieces.high + 1
    # Each is over with a line of its own, which is its only one where it became known no sooner.
    lasted = np.flatnonzero(pieces.known < after)
    rows = np.concatenate([lines.rows, pieces.rows[lasted], pieces.rows])
    low = np.concatenate([lines.low, pieces.low[lasted], pieces.low])
    high = np.concatenate([lines.high, np.full(len(lasted), HOLDS_ON), pieces.high])
    now = np.concatenate([times, pieces.known[lasted], np.maximum(pieces.known, after)])
    return Entailed(pieces.query, rows, low, high, np.zeros(len(now), np.int32)), now


def _together(rows: Ints32, known: Ints, first: Ints) -> tuple[Ints, Ints]:
    """An order in which rows of one tuple come together, by when they are known and then by their first times; and a
    number for each tuple. Sorting by the columns takes longer than all the rest."""
    size = len(rows)
    if not size or not rows.shape[1]:
        return np.lexsort((first, known)), np.zeros(size, np.int64)
    slots = np.full(1 << (2 * size).bit_length(), EMPTY, np.int32)
    keys, tuples = np.empty((size + 1, rows.shape[1]), np.int32), np.empty(size, np.int32)
    count = numbering.enter(slots, keys, 0, np.ascontiguousarray(rows), tuples)
    order = numbering.together(tuples, count)
    about, known, first = tuples[order], known[order], first[order]
    in_order = (known[1:] > known[:-1]) | ((known[1:] == known[:-1]) & (first[1:] >= first[:-1]))
    if not (in_order | (about[1:] != about[:-1])).all():
        again = np.lexsort((first, known, about))
        order, about = order[again], about[again]
    return order, about.astype(np.int64)


class StateRows(ConfirmedRows):
    """Lines about stretches: those that go on have no last time."""

    @staticmethod
    def of(parts: Sequence[tuple[Entailed, Ints]], names: Any, grid: Grid) -> StateRows:
        """Lines of several queries, each told at a time of its own."""
        times = np.concatenate([now for _, now in parts])
        first = int(times.min())
        steps, which = numbering.distinct(times - first)
        begin, told = 0, []
        for part, now in parts:
            step = which[begin : begin + len(now)].astype(np.int32)
            told.append(Entailed(part.query, part.rows, part.low, part.high, step))
            begin += len(now)
        return StateRows(told, (steps + first).tolist(), names, grid)

    def _made(self, name: str, arguments: Any, bindings: Any, low: int, high: int, now: Any) -> Answer:
        if high == HOLDS_ON:
            start = self.grid.time(low)
            return Answer(now, "holds", name, arguments, bindings, start=start, end=None, bounds="[)")
        return confirmed_answer(name, arguments, bindings, self.grid, low, high, now)

    def _order_of(self, answer: Answer) -> tuple[str, ...]:
        return answer.key, answer.status
