"""Connected queries: each rule has at most one time variable, and it occurs in the head if it
occurs in the body ([HA], before Proposition 10).

An atom without a pin has the rule's own time, `now`, as its time variable; an operator over an
interval or a window keeps it. `some` and `all` outside every window speak of any time at all,
which is a time variable of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.analysis.differences import NOW
from presage.analysis.subject import Subject
from presage.model.formulas import Atom, Comparison, Formula, Modal, Over, Pinned, Reset, Windowed, children
from presage.model.statements import Rule
from presage.model.terms import Now
from presage.model.windows import TimeWindow

ANY_TIME = "any time"


def _times(formula: Formula, statics: frozenset[str], current: str | None, windowed: bool = False) -> Iterator[str]:
    """The time variables of a formula looked at at `current` (None: a fixed time)."""
    match formula:
        case Atom(predicate=predicate):
            if predicate not in statics and current is not None:
                yield current
        case Pinned(formula=inner, pin=pin):
            base = None if pin.base is None else NOW if isinstance(pin.base, Now) else pin.base.name
            yield from _times(inner, statics, base, windowed)
        case Over():
            return
        case Windowed(window=window, formula=inner):
            # Only a window of time is relative to the time it is looked at.
            yield from _times(inner, statics, current, windowed or isinstance(window, TimeWindow))
        case Reset(formula=inner):
            yield from _times(inner, statics, current, False)
        case Modal(formula=inner):
            yield from _times(inner, statics, current if windowed else ANY_TIME, windowed)
        case Comparison():
            # The local times of an aggregate (`T#1`) are nobody else's.
            for part in children(formula):
                yield from (time for time in _times(part, statics, current, windowed) if "#" not in (time or ""))
        case _:
            for part in children(formula):
                yield from _times(part, statics, current, windowed)


def is_connected_rule(rule: Rule, statics: frozenset[str]) -> bool:
    head = {time for atom in rule.head_atoms for time in _times(atom, statics, NOW)}
    body = {time for literal in rule.body for time in _times(literal, statics, NOW)}
    if rule.is_constraint:
        return len(body) <= 1 and ANY_TIME not in body
    return len(head | body) <= 1 and ANY_TIME not in body and body <= head


def disconnected(subject: Subject) -> list[Rule]:
    """The rules that are not connected."""
    statics = frozenset(name for name, each in subject.predicates.items() if each.is_static)
    return [rule for rule in subject.program.rules if not is_connected_rule(rule, statics)]
