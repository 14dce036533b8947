"""The memory of answer streams as plain JSON values, and back: facts, sets of times, ground rules, parts.

Values that many rules share are written at each of them: a memory holds what is open, which is little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from presage.answer_streams.expressions import AllParts, Candidate, Expression, GroundLiteral, SomePart, TruthValue
from presage.answer_streams.grounding import GroundRule
from presage.answer_streams.parts import OpenPart, OpenState
from presage.answer_streams.streams import Table
from presage.answer_streams.values import Arguments, Ground, Invented, ValueOrInvented
from presage.io.facts import Fact
from presage.model.terms import Number, number
from presage.time.points import Times

PartsMemory = tuple[bool, list[OpenPart], dict[Candidate, list[GroundRule]]]


def value(given: ValueOrInvented | Number | None) -> Any:
    if isinstance(given, Fraction):
        return {"n": given.numerator, "d": given.denominator}
    if isinstance(given, Invented):
        return {"rule": given.rule, "variable": given.variable, "of": arguments(given.frontier)}
    return given


def read_value(given: Any) -> Any:
    if isinstance(given, dict):
        if "rule" in given:
            return Invented(_int(given["rule"]), _text(given["variable"]), read_arguments(given["of"]))
        return number(Fraction(given["n"], given["d"]))
    if given is not None and (isinstance(given, bool) or not isinstance(given, (str, int))):
        raise ValueError(f"{given!r} is no value")
    return given


def arguments(given: Arguments) -> list[Any]:
    return [value(each) for each in given]


def read_arguments(given: Any) -> Arguments:
    found = tuple(read_value(each) for each in given)
    if None in found:
        raise ValueError("an argument without a value")
    return found


def fact(given: Fact) -> list[Any]:
    times = [value(each) for each in (given.low, given.high, given.arrives)]
    return [given.predicate, arguments(given.arguments), times, given.closed_low, given.closed_high]


def read_fact(given: Any) -> Fact:
    name, row, times, closed_low, closed_high = given
    low, high, arrives = map(_time, times)
    return Fact(_text(name), read_arguments(row), low, high, bool(closed_low), bool(closed_high), arrives)  # type: ignore[arg-type]


def times(given: Times) -> list[list[int]]:
    return [list(span) for span in given.spans]


def read_times(given: Any) -> Times:
    return Times.of((_int(low), _int(high)) for low, high in given)


def candidate(given: Candidate) -> list[Any]:
    (name, row), time = given
    return [name, arguments(row), time]


def read_candidate(given: Any) -> Candidate:
    name, row, time = given
    return (_text(name), read_arguments(row)), _int(time)


def candidates(given: Iterable[Candidate]) -> list[Any]:
    return [candidate(each) for each in given]


def read_candidates(given: Any) -> set[Candidate]:
    return {read_candidate(each) for each in given}


def table(given: Table) -> list[Any]:
    return [[name, [[arguments(row), times(held)] for row, held in rows.items()]] for name, rows in given.items()]


def read_table(given: Any) -> Table:
    return {_text(name): {read_arguments(row): read_times(held) for row, held in rows} for name, rows in given}


def expression(given: Expression) -> list[Any]:
    match given:
        case TruthValue():
            return ["truth", given.value]
        case GroundLiteral():
            return ["fact" if given.positive else "not", candidate(given.candidate)]
        case AllParts():
            return ["all", [expression(each) for each in given.parts]]
        case SomePart():
            return ["some", [expression(each) for each in given.parts]]


def read_expression(given: Any) -> Expression:
    kind, inner = given
    if kind in ("all", "some"):
        parts = tuple(read_expression(each) for each in inner)
        return AllParts(parts) if kind == "all" else SomePart(parts)
    if kind in ("fact", "not"):
        return GroundLiteral(read_candidate(inner), kind == "fact")
    if kind != "truth":
        raise ValueError(f"{kind!r} is no expression")
    return TruthValue(bool(inner))


def ground_rule(given: GroundRule) -> list[Any]:
    return [[candidates(each) for each in given.alternatives], expression(given.body)]


def read_ground_rule(given: Any) -> GroundRule:
    alternatives, body = given
    return GroundRule(tuple(frozenset(read_candidates(each)) for each in alternatives), read_expression(body))


def _pending(given: Mapping[Ground, Times]) -> list[Any]:
    return [[name, arguments(row), times(held)] for (name, row), held in given.items()]


def _state(given: OpenState) -> list[Any]:
    return [candidates(given.true), _pending(given.pending)]


def _read_state(given: Any) -> OpenState:
    true, pending = given
    return OpenState(
        frozenset(read_candidates(true)),
        {(_text(name), read_arguments(row)): read_times(held) for name, row, held in pending},
    )


def _part(given: OpenPart) -> dict[str, Any]:
    return {
        "choices": [[_state(each) for each in states] for states in given.choices],
        "rules": [ground_rule(each) for each in given.rules],
        "known": candidates(given.known),
        "said": candidates(given.said),
        "due": given.due,
    }


def _read_part(given: Any) -> OpenPart:
    return OpenPart(
        [tuple(map(_read_state, states)) for states in given["choices"]],
        [read_ground_rule(each) for each in given["rules"]],
        read_candidates(given["known"]),
        read_candidates(given["said"]),
        _int(given["due"]),
    )


def parts(given: PartsMemory) -> list[Any]:
    inconsistent, found, aside = given
    waiting = [[candidate(each), [ground_rule(rule) for rule in rules]] for each, rules in aside.items()]
    return [inconsistent, [_part(each) for each in found], waiting]


def read_parts(given: Any) -> PartsMemory:
    inconsistent, found, aside = given
    waiting = {read_candidate(each): [read_ground_rule(rule) for rule in rules] for each, rules in aside}
    return bool(inconsistent), [_read_part(each) for each in found], waiting


def whole(given: Any) -> int | None:
    """A time of the discrete timeline, or none."""
    return None if given is None else _int(given)


def _time(given: Any) -> Number | None:
    found = read_value(given)
    if found is not None and not isinstance(found, (int, Fraction)):
        raise ValueError(f"{given!r} is no time")
    return found


def _int(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise ValueError(f"{given!r} is no whole number")
    return given


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError(f"{given!r} is no text")
    return given
