"""PostgreSQL beside a pipeline in one process: a table asked for new rows, and one that answers are written to.

New rows are those whose increasing column is beyond the last that was seen. A transaction that takes an early number
and commits late is overtaken, and its rows are not seen: such tables need a column that is written at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from presage.errors import PresageError
from presage.pipeline.postgres import Unfit, rows_beyond, told, upsert
from presage.pipeline.reading import Part
from presage.receivers.delivering import Refused, TakenNever
from presage.receivers.told_lines import ToldLine
from presage.serve.sources import Bringing

ROWS_AT_ONCE = 5_000
LONGEST_PAUSE = 10.0


class PolledTable:
    """A table or a query, asked every so often."""

    catches_up = True

    def __init__(self, bringing: Bringing, seconds: float, once: bool) -> None:
        self.bringing, self.seconds, self.once = bringing, seconds, once

    def run(self, position: Any, stop: threading.Event) -> bool:
        last, part, pause = position, self.bringing.part, self.seconds
        aligned = self.bringing.alignment
        while not stop.is_set():
            aligned.await_turn(part.name, stop)
            aligned.asks(part.name)
            try:
                names, rows = rows_beyond(part, last, ROWS_AT_ONCE)
                pause = self.seconds
            except PresageError:
                if last is None and position is None and pause == self.seconds:
                    raise  # It has never worked: that is a mistake, and not a database that is away.
                pause = min(LONGEST_PAUSE, 2 * pause)
                stop.wait(pause)
                continue
            if rows:
                place = names.index(part.text("increasing"))
                last = _position(rows[-1][place])
                named = [(dict(zip(names, row, strict=True)), f"row {_position(row[place])}") for row in rows]
                self.bringing.more = len(rows) == ROWS_AT_ONCE
                self.bringing.rows(named, last)
            if len(rows) < ROWS_AT_ONCE:
                self.bringing.over()
                if self.once:
                    return True
                stop.wait(self.seconds)
        return False


def _position(value: Any) -> Any:
    """A value of the column, as JSON and SQL take it."""
    return value.isoformat() if isinstance(value, (date, datetime)) else value if isinstance(value, int) else str(value)


class AnswerTable:
    """A table with a row for each answer. The transaction that writes lines also says how far it is."""

    linger = 0.02

    def __init__(self, part: Part, run: str, whole_times: bool) -> None:
        self.part, self.run, self.whole_times = part, run, whole_times

    def told(self) -> int | None:
        return told(self.part, self.run)

    def write(self, lines: Sequence[ToldLine]) -> None:
        try:
            upsert(self.part, [line.fields for line in lines], self.whole_times, (self.run, lines[-1].number))
        except Unfit as found:
            raise TakenNever(str(found).removeprefix(f"[{self.part.place}] ")) from None
        except PresageError as found:
            raise Refused(str(found).removeprefix(f"[{self.part.place}] ")) from None

    def close(self) -> None:
        """Each batch has a connection of its own."""
