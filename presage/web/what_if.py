"""What would be said if some facts came now: the run up to now, once as it was and once with them, and how the two
differ. The run on the page is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from presage.answers import Answer, json_value
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.model.printer import show_number
from presage.model.terms import Number, Variable
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from presage.web.board import name_of
from presage.web.details import ground

MOST_FACTS = 50_000
"""A run of more is not gone through while somebody waits."""
MOST_SUPPOSED = 100
OPEN = ("possible", "unsupported")


def what_would_be(
    make: Callable[[], Reasoner], facts: Sequence[Fact], texts: Sequence[str], now: Number
) -> list[Answer]:
    """The answers that would stand otherwise, as they would. `make` gives a reasoner that has not begun."""
    arrived = [fact for fact in facts if fact.arrival <= now]
    if len(arrived) > MOST_FACTS:
        raise PresageError(f"{len(arrived):,} facts have arrived: more than {MOST_FACTS:,} are not run again here")
    reasoner = make()
    if not texts:
        raise PresageError(f"give facts, one a line{_such_as(reasoner, now)}")
    if len(texts) > MOST_SUPPOSED:
        raise PresageError(f"{len(texts)} facts: give {MOST_SUPPOSED} at most")
    given = [_fact(reasoner, text, now) for text in texts]
    with_them = _stands(reasoner, [*arrived, *given], now)
    without = _stands(make(), arrived, now)
    changed = [answer for key, answer in with_them.items() if key not in without or _differ(answer, without[key])]
    # What they rule out from the beginning is never told as possible beside them.
    gone = [answer for key, answer in without.items() if key not in with_them and _is_open(answer)]
    return changed + [_refuted(answer, now) for answer in gone]


def _fact(reasoner: Reasoner, text: str, now: Number) -> Fact:
    """A fact in canonical text, as if it came now."""
    found = ground(text)
    if found is None or not found[0]:
        raise PresageError(f"{text[:200]}: not a fact with a time, alone on its line{_such_as(reasoner, now)}")
    predicate, arguments, time = found[1]
    entry: dict[str, Any] = {"pred": predicate, "args": [json_value(each) for each in arguments]}
    fact = reasoner.checker.fact({**entry, "time": json_value(time), "arrives": json_value(now)}, text[:200])
    if reasoner.checker.is_late(fact, now):
        raise PresageError(f"{text[:200]}: at {show_number(now)} it is too late for it")
    return fact


def _such_as(reasoner: Reasoner, now: Number) -> str:
    """A fact that the program takes, for those who want to see how one is written."""
    inputs = [each for each in reasoner.subject.predicates.values() if each.is_input]
    if not inputs:
        return ""
    columns = [column.name for column in inputs[0].columns] or ["a"] * inputs[0].arity
    arguments = f"({', '.join(columns)})" if columns else ""
    return f", such as {inputs[0].name}{arguments}@{show_number(now)}"


def _stands(reasoner: Reasoner, facts: list[Fact], now: Number) -> dict[str, Answer]:
    return {name_of(answer): answer for step in steps(reasoner, facts, now) for answer in step}


def _is_open(answer: Answer) -> bool:
    """Whether it may still come true; what has variables says nothing that could be refuted as a whole."""
    return answer.status in OPEN and not any(isinstance(each, Variable) for each in answer.arguments)


def _refuted(answer: Answer, now: Number) -> Answer:
    nothing: dict[str, Any] = dict.fromkeys(("because", "needs", "unless", "ways"), ())
    return replace(answer, now=now, status="refuted", decided_by=None, confidence=None, **nothing)


def _differ(one: Answer, other: Answer) -> bool:
    return _says(one) != _says(other)


def _says(answer: Answer) -> dict[str, Any]:
    return {name: value for name, value in answer.to_json().items() if name != "now"}
