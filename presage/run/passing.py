"""A reasoner takes passages of time: what is late is left out, and the engine that is at work takes the steps.

Where it cannot, as it stands, the same steps are taken one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from presage.answers import NONE, Answers
from presage.answers.schema import answers_table
from presage.io.facts import Fact
from presage.io.tables import Columns, pyarrow
from presage.model.terms import Number
from presage.run.confirmed_rows import ConfirmedRows
from presage.run.passages import Passage, PassageEngine, StepColumns
from presage.run.stratified import StratifiedEngine
from presage.time.cells import Grid


def takes_passages(engine: StratifiedEngine) -> bool:
    """Whether compiled code can take the steps of this engine, as it stands."""
    if engine._beside:
        return False
    confirming = None if engine._behind else engine._confirming
    if engine.supposing is None:
        return confirming is not None and confirming.takes_passages
    supposing = engine.supposing
    if engine._only_confirmed or not isinstance(supposing, PassageEngine) or not supposing.takes_passages:
        return False
    return confirming is None or confirming.may_follow


def through(engine: StratifiedEngine, passage: Passage, end: Number | None = None) -> Answers | None:
    """The answers of the steps of a passage; of a run that ends, what is said of intervals up to its `end`. Nothing,
    and nothing has changed, where one step after the other must be taken."""
    if not takes_passages(engine) or not isinstance(passage.until, int) or not are_countable(engine, passage):
        return None
    kept = in_time(engine, passage)
    if isinstance(engine.supposing, PassageEngine):
        found = engine.supposing.through(kept)
        if not engine._behind and engine._confirming is not None:
            engine._confirming.follow(kept)
    else:
        assert engine._confirming is not None
        found = engine._confirming.through(kept, end, as_they_are=True)
    engine.now = passage.until
    return found


def in_time(engine: StratifiedEngine, passage: Passage) -> Passage:
    """A passage without the facts that are late, which are told so."""
    late: list[tuple[int, Fact]] = []
    kept = Passage(passage.steps, [_in_time(engine, passage, each, late) for each in passage.parts], passage.until)
    late.sort(key=lambda each: each[0])
    engine.late.extend(fact for _, fact in late)
    return kept


def of_last_step(found: Answers) -> Answers:
    """What the last step of a passage told; what is by columns otherwise is asked of its engine."""
    return found.columns.of_last_step() if isinstance(found.columns, StepColumns) else found


def are_countable(engine: StratifiedEngine, passage: Passage) -> bool:
    """Whether all times are such as the engine counts; and then reckons with them. Otherwise the step that is not says
    so."""
    grid = Grid(engine.subject.discrete) if engine._confirming is None else engine._confirming.engine.grid
    times = [int(columns.times.max()) for columns, _ in passage.parts if len(columns)]
    farthest = max([engine.farthest, passage.until, *times])
    if not grid.holds(farthest):
        return False
    engine.farthest = farthest
    return True


def _in_time(
    engine: StratifiedEngine, passage: Passage, part: tuple[Columns, Any], late: list[tuple[int, Fact]]
) -> tuple[Columns, Any]:
    """The facts of a part that are not late; those that are go to the list, with their steps."""
    columns, begins = part
    now = passage.now(begins)
    too_late = columns.late(engine.subject.predicates[columns.predicate], now)
    if too_late is None:
        return part
    late.extend(zip(now[too_late].tolist(), columns.chosen(too_late).arriving(now[too_late]), strict=True))
    return columns.chosen(~too_late), np.concatenate([[0], np.cumsum(~too_late)])[begins]


class JoinedColumns:
    """The answers of several steps, one after the other, by columns."""

    def __init__(self, parts: Sequence[Answers], whole_times: bool) -> None:
        self.parts, self.whole_times = parts, whole_times

    def tables(self) -> list[Any]:
        return [self.table()]

    def table(self) -> Any:
        found = [part.with_times(self.whole_times).table for part in self.parts]
        if not found:
            return answers_table([], self.whole_times)
        return pyarrow().concat_tables(found, promote_options="default")

    def json_lines(self, moments: Any) -> Any:
        return None


def joined(parts: Sequence[Answers], whole_times: bool) -> Answers:
    """The answers of several steps as one."""
    told = [part for part in parts if len(part)]
    if len(told) <= 1:
        return (told[0] if told else NONE).with_times(whole_times)
    groups: list[list[Answers]] = []
    for each in told:
        before, own = groups[-1][0].columns if groups else None, each.columns
        if isinstance(before, ConfirmedRows) and isinstance(own, ConfirmedRows) and own.goes_with(before):
            groups[-1].append(each)
        else:
            groups.append([each])
    told = [_together(group, whole_times) for group in groups]
    if len(told) == 1:
        return told[0]
    columns = JoinedColumns(told, whole_times)
    return Answers(sum(map(len, told)), lambda: list(chain.from_iterable(told)), columns, (), whole_times)


def _together(parts: Sequence[Answers], whole_times: bool) -> Answers:
    """Confirmed answers of steps whose constants have the same numbers, as if they had been told at once."""
    if len(parts) == 1:
        return parts[0].with_times(whole_times)
    rows = ConfirmedRows.together([part.columns for part in parts if isinstance(part.columns, ConfirmedRows)])
    return Answers(len(rows), rows.answers, rows, (), whole_times)
