"""Which instances of a rule exist: those whose pinned times lie in the stream, looked at after it began."""

from __future__ import annotations

from presage.core.formulas import uses_now
from presage.core.rules import CoreRule
from presage.model.terms import Variable
from presage.patterns.clause import RULE_TIME, START, ClauseBody, TimeDistance, When


def named_times(rule: CoreRule) -> list[When]:
    """The times that a rule names, other than fixed ones: where one lies before the start, it has no instance."""
    found = (
        When(pin.base.name if isinstance(pin.base, Variable) else RULE_TIME, pin.offset)
        for pin in rule.pins
        if pin.base is not None
    )
    return list(dict.fromkeys(found))


def existing(times: list[When], head: When, body: ClauseBody) -> ClauseBody:
    """A body with what makes the instance one that exists, as far as its literals and its head do not say so."""
    said = {head, *(each.when for each in body.literals if each.outside == "false")}
    return body + ClauseBody(reaches=tuple(TimeDistance(when, START, 0, None) for when in times if when not in said))


def may_begin_early(head: When, body: ClauseBody, static: frozenset[str]) -> bool:
    """Whether nothing yet says that a rule is looked at after the start: its head lies elsewhere, and no fact of the
    stream is asked for at its own time or before."""
    times = [
        head,
        *(each.when for each in body.literals),
        *(side for each in body.reaches for side in (each.x, each.y)),
    ]
    compared = any(uses_now(comparison) for comparison, _ in body.comparisons)
    if not compared and all(when.base != RULE_TIME for when in times):
        return False
    if head.base == RULE_TIME and head.offset <= 0:
        return False
    return not any(
        each.positive and each.outside == "false" and each.when.base == RULE_TIME and each.when.offset <= 0
        for each in body.literals
        if each.atom.predicate not in static
    )
