"""What open variables must not be or satisfy: as comparisons, and in the language's own spelling.

A clause is a tuple of comparisons that must not all be true.
"""

from __future__ import annotations

from collections.abc import Sequence

from presage.hypothesis.literals import Open
from presage.hypothesis.patterns import Condition, Time
from presage.hypothesis.records import Matcher
from presage.model.formulas import Comparison
from presage.model.printer import show_term
from presage.model.terms import Arithmetic, Constant, Negative, Number, Term, Variable
from presage.model.values import Value

OPPOSITES = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

Clause = tuple[Comparison, ...]


def show_clause(clause: Clause) -> str:
    return ", ".join(f"{show_term(each.left)} {each.operator} {show_term(each.right)}" for each in clause)


def exclusion_clause(exclusion: Sequence[tuple[int, object]], names: Sequence[str]) -> Clause:
    found = []
    for slot, value in exclusion:
        other = getattr(value, "slot", None)
        term: Term = Constant(value) if other is None else Variable(names[other])  # type: ignore[arg-type]
        found.append(Comparison("=", Variable(names[slot]), term))
    return tuple(found)


def condition_clause(
    condition: Condition, matcher: Matcher, slots: Sequence[Value | None], times: Sequence[Number | None]
) -> Clause:
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

    return (Comparison(operator, shown(condition.left), shown(condition.right)),)
