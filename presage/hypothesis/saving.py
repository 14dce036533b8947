"""The memory of hypothetical answers as plain JSON values, and back.

What is kept is what everything else follows from: the facts that can still matter, what was decided
below negations, and what was told. Records, deadlines and who watches whom are made anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import floor
from typing import Any

from presage.hypothesis.engine import AnswerChange, AnswerState, Hypotheses
from presage.hypothesis.judge import Asker
from presage.hypothesis.ways import Way
from presage.model.terms import Number, Value, number
from presage.patterns.literals import Lit, Open
from presage.sealed import need

MOST_TIMES = 1 << 24
"""Times in sight of a saved engine at most: who looked at more would still be at it."""


def written(value: Any) -> Any:
    """Texts and whole numbers as they are, other numbers as fractions, open variables by name."""
    if isinstance(value, Fraction):
        return {"n": value.numerator, "d": value.denominator}
    if isinstance(value, Open):
        return {"open": value.name, "offset": written(value.offset)}
    return value


def read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "open" in value:
        return Open(value["open"], read(value["offset"]))
    return number(Fraction(value["n"], value["d"]))


def _lit(lit: Lit) -> list[Any]:
    return [lit.positive, lit.predicate, [written(each) for each in lit.arguments], written(lit.time)]


def _read_lit(saved: list[Any]) -> Lit:
    return Lit(saved[0], saved[1], tuple(read(each) for each in saved[2]), read(saved[3]))


def _state(state: AnswerState) -> list[Any]:
    ways = [
        [[_lit(each) for each in way.needs], [_lit(each) for each in way.because], list(way.unless)]
        for way in state.ways
    ]
    return [state.status, ways]


def _read_state(saved: list[Any]) -> AnswerState:
    status, ways = saved
    return AnswerState(
        status,
        tuple(
            Way(frozenset(map(_read_lit, needs)), frozenset(map(_read_lit, because)), tuple(unless))
            for needs, because, unless in ways
        ),
    )


def save(engine: Hypotheses) -> dict[str, Any]:
    return {
        "now": written(engine.now),
        "static": [
            [name, [written(each) for each in row]] for name, rows in engine.statics.given.items() for row in rows
        ],
        "facts": [
            [name, [written(each) for each in row], written(time)]
            for name, by_time in engine.facts.items()
            for time, rows in by_time.items()
            for row in sorted(rows, key=repr)
        ],
        "decided": [
            [name, [written(each) for each in row], written(time), true]
            for name, standing in engine.standings.items()
            for time, rows in standing.decided.items()
            for row, true in rows.items()
        ],
        "told": [
            [name, kind, [written(each) for each in row], written(time), _state(state)]
            for name, shown in engine.shown.items()
            for kind, table in (("ground", shown.ground), ("open", shown.open))
            for time, rows in table.items()
            for row, state in rows.items()
        ],
        "reached": {name: written(time) for name, time in engine.reached.items()},
    }


def load(engine: Hypotheses, saved: dict[str, Any]) -> None:
    """Puts a saved memory into a new engine of the same program."""
    for name, row in saved["static"]:
        if tuple(map(read, row)) not in engine.statics.given.get(name, ()):
            engine.statics.add(name, tuple(map(read, row)))
    facts = [(name, tuple(map(read, row)), read(time)) for name, row, time in saved["facts"]]
    now = read(saved["now"])
    if now is not None:
        engine.remember(facts, now)
    for name, row, time, true in saved["decided"]:
        engine.standings[name].decide(read(time), tuple(map(read, row)), true)
    for name, kind, row, time, state in saved["told"]:
        shown = engine.shown[name]
        table: Any = shown.ground if kind == "ground" else shown.open
        arguments, at = tuple(map(read, row)), read(time)
        table.setdefault(at, {})[arguments] = _read_state(state)
        engine.dirty[Asker(name, at, arguments if kind == "ground" else None, True)] = None
    engine.reached = {name: read(time) for name, time in saved["reached"].items()}
    for name, last in engine.reached.items():
        if name not in engine.queries:
            continue
        lead, kept = engine.leads.get(name), engine.spans.kept(name)
        need(now is not None and lead is not None and last <= now + lead, "it looked farther ahead than it can")
        first = 0 if kept is None or now is None else max(0, floor(now - kept))
        need(floor(last) - first < MOST_TIMES, "it looked at more times than anybody can")
        for time in range(first, floor(last) + 1):
            engine.dirty[Asker(name, time, None, True)] = None


def take_over(
    engine: Hypotheses,
    now: Number | None,
    facts: Iterable[tuple[str, tuple[Value, ...], Number]],
    told: Iterable[AnswerChange],
) -> None:
    """Puts in a memory of ground answers, each with what was told of it, and the facts they rest on."""
    if now is None:
        return
    engine.remember(facts, now)
    for change in told:
        arguments, time = change.answer
        engine.shown[change.query].ground.setdefault(time, {})[arguments] = change.state  # type: ignore[index, arg-type]
        engine.dirty[Asker(change.query, time, arguments, True)] = None  # type: ignore[arg-type]
    engine.reached[""] = 0
