"""Taking over what is known and told of individuals: from the engine over zones, or from what was saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from presage.hypothesis.courses.entering import enter
from presage.hypothesis.courses.splitting import hears, split
from presage.hypothesis.courses.superfluous import forget_superfluous
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.told import Told
from presage.model.terms import Number, Value

if TYPE_CHECKING:
    from presage.hypothesis.courses.engine import Courses, GivenStretch


def adopt(courses: Courses, now: Number | None, facts: Iterable[GivenStretch], told: dict[Any, Told]) -> None:
    """Takes what was known and told of individuals, at the time of the last step."""
    courses.now = now
    if now is None:
        return
    known: dict[tuple[Value, ...], tuple[list[GivenStretch], dict[Any, Told]]] = {}
    for fact in facts:
        known.setdefault(courses.key_of(fact[0], fact[1]), ([], {}))[0].append(fact)
    for (name, row), each in told.items():
        known.setdefault(courses.key_of(name, row), ([], {}))[1][name, row] = each
    courses.direct.now = courses.direct.since = now
    for key, (own, said) in known.items():
        row = int(courses.newcomers.rows_of(courses.symbols.number_all(list(key)).reshape(1, -1))[0])
        parts = None if courses.people.is_direct[row] else _entered(courses, now, key, own, said)
        if parts is None:
            courses.people.is_direct[row] = True
            courses.direct.take_over(own, said)
            continue
        first, *answers = parts
        _fill(courses, row, first, now)
        for entered in answers:
            focus = entered[0].focus
            at = entered[1][focus.at.slot] + focus.at.offset
            courses.refine_to([at])
            asked = courses.automaton.asked.index(focus.asked)
            _fill(courses, courses.people.begin(row, courses.in_parts(at), asked), entered, now)


def _entered(
    courses: Courses, now: Number, key: Any, facts: list[GivenStretch], told: dict[Any, Told]
) -> list[Any] | None:
    """An individual, and the answers that go on by themselves, as they are entered; `None` if it is too much."""
    known = courses.grouping.constants, courses.kinds.too_great
    is_split = courses.tracer.splits and any(each.at for each in told.values())
    if not is_split and len(facts) < 2:
        whole = enter(key, facts, told, *known)
        return None if whole is None else [whole]
    engine = courses.tracer.make(None)
    engine.restore(now, now, facts, told)
    for each in told:
        outcome, engine.looked_at[each] = engine.outcome(each)
        engine.ways[each] = outcome.ways
    answers = []
    if is_split:
        answers = [
            enter(key, list(own.memory.everything()), own.told, *known, (asked[0], at, hears(own, asked)))
            for asked, at, own in split(engine, lambda: courses.tracer.make(None), now).answers
        ]
    forget_superfluous(engine, now)
    found = [enter(key, list(engine.memory.everything()), engine.told, *known), *answers]
    return None if any(each is None for each in found) else found


def _fill(courses: Courses, row: int, entered: Any, now: Number) -> None:
    shape, times, values = entered
    people = courses.people
    courses.refine_to(times)
    people.widen(len(times), len(values))
    people.shapes[row] = courses.automaton.number(shape)
    people.times[row, : len(times)] = [courses.in_parts(each) for each in times]
    numbers = courses.symbols.number_all(values) if values else np.zeros(0, np.int32)
    people.values[row, : len(values)] = numbers
    people.numbers[row, : len(values)] = courses.kinds.numbers_of(numbers.reshape(-1, 1)).ravel()
    if people.shapes[row]:
        people.wakes[row] = courses.in_parts(now) + 1  # to find out when something changes by time alone
        people.wait_too(row)


def give_away(
    engine: Ranges, is_theirs: Callable[[str, Sequence[Any]], bool]
) -> tuple[list[GivenStretch], dict[Any, Told]]:
    """Forgets what the engine over zones knows of some, and says what it was."""
    engine.judging.begin()
    rows = [(name, row) for name, known in engine.memory.facts.items() for row in known if is_theirs(name, row)]
    facts = [(name, row, times) for name, row in rows for times in engine.memory.drop(name, row)]
    told = {key: known for key, known in engine.told.items() if is_theirs(*key)}
    for key in told:
        del engine.told[key]
        engine.schematic.get(key[0], {}).pop(key[1], None)
        engine.wakes.pop(key, None)
        engine.flowing.pop(key, None)
    return facts, told
