"""Which instances of a rule exist: those whose pinned times lie in the stream, looked at after it began."""

from __future__ import annotations

from collections.abc import Iterator

from presage.analysis.timeless import uses_now
from presage.hypothesis.clause import RULE_TIME, Body, When
from presage.model.formulas import And, Formula, Implies, Metric, Modal, Not, Or, Pinned, Reset, Windowed


def alternative_pins(formula: Formula, among: bool = False) -> Iterator[Pinned]:
    """Pins in alternatives: where one lies before the start, the rule has no instance, whichever is chosen."""
    match formula:
        case Pinned(formula=inner, pin=pin):
            if among and pin.base is not None:
                yield formula
            yield from alternative_pins(inner, among)
        case Or(parts=parts):
            for part in parts:
                yield from alternative_pins(part, True)
        case Implies(left=left, right=right):
            for part in (left, right):
                yield from alternative_pins(part, True)
        case And(parts=parts):
            for part in parts:
                yield from alternative_pins(part, among)
        case Not(formula=inner):
            # Of what is negated, one part is enough.
            yield from alternative_pins(inner, among or isinstance(inner, And))
        case Metric(formula=inner) | Modal(formula=inner) | Windowed(formula=inner) | Reset(formula=inner):
            yield from alternative_pins(inner, True)
        case _:
            return


def may_begin_early(head: When, body: Body, static: frozenset[str]) -> bool:
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
