"""What open variables must not be or satisfy: as comparisons, and in the language's own spelling.

A clause is a tuple of comparisons that must not all be true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from presage.hypothesis.records import Matcher
from presage.model.formulas import MIRRORED, OPPOSITES, Comparison
from presage.model.printer import show_term
from presage.model.terms import Arithmetic, Constant, Number, Term, Value, Variable, map_term, term_variables
from presage.model.values import value_of
from presage.patterns.literals import Open
from presage.patterns.premises import PatternCondition, Time

Comparisons = tuple[Comparison, ...]


def show_clause(clause: Comparisons) -> str:
    return ", ".join(f"{show_term(each.left)} {each.operator} {show_term(each.right)}" for each in clause)


def without_the_obvious(clause: Comparisons) -> Comparisons | None:
    """A clause without what is true of whatever a variable stands for; `None` if it is never true."""
    if any(each.left == each.right and each.operator in ("!=", "<", ">") for each in clause):
        return None
    return tuple(each for each in clause if each.left != each.right)


def exclusion_clause(exclusion: Sequence[tuple[int, object]], names: Sequence[str]) -> Comparisons:
    found = []
    for slot, value in exclusion:
        other = getattr(value, "slot", None)
        term: Term
        if isinstance(value, Open):
            term = Variable(value.name)
        else:
            term = Constant(value) if other is None else Variable(names[other])  # type: ignore[arg-type]
        found.append(Comparison("=", Variable(names[slot]), term))
    return tuple(found)


def condition_clause(
    condition: PatternCondition, matcher: Matcher, slots: Sequence[Value | None], times: Sequence[Number | None]
) -> Comparisons:
    """The opposite of a condition that is still open, with what is known put in."""

    def shown(term: Term) -> Term:
        place = matcher.pattern.terms.get(term.name) if isinstance(term, Variable) else None
        if place is None:
            return term
        if isinstance(place, Time):
            at = matcher.time(place, times)
            if at is not None:
                return Constant(at)
            base = Variable(matcher.pattern.time_names[place.base])
            return Arithmetic("+", base, Constant(place.offset)) if place.offset else base
        value = slots[place]
        if value is None or isinstance(value, Open):
            return Variable(matcher.pattern.names[place] if value is None else value.name)
        return Constant(value)

    return opposite(condition, shown)


def opposite(condition: PatternCondition, shown: Callable[[Term], Term]) -> Comparisons:
    """The opposite of a condition, its terms passed through `shown`; what is open stands on the left, as people write
    it."""
    operator = OPPOSITES[condition.operator] if condition.wanted else condition.operator
    left, right = (_worked_out(map_term(term, shown)) for term in (condition.left, condition.right))
    if isinstance(left, Constant) and not isinstance(right, Constant):
        return (Comparison(MIRRORED[operator], right, left),)
    return (Comparison(operator, left, right),)


def range_clauses(matcher: Matcher, times: Sequence[Number | None]) -> Iterator[Comparisons]:
    """What times that are still open must not be: before what bounds them, unless that is the start of the stream,
    after it, or too far from one another."""
    pattern = matcher.pattern
    if not matcher.discrete:
        return
    still_open = [index for index, at in enumerate(times) if at is None]
    ranges = {index: pattern.bounds(index, times) for index in still_open}
    for index, (low, high) in ranges.items():
        offsets = [
            each.offset for each in (pattern.when, *(lit.when for lit in pattern.literals)) if each.base == index
        ]
        name = Variable(pattern.time_names[index])
        if low is not None and low > -min(offsets, default=0):
            yield (Comparison("<", name, Constant(low)),)
        if high is not None:
            yield (Comparison(">", name, Constant(high)),)
    for (x, y), most in pattern.upper.items():
        if x in ranges and y in ranges:
            high, low = ranges[x][1], ranges[y][0]
            if high is None or low is None or high - low > most:
                other: Term = Variable(pattern.time_names[y])
                if most:
                    other = Arithmetic("+" if most > 0 else "-", other, Constant(most if most > 0 else -most))
                yield (Comparison(">", Variable(pattern.time_names[x]), other),)


def _worked_out(term: Term) -> Term:
    """A term without variables as its value."""
    if isinstance(term, Constant) or any(True for _ in term_variables(term)):
        return term
    value = value_of(term, lambda name: None)
    return term if value is None else Constant(value)
