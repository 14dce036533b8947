"""What open variables must not be, in the language's own spelling."""

from __future__ import annotations

from collections.abc import Sequence

from presage.hypothesis.literals import Open, show_value
from presage.hypothesis.patterns import Condition, Time
from presage.hypothesis.records import Matcher
from presage.model.printer import show_term
from presage.model.terms import Arithmetic, Constant, Negative, Number, Term, Variable
from presage.model.values import Value

OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def show_exclusion(exclusion: Sequence[tuple[int, object]], names: Sequence[str]) -> str:
    parts = []
    for slot, value in exclusion:
        other = getattr(value, "slot", None)
        parts.append(f"{names[slot]} = {names[other] if other is not None else show_value(value)}")  # type: ignore[arg-type]
    return ", ".join(parts)


def show_condition(
    condition: Condition, matcher: Matcher, slots: Sequence[Value | None], times: Sequence[Number | None]
) -> str:
    """The opposite of a condition that is still open, with what is known put in."""
    operator = OPPOSITES[condition.operator] if condition.wanted else condition.operator

    def shown(term: Term) -> Term:
        match term:
            case Variable(name=name):
                place = matcher.pattern.terms.get(name)
                if isinstance(place, Time):
                    at = matcher.time(place, times)
                    if at is not None:
                        return Constant(at)
                    base = Variable(matcher.pattern.time_names[place.base])
                    return Arithmetic("+", base, Constant(place.offset)) if place.offset else base
                if place is None:
                    return term
                value = slots[place]
                if value is None or isinstance(value, Open):
                    return Variable(matcher.pattern.names[place] if value is None else value.name)
                return Constant(value)
            case Negative(term=inner):
                return Negative(shown(inner))
            case Arithmetic(operator=sign, left=left, right=right):
                return Arithmetic(sign, shown(left), shown(right))
            case _:
                return term

    return f"{show_term(shown(condition.left))} {operator} {show_term(shown(condition.right))}"
