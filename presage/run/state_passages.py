"""Passages of time where what goes on is told once.

When a stretch is told to begin and to end hangs on its times, on when it became known, and on how long answers wait to
be settled. Where they do not wait at all, everything that is so at a time is known at that time: the engine then takes
a whole passage as one step, and what each step would have told is read off the stretches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from presage.answers import Answers, shown_name
from presage.engine.many_steps import Additions
from presage.engine.relation import Delta
from presage.kernels import going_on
from presage.kernels.arrays import Ints32
from presage.kernels.fields import FAR
from presage.model.statements import Query
from presage.model.terms import Number
from presage.run.confirmed import Confirming
from presage.run.confirmed_rows import ConfirmedRows, Entailed
from presage.run.passages import Passage
from presage.run.passing import are_countable, in_time
from presage.run.state_rows import GoingOn, KnownPieces, StateRows, followed, whole
from presage.run.states import States
from presage.run.stratified import StratifiedEngine
from presage.time.stretches import Stretch

if TYPE_CHECKING:
    from presage.run.reasoner import Reasoner


def takes_states(engine: StratifiedEngine) -> bool:
    """Whether a passage need not be taken one step after the other, as the engine stands."""
    confirming = engine._confirming
    if confirming is None or engine.supposing is not None or engine._beside or not engine.subject.discrete:
        return False
    queries = engine.subject.queries
    names = {query.atom.predicate for query in queries}
    if len(names) < len(queries) or not all(isinstance(engine.lag(name), int) for name in names):
        return False
    if any(confirming.plan.sources[name].kind not in ("input", "derived") for name in names):
        return False  # what holds before the stream, too
    return not confirming.engine.inventor.is_needed and (_is_known_at_once(engine) or confirming.takes_passages)


def _is_known_at_once(engine: StratifiedEngine) -> bool:
    """Whether everything that is so at a time is known at that time."""
    assert engine._confirming is not None
    lags = (engine.lag(query.atom.predicate) for query in engine.subject.queries)
    return not any(lags) and not engine._confirming.engine.counting


def states_through(reasoner: Reasoner, passage: Passage) -> Answers | None:
    """The lines of the steps of a passage. Nothing, and nothing has changed, where one step after the other must be
    taken."""
    engine, states = reasoner.engine, reasoner._states
    if states is None or not isinstance(engine, StratifiedEngine) or not isinstance(passage.until, int):
        return None
    if not takes_states(engine) or not are_countable(engine, passage):
        return None
    confirming = engine._confirming
    assert confirming is not None
    queries, inner = engine.subject.queries, confirming.engine
    lags = {query: engine.lag(query.atom.predicate) for query in queries}
    at_once = _is_known_at_once(engine)
    pack(states, confirming)
    assert states.packed is not None
    kept = in_time(engine, passage)
    parts = _at_once(confirming, kept) if at_once else _step_by_step(confirming, kept)
    told = []
    for query in queries:
        before = states.packed.get(query) or GoingOn.nothing(query)
        apart, pieces = parts.get(query.atom.predicate, (None, None))
        pieces = pieces or _none_of(before, query)
        states.packed[query], lines, now = followed(before, pieces, int(lags[query]), passage.until)
        if apart:
            lines, now = whole(apart, lines, now)
        if len(lines):
            told.append((lines, now))
    engine.now = passage.until
    if not told:
        return Answers(0, list)
    values = inner.symbols.values
    rows = StateRows.of(told, lambda: confirming.names_of(values), inner.grid)
    return Answers(len(rows), rows.answers, rows)


def told_at(found: Answers, now: object) -> Answers:
    """What was told at the last time of a passage."""
    rows = found.columns
    return rows.of_last_step() if isinstance(rows, StateRows) and rows.steps[-1] == now else Answers(0, list)


def _none_of(before: GoingOn, query: Query) -> KnownPieces:
    nothing = np.zeros(0, np.int64)
    return KnownPieces(query, before.rows[:0], nothing, nothing, nothing)


NewPieces = tuple[KnownPieces | None, KnownPieces | None]
"""What is new of a query: pieces that are over and lie apart from all others, and the rest."""


def _at_once(confirming: Confirming, passage: Passage) -> dict[str, NewPieces]:
    """All that is new by the end of a passage, known at its times."""
    tables = [columns for columns, _ in passage.parts if len(columns)]
    # Before the first step nothing is told, whatever it is about.
    begin = int(passage.steps[0]) if confirming.engine.now is None and len(passage.steps) else 0
    new = confirming.step([], passage.until, tables)
    found = {}
    for query in confirming.subject.queries:
        delta = new.get(query.atom.predicate)
        if delta is not None:
            parts = delta.between(0, delta.apart), delta.between(delta.apart, len(delta))
            apart, rest = (_pieces(confirming, query, part, begin) for part in parts)
            found[query.atom.predicate] = apart, rest
    return found


def _pieces(confirming: Confirming, query: Query, delta: Delta, begin: int) -> KnownPieces | None:
    if not len(delta):
        return None
    part = confirming.asked(query, Additions(np.zeros(len(delta), np.int32), delta), None)
    if part is None:
        return None
    return KnownPieces(query, part.rows, part.low, part.high, np.maximum(part.low, begin))


def _step_by_step(confirming: Confirming, passage: Passage) -> dict[str, NewPieces]:
    """What is new at each step, known then."""
    told = confirming.through(passage, None).columns
    found: dict[str, NewPieces] = {}
    if isinstance(told, ConfirmedRows):
        steps = np.array(told.steps, np.int64)
        for part in told.parts:
            pieces = KnownPieces(part.query, part.rows, part.low, part.high, steps[part.step])
            found[part.query.atom.predicate] = None, pieces
    return found


# -- stretches as arrays, and as they are followed one by one ------------------------------------------------------


def pack(states: States, confirming: Confirming) -> None:
    """What goes on as arrays."""
    if states.packed is not None:
        return
    engine = confirming.engine
    found = {}
    for query in confirming.subject.queries:
        name = shown_name(query.atom.predicate)
        own = [each for (predicate, _), each in states.followed.items() if predicate == name]
        rows: list[Ints32] = []
        kept = []
        for each in own:
            row = engine.symbols.number_all(each.like.arguments)  # type: ignore[arg-type]
            for one in each.stretches:
                times = states.line.interval(Stretch(one.first, one.last))
                first, last = int(times.low), FAR if times.high is None else int(times.high)
                # When it became known counts no more, if not that it was before all that comes.
                kept.append([0, -1, first, last, int(one.told)])
                rows.append(row)
        if rows:
            found[query] = GoingOn(np.array(rows, np.int32), np.array(kept, np.int64))
    states.followed.clear()
    states.packed = found
    states.unpacking = lambda packed: _unpacked(states, packed, confirming)
    states.ending = lambda packed, now: _ended(packed, int(now), confirming)
    engine.symbols.held = lambda: [each.rows.ravel() for each in (states.packed or {}).values()]


def _unpacked(states: States, packed: dict[Query, GoingOn], confirming: Confirming) -> None:
    engine = confirming.engine
    for query, lasting in packed.items():
        kept = lasting.kept
        places = np.arange(len(kept), dtype=np.int32)
        part = Entailed(query, lasting.rows, kept[:, going_on.FIRST], kept[:, going_on.LAST], places)
        names = confirming.names_of(engine.symbols.values)
        steps: list[Number] = list(range(len(kept)))
        for answer in ConfirmedRows([part], steps, lambda names=names: names, engine.grid).answers():  # type: ignore[misc]
            states.go_on(answer, bool(kept[int(answer.now), going_on.TOLD]))


def _ended(packed: dict[Query, GoingOn], now: int, confirming: Confirming) -> Answers:
    """What goes on, as far as a run went that has ended now."""
    told = []
    for query, lasting in packed.items():
        begun = lasting.kept[:, going_on.FIRST] <= now
        kept = lasting.kept[begun]
        if len(kept):
            last = np.minimum(kept[:, going_on.LAST], now)
            step = np.zeros(len(kept), np.int32)
            part = Entailed(query, lasting.rows[begun], kept[:, going_on.FIRST], last, step)
            told.append((part, np.full(len(kept), now)))
    if not told:
        return Answers(0, list)
    engine = confirming.engine
    values = engine.symbols.values
    rows = StateRows.of(told, lambda: confirming.names_of(values), engine.grid)
    return Answers(len(rows), rows.answers, rows)
