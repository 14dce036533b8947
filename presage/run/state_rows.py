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
from presage.engine.relation import Ints, Symbols32
from presage.kernels import going_on
from presage.model.statements import Query
from presage.run.confirmed_rows import ConfirmedRows, Entailed, confirmed_answer
from presage.time.cells import Grid

HOLDS_ON = np.iinfo(np.int64).max
"""In place of the last time of what goes on."""


@dataclass(frozen=True, slots=True)
class GoingOn:
    """The stretches of a query that are not over: tuples, and rows as the kernel has them."""

    rows: Symbols32
    kept: Ints

    @staticmethod
    def nothing(query: Query) -> GoingOn:
        empty = np.zeros((0, going_on.ROW_FIELDS), np.int64)
        return GoingOn(np.zeros((0, len(query.atom.arguments)), np.int32), empty)


@dataclass(frozen=True, slots=True)
class KnownPieces:
    """Pieces of what holds, and when each became known."""

    query: Query
    rows: Symbols32
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
    columns = [rows[:, place] for place in range(rows.shape[1])]
    order = np.lexsort((given[:, going_on.FIRST], given[:, going_on.KNOWN], *columns))
    rows, given = rows[order], given[order]
    apart = np.zeros(len(rows), bool)
    for place in range(rows.shape[1]):
        apart[1:] |= rows[1:, place] != rows[:-1, place]
    given[:, going_on.ABOUT] = np.cumsum(apart)
    lines = np.empty((3 * len(rows), going_on.LINE_FIELDS), np.int64)
    kept = np.empty((len(rows), going_on.ROW_FIELDS), np.int64)
    told, going = going_on.follow(given, lag, until, lines, kept)
    lines, kept = lines[:told], kept[:going].copy()
    last = np.where(lines[:, going_on.OVER] == 1, lines[:, going_on.LINE_LAST], HOLDS_ON)
    tuples = rows[lines[:, going_on.LINE_OF]]
    now = lines[:, going_on.NOW]
    entailed = Entailed(pieces.query, tuples, lines[:, going_on.LINE_FIRST], last, np.zeros(told, np.int32))
    return GoingOn(rows[kept[:, going_on.ABOUT]], kept), entailed, now


class StateRows(ConfirmedRows):
    """Lines about stretches: those that go on have no last time."""

    @staticmethod
    def of(parts: Sequence[tuple[Entailed, Ints]], names: Any, grid: Grid) -> StateRows:
        """Lines of several queries, each told at a time of its own."""
        steps, which = np.unique(np.concatenate([now for _, now in parts]), return_inverse=True)
        begin, told = 0, []
        for part, now in parts:
            step = which.reshape(-1)[begin : begin + len(now)].astype(np.int32)
            told.append(Entailed(part.query, part.rows, part.low, part.high, step))
            begin += len(now)
        return StateRows(told, steps.tolist(), names, grid)

    def _made(self, name: str, arguments: Any, bindings: Any, low: int, high: int, now: Any) -> Answer:
        if high == HOLDS_ON:
            start = self.grid.time(low)
            return Answer(now, "holds", name, arguments, bindings, start=start, end=None, bounds="[)")
        return confirmed_answer(name, arguments, bindings, self.grid, low, high, now)

    def _order_of(self, answer: Answer) -> tuple[str, ...]:
        return answer.key, answer.status
